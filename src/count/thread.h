/* SPDX-License-Identifier: Apache-2.0
 *
 * thread - threads and children of the program.
 */
#ifndef DWELL_COUNT_THREAD_H
#define DWELL_COUNT_THREAD_H

#include <stdint.h>

struct context;
struct link;

/* clone, clone3, fork and vfork, with the call's registers; the child goes on
 * behind it.
 * Returns what the caller gets, and in a child with memory of its own 0. */
long thread_clone(struct context *c, const struct link *call);

/* The calling thread ends with the call; does not return.  Signals are blocked. */
_Noreturn void thread_end(struct context *c, const struct link *call);

#endif
