/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_mask - which signals the program has blocked, and which of them the kernel has.
 *
 * Of three the engine has to hear at any time: a write to code that is translated, a page
 * of counts that has no room, a call that a filter traps.  Those are never blocked for
 * real; that the program has blocked them is kept here.  One that is sent meanwhile waits
 * in the kernel, as it would: from then on it is blocked for real, until the program lets
 * it through.  All others are the kernel's business.
 */
#ifndef DWELL_COUNT_SIGNAL_MASK_H
#define DWELL_COUNT_SIGNAL_MASK_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct signal_info;
struct signal_state;

/* A thread's; of those that are heard. */
struct signal_mask {
	uint64_t blocked; /* by the program */
	uint64_t now;	  /* the same, in a call that has another mask for its time */
	uint64_t real;	  /* those of them that are blocked for real */
	uint64_t delayed; /* blocked, as they came while it was shut */
	bool is_shut;	  /* the engine can hold none now */
};

/* What the program has blocked, from a kernel's mask, and the other way round: the thread
 * has blocked that from now on, with the kernel's mask that is returned. */
uint64_t signal_mask_tell(const struct context *c, uint64_t kernels);
uint64_t signal_mask_take(struct context *c, uint64_t programs);

/* The kernel's while the engine can hold none. */
uint64_t signal_mask_shut(const struct context *c);

/* One that has come, and would not have without the engine. */
bool signal_mask_blocks(const struct context *c, int signal);

/* It waits in the kernel: as long as the program blocks it, or until the engine can hold
 * one again. */
void signal_mask_keep(struct context *c, const struct signal_info *info,
		      struct signal_state *state);
void signal_mask_delay(struct context *c, const struct signal_info *info,
		       struct signal_state *state);

/* The engine can: those that came meanwhile come again. */
void signal_mask_open(struct context *c);

/* Calls of the program.  That for a mask of its own; those that have one for their time,
 * at an address that may be 0; and those by which another program takes the thread over,
 * which then has it for real. */
long signal_mask_set(struct context *c);
void signal_mask_wait(struct context *c, uint64_t mask_at);
void signal_mask_end_wait(struct context *c);
void signal_mask_lend(const struct context *c);
void signal_mask_end_loan(const struct context *c);

#endif
