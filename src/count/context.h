/* SPDX-License-Identifier: Apache-2.0
 *
 * context - a thread's registers while the engine has them, and what goes with them.
 *
 * gs points at it in translated code, which reaches all of it by offsets; what lies
 * CONTEXT_COUNTERS further are the thread's counters.  Also read by assembly.
 */
#ifndef DWELL_COUNT_CONTEXT_H
#define DWELL_COUNT_CONTEXT_H

#define CONTEXT_REGS	  0
#define CONTEXT_RSP	  32
#define CONTEXT_FLAGS	  128
#define CONTEXT_SPILL0	  136
#define CONTEXT_SPILL1	  144
#define CONTEXT_EXIT	  152
#define CONTEXT_ENGINE_SP 160
#define CONTEXT_SELF	  168
#define CONTEXT_RESUME	  176
#define CONTEXT_IS_FREE	  184
#define CONTEXT_IS_HELD	  192
#define CONTEXT_NEST	  200
#define CONTEXT_GS_BASE	  208
#define CONTEXT_LIMITS	  216 /* by depth */

/* Then room for a signal, and the engine's stack for this thread, which ends where the
 * counters begin. */
#define CONTEXT_BYTES	    0x1000
#define CONTEXT_HELD_BYTES  0x5000
#define CONTEXT_STACK_BYTES 0x1b000
#define CONTEXT_STACK	    (CONTEXT_BYTES + CONTEXT_HELD_BYTES)
#define CONTEXT_COUNTERS    (CONTEXT_STACK + CONTEXT_STACK_BYTES)

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

#include "count/link.h"
#include "count/signal_mask.h"
#include "count/signals.h"
#include "count/single_step.h"
#include "wire/count_control.h"
#include "wire/count_file.h"

struct context {
	uint64_t regs[16]; /* by the instruction set's numbers */
	uint64_t flags;
	uint64_t spill[2]; /* registers that translated code needs for itself */
	uint64_t exit;	   /* why it was left: index of a struct link */
	uint64_t engine_sp;
	struct context *self;
	uint64_t resume;  /* where to go on in translated code */
	uint64_t is_free; /* its thread has ended */
	/* COUNT_CONTROL_HELD_*: a signal waits for the engine, and others are blocked;
	 * the thread is to leave it. */
	uint64_t is_held;
	/* In which of the chosen functions it is, nest.h, and by depth where the stack's
	 * pointer was when the one that leads there was entered. */
	uint32_t nest, pad;
	uint64_t gs_base; /* the program's own */
	uint64_t limits[COUNT_FILE_FUNCTIONS_MAX + 1];
	/* The same of what a handler on its own stack has interrupted. */
	struct {
		uint64_t limits[COUNT_FILE_FUNCTIONS_MAX + 1];
		uint64_t stack, stack_end; /* the handler's; 0: there is none */
		uint32_t nest, pad;
	} hidden;
	uint64_t is_borrowed;	 /* its thread is a child that will execute or end */
	const struct link *call; /* the system call that it is in, or NULL */
	struct context *older;	 /* of all that there ever were */
	uint32_t epoch; /* of what the engine knew when it was last in translated code */
	uint32_t is_away; /* it waits for the next epoch: turnover.h */
	uint32_t tid, pad2;
	uint64_t begin_mask;  /* signals that are blocked where the thread begins */
	uint64_t interrupted; /* enum count_control_call: where it begins */
	struct signals signals;
	struct signal_mask mask;
	struct single_step step;
	struct count_control_leave leave;
};

_Static_assert(offsetof(struct context, regs[4]) == CONTEXT_RSP &&
		       offsetof(struct context, flags) == CONTEXT_FLAGS &&
		       offsetof(struct context, spill[1]) == CONTEXT_SPILL1 &&
		       offsetof(struct context, exit) == CONTEXT_EXIT &&
		       offsetof(struct context, engine_sp) == CONTEXT_ENGINE_SP &&
		       offsetof(struct context, self) == CONTEXT_SELF &&
		       offsetof(struct context, resume) == CONTEXT_RESUME &&
		       offsetof(struct context, is_free) == CONTEXT_IS_FREE &&
		       offsetof(struct context, is_held) == CONTEXT_IS_HELD &&
		       offsetof(struct context, nest) == CONTEXT_NEST &&
		       offsetof(struct context, gs_base) == CONTEXT_GS_BASE &&
		       offsetof(struct context, limits) == CONTEXT_LIMITS &&
		       sizeof(struct context) <= CONTEXT_BYTES,
	       "as assembly and translated code have it");

/* One with a stack and a set of counters, new or left by a thread that has ended, whose
 * counts it goes on with; aborts when there is no memory. */
struct context *context_take(void);

/* All that there ever were, by .older. */
struct context *context_newest(void);

/* No thread is with the engine any more. */
void context_free_all(void);

/* In the child of a fork: the others' threads are not there. */
void context_keep_only(struct context *c, const struct count_file_header *before);

static inline struct context *context_own(void)
{
	struct context *c;

	__asm__ volatile("mov %%gs:%c1, %0" : "=r"(c) : "i"(CONTEXT_SELF));
	return c;
}

static inline uint64_t *context_counters(struct context *c)
{
	return (uint64_t *)((char *)c + CONTEXT_COUNTERS);
}

/* The system call that its thread is in, or NULL: the program may end there. */
static inline void context_set_call(struct context *c, const struct link *call)
{
	c->call = call;
	context_counters(c)[COUNT_FILE_CALL] = call ? call->number : 0;
}

#endif
#endif
