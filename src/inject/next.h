/* SPDX-License-Identifier: Apache-2.0
 *
 * next - the definition that a wrapper of ours hides.
 *
 * Looked up by hand: dlsym is missing where libdl is not linked, may allocate, and
 * may itself be wrapped by somebody else.
 */
#ifndef DWELL_INJECT_NEXT_H
#define DWELL_INJECT_NEXT_H

/* The default definition of name in the objects loaded behind this library, in load
 * order, or NULL.  Not from a signal handler. */
void *next_symbol(const char *name);

#endif
