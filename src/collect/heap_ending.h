/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_ending - a process that waits at its end, looked through for what still points to
 * its blocks.
 *
 * Zero-initialise, release with heap_ending_fini().
 */
#ifndef DWELL_COLLECT_HEAP_ENDING_H
#define DWELL_COLLECT_HEAP_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/heap_finder.h"
#include "collect/heap_ledger.h"
#include "collect/heap_maps.h"
#include "collect/heap_memory.h"
#include "collect/heap_reach.h"
#include "collect/heap_registers.h"
#include "collect/heap_roots.h"
#include "collect/heap_vtables.h"
#include "collect/timer_image.h"
#include "wire/tracer.h"

/* What is known of it; the numbers are in recordings (docs/format.md, heap-looked). */
enum heap_ending_how {
	HEAP_ENDING_LOOKED = 1,
	HEAP_ENDING_UNTOLD = 2,	    /* it ended in a way that it could not tell before */
	HEAP_ENDING_FORKED = 3,	    /* what it has of its parent is not known */
	HEAP_ENDING_SAMPLED = 4,    /* not all blocks are known */
	HEAP_ENDING_INCOMPLETE = 5, /* the same: some came during a pause, or are lost */
	HEAP_ENDING_UNREADABLE = 6, /* its memory, or it did not wait */
	HEAP_ENDING_VISITED = 7,    /* it ran before, and perhaps goes on */
	HEAP_ENDING_WENT_ON = 8,    /* the recorder was killed before its end */
};

/* What is not reached. */
struct heap_lost {
	struct heap_amount of[HEAP_REACH_REACHED]; /* by enum heap_reach_state */
};

struct heap_ending {
	enum heap_ending_how how; /* 0: nothing is known yet */
	uint64_t token_address, token;
	uint64_t begin_ns;
	uint32_t n_signs, n_turns;
	bool is_busy;	  /* there is more to do */
	bool is_in_order; /* the finder is made: it is looked for what points to blocks */
	pid_t pid;
	struct wire_tracer_heap_end told;
	uint64_t n_changes;	      /* of the table of blocks, until it was looked at */
	const struct heap_maps *maps; /* borrowed */
	struct heap_memory memory;
	struct heap_ranges ours, roots;
	struct heap_vtables tables;
	struct heap_finder finder;
	struct heap_reach reach;
	struct heap_registers registers;
	bool has_registers;	 /* as far as they can be had */
	struct heap_lost *sites; /* or NULL */
	struct heap_lost whole;
};

void heap_ending_fini(struct heap_ending *e);
/* Memory of the tracer's. */
void heap_ending_ours(struct heap_ending *e, const struct wire_tracer_unmap *x);
/* The process waits, until it is told to go on.  Blocks and maps are borrowed: before
 * anything of them is changed that has to be told. */
void heap_ending_begin(struct heap_ending *e, const struct timer_image *m,
		       const struct wire_tracer_heap_end *x,
		       const struct heap_blocks *blocks, const struct heap_maps *maps);
void heap_ending_settle(struct heap_ending *e);
/* Nothing is wanted of it. */
void heap_ending_skip(struct heap_ending *e, const struct timer_image *m,
		      enum heap_ending_how how);
/* A few milliseconds of work; false: there is no more. */
bool heap_ending_go_on(struct heap_ending *e, const struct timer_image *m);
/* Nothing more will come: does what work there is, and sums up what is left now; blocks
 * that came later are reached. */
void heap_ending_finish(struct heap_ending *e, const struct timer_image *m,
			const struct heap_ledger *l);
/* By enum heap_reach_state, of a site, or zeroes. */
const struct heap_amount *heap_ending_lost(const struct heap_ending *e, uint32_t site);

#endif
