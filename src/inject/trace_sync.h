/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_sync - waits of threads for each other, as the wrappers in trace_sync_calls.c see
 * them.
 *
 * Whoever waits says so in a small table by address, so that whoever releases finds out
 * by one load whether it is worth telling who it is.  Addresses that share a place in the
 * table cost a release without anybody who waited for it, no more.
 */
#ifndef DWELL_INJECT_TRACE_SYNC_H
#define DWELL_INJECT_TRACE_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/tracer_sync.h"

#define TRACE_SYNC_BITS 12

/* How many wait, by address. */
extern uint32_t trace_sync_waiting[1 << TRACE_SYNC_BITS];

/* A constant of 32 bits is one instruction less for every release. */
static inline uint32_t *trace_sync_place(uintptr_t address)
{
	return &trace_sync_waiting[(uint32_t)address * UINT32_C(0x9e3779b1) >>
				   (32 - TRACE_SYNC_BITS)];
}

static inline bool trace_sync_is_waited_for(uintptr_t address)
{
	return __atomic_load_n(trace_sync_place(address), __ATOMIC_RELAXED) != 0;
}

struct trace_wait {
	enum wire_tracer_sync what;
	uintptr_t address;	/* 0: of no one thing */
	const uint64_t *frame;	/* of the wrapper */
	const uint64_t *before; /* that the thread was within, or NULL */
	uint64_t since_ns;
	uint64_t stack;	 /* id */
	uint32_t holder; /* the thread that has what is waited for; 0: unknown */
};

/* Around what waits.  False: it is within another wait, or nothing is to be observed;
 * there is no end then. */
bool trace_sync_begin(struct trace_wait *w);
void trace_sync_end(const struct trace_wait *w);
/* Before somebody who waits can go on; the stack ends in the caller of the frame's
 * function. */
void trace_sync_release(uintptr_t address, const uint64_t *frame);
/* Find what the wrappers hide, where that cannot be done from a signal's handler. */
void trace_sync_look_up(void);
/* From now on mutexes of one thread pass (inject/trace_sync_pass), and all where nobody
 * asked for waits.  When the memory is cleared they do not. */
void trace_sync_let_pass(const char **at);
/* In a forked child, where nobody waits. */
void trace_sync_after_fork(void);

#endif
