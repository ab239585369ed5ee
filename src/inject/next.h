/* SPDX-License-Identifier: Apache-2.0
 *
 * next - the definition that a wrapper of ours hides.
 *
 * Looked up by hand: dlsym is missing where libdl is not linked, may allocate, and
 * may itself be wrapped by somebody else.  Where there is _dl_find_object (glibc 2.35)
 * the list of objects is reached without a lock, so a lookup may happen anywhere and
 * can wait until a wrapper is called; elsewhere it takes the dynamic linker's.
 */
#ifndef DWELL_INJECT_NEXT_H
#define DWELL_INJECT_NEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/injected.h"

/* The default definition of name in the objects loaded behind this library, in load
 * order, or NULL. */
void *next_symbol(const char *name);
/* Then look up at start what may be called from a signal handler or a forked child. */
bool next_needs_lock(void);
/* Is this a process that ran already? */
bool next_is_told(void);
/* What there is, of a library that is put into a running process: borrowed. */
void next_told(const struct wire_injected_call *calls, uint64_t n);

#endif
