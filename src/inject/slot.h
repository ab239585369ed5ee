/* SPDX-License-Identifier: Apache-2.0
 *
 * slot - one place for each thread: its timer, its last stack, its scratch memory.
 *
 * Slots are mapped when first needed, reused after the thread has gone, and never
 * unmapped, so a late signal still finds memory.  Signals carry the slot's index, so
 * neither thread-local storage nor a lookup is needed.
 */
#ifndef DWELL_INJECT_SLOT_H
#define DWELL_INJECT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/stack_delta.h"
#include "unwind/local.h"

#define SLOT_MAX 32768

struct slot {
	struct slot *next_free;
	uint32_t index;
	int tid;      /* 0: the thread has not begun yet */
	bool is_used; /* not on the free list */
	bool is_armed;
	int timer; /* when armed */
	/* Its samples stand for its CPU time plus this: what others left behind, less
	 * what was sampled before (inject/account.h). */
	int64_t carried_ns;
	uint64_t n_due;	      /* intervals of that for the next sample */
	uint64_t n_intervals; /* in samples so far */
	uintptr_t thread_pointer;
	uintptr_t stack_lo, stack_hi; /* surely mapped between sp and hi; 0: unknown */
	/* What the thread is to run. */
	void *(*start)(void *);
	void *arg;
	/* Two stacks in turn: the previous sample's and the one being taken. */
	unsigned current;
	bool has_previous;
	struct unwind_local_cache *cache;
	/* Where the signal handler works: the thread's own stack may be small. */
	void *handler_stack; /* its upper end */
	/* Last, on pages that a thread without samples never touches. */
	struct stack_delta_frames frames[2];
	uint8_t encoded[WIRE_SAMPLER_DEPTH_MAX * 10];
};

/* A slot that nobody uses, or NULL.  Not from a signal handler. */
struct slot *slot_new(void);
void slot_free(struct slot *s);
/* Both for use in a signal handler: NULL, or nothing done, when the table is busy. */
struct slot *slot_try_new(void);
/* The slot of an index that a signal brought, or NULL. */
struct slot *slot_at(uint32_t index);
struct slot *slot_of_tid(int tid);
/* The slot of the calling thread, or NULL. */
struct slot *slot_mine(void);

/* Calls back for every slot of a thread that no longer exists, then frees it. */
void slot_reap(void (*leave)(struct slot *s));
/* In a forked child: only the calling thread is left.  keep may be NULL. */
void slot_after_fork(struct slot *keep);

#endif
