/* SPDX-License-Identifier: Apache-2.0
 *
 * region_thread - the regions of a thread, and what was told of them.
 *
 * In memory of its own, made with the thread's first region and reused when the thread is
 * gone, after what it left has been told.
 */
#ifndef DWELL_INJECT_REGION_THREAD_H
#define DWELL_INJECT_REGION_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/region_clock.h"
#include "inject/region_tree.h"
#include "inject/thread_chain.h"
#include "inject/trace_regions.h"
#include "inject/vdso.h"

#define REGION_THREAD_SLICES 146 /* told at once */

struct region_thread {
	struct thread_link link;
	int owner;	 /* tid; 0: nobody, -1: is being reused */
	int tid;	 /* whose regions these are, or were */
	uint32_t serial; /* of the tree, 0: it is over, or not yet made */
	uintptr_t busy;	 /* frame of who works on it, 0: nobody */
	struct region_counter counter;
	/* When something is to be told, by region_thread_wall(). */
	uint64_t due, due_tell, due_idle, due_slice;
	uint64_t n_slice; /* which of a history is due */
	uint64_t n_asked; /* callstacks that were asked for from outside */
	struct region_slice slices[REGION_THREAD_SLICES]; /* of whom it is busy for */
	struct region_tree tree;
};

/* Once in a program image. */
void region_thread_init(void);
/* The calling thread's, and busy for it, until it is left; here: the frame of the caller.
 * NULL: a signal has interrupted what is done to it, or there is no memory. */
struct region_thread *region_thread_enter(uintptr_t here);

static inline void region_thread_leave(struct region_thread *t)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = 0;
}

/* Time, also where something else passes in regions. */
static inline uint64_t region_thread_wall(uint64_t now)
{
	return __builtin_expect(region_clock.kind <= REGION_CLOCK_NS, 1) ? now
									 : vdso_now_ns();
}

/* Tell what is due before what happens now. */
void region_thread_tell_due(struct region_thread *t, uint64_t now, uint64_t wall);

/* By region_clock. */
static inline uint64_t region_thread_now(struct region_thread *t)
{
	uint64_t now = region_clock_now(&t->counter), wall = region_thread_wall(now);

	if (__builtin_expect(
		    wall >= t->due || t->n_asked != trace_regions_control()->n_asked, 0))
		region_thread_tell_due(t, now, wall);
	return now;
}

/* Nothing is active any more: a good moment to tell. */
static inline void region_thread_rest(struct region_thread *t, uint64_t now)
{
	uint64_t wall = region_thread_wall(now);

	if (__builtin_expect(wall < t->due_idle, 1))
		return;
	t->due_tell = wall;
	region_thread_tell_due(t, now, wall);
}

/* In a forked child. */
void region_thread_after_fork(void);
/* Tell of all threads that are there or were.  is_over: the process ends, and what the
 * calling one does later is another tree's. */
void region_thread_tell_all(bool is_over);
/* All of it goes: no thread is about to use it. */
void region_thread_unmap(void);

#endif
