/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_stack - whether what a thread is doing leads through some code: is an address of
 * it on its stack, or on one that a signal's handler has interrupted?
 *
 * Every word counts that looks like one: a stale word says yes as well, and so does what
 * is too much to be looked through.
 */
#ifndef DWELL_COLLECT_INJECT_STACK_H
#define DWELL_COLLECT_INJECT_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/inject_memory.h"

/* sp: of the thread, on x86-64; lo, hi: of the code. */
bool inject_stack_leads(const struct inject_memory *m, uint64_t sp, uint64_t lo,
			uint64_t hi);

/* Where the context lies that a handler on the stack has interrupted (struct ucontext),
 * as it seems. */
typedef void inject_stack_fn(void *ctx, uint64_t at);

/* From the end on, those of stacks that were interrupted with them. */
void inject_stack_each(const struct inject_memory *m, uint64_t sp, inject_stack_fn *fn,
		       void *ctx);

#endif
