/* SPDX-License-Identifier: Apache-2.0
 *
 * jit_files - the maps that run-time compilers write of their code.
 *
 * perf-PID.map in the target's /tmp, and jitdump files, which announce themselves by an
 * executable mapping.  They are opened as soon as they are seen, as they and their
 * process may be gone in the end, and kept in the recording when it closes.
 */
#ifndef DWELL_COLLECT_JIT_FILES_H
#define DWELL_COLLECT_JIT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"

struct jit_files;

struct jit_files *jit_files_new(struct writer *w);
void jit_files_free(struct jit_files *j);

/* Is this mapping's file a jitdump?  Then it is remembered for the process. */
bool jit_files_note_mapping(struct jit_files *j, uint32_t pid, const char *path);
/* Has this process a map of its code (now)? */
bool jit_files_has(struct jit_files *j, uint32_t pid);
/* That image of the recording is the code of the process. */
void jit_files_set_image(struct jit_files *j, uint32_t pid, uint32_t image);
/* exec: what the process compiled before is no longer its code. */
void jit_files_forget(struct jit_files *j, uint32_t pid);
must_use int jit_files_keep(struct jit_files *j, struct err *e);

#endif
