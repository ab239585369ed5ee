/* SPDX-License-Identifier: Apache-2.0
 *
 * own_library - dwell's own code in stacks of the programs that it is loaded into.
 *
 * Frames of it are no part of a program.  Where it runs itself, one that says so stands
 * for all of them, so that what observing costs is not the caller's; where it only leads
 * on to what the program called, there is none.
 */
#ifndef DWELL_COLLECT_OWN_LIBRARY_H
#define DWELL_COLLECT_OWN_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "store/writer.h"

struct image_file;

enum own_library_code {
	OWN_LIBRARY_NONE, /* not ours */
	OWN_LIBRARY_OURS,
	OWN_LIBRARY_VDSO, /* of whoever calls it */
};

/* Of code in the file, by its name where it is a library that we load. */
enum own_library_code own_library_of(const struct image_file *file);
/* The same of code that no file explains: what is put into a running process. */
enum own_library_code own_library_at(uint64_t address);

/* Of whom frame i of a stack is, the innermost first. */
typedef enum own_library_code own_library_whose(void *ctx, size_t i);

/* How many of the n innermost frames are what our code itself does, 0: it is not there
 * that the stack ends. */
size_t own_library_innermost(size_t n, own_library_whose *whose, void *ctx);

/* What stands for its frames; *image is MODEL_NONE before the first use. */
uint32_t own_library_location(struct writer *w, uint32_t *image);

#endif
