/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_ledger - the sums of a process' heap: what was taken and given back, and where.
 *
 * A site is where memory is allocated: a stack of a thread, in a section.  How much each
 * had when the process had most is known exactly: the first change behind a peak opens a
 * new era, and a site's own first change in an era tells what it had when that began.
 */
#ifndef DWELL_COLLECT_HEAP_LEDGER_H
#define DWELL_COLLECT_HEAP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/heap_blocks.h"
#include "collect/heap_course.h"
#include "collect/heap_sections.h"

struct heap_site {
	uint32_t stack, thread; /* ids in the recording */
	struct heap_amount taken, live, at_era;
	uint64_t era;
	uint64_t temporary;   /* given back before the process took another */
	uint64_t lifetime_ns; /* of all that was given back */
};

/* [i]: of what is less than 2^i bytes, or 4^i ns, and not less than the one before. */
#define HEAP_LEDGER_SIZES     65
#define HEAP_LEDGER_LIFETIMES 33

/* Blocks given up for another size, so that a failure can bring them back. */
#define HEAP_LEDGER_MOVED 64

struct heap_ledger {
	uint64_t sample_bytes; /* for each block that is told of; 0: all are */
	struct heap_blocks blocks;
	VEC(struct heap_site) sites;
	struct heap_amount taken, given, live, peak;
	uint64_t peak_ns;
	bool is_at_peak;
	uint64_t era;
	struct heap_amount taken_by_size[HEAP_LEDGER_SIZES];
	struct heap_amount live_by_size[HEAP_LEDGER_SIZES];
	struct heap_amount given_by_lifetime[HEAP_LEDGER_LIFETIMES];
	struct heap_course course;
	struct heap_sections sections;
	uint64_t n_unmatched; /* given back, and not known */
	uint64_t n_retaken;   /* taken again at an address that was not given back */
	struct heap_block moved[HEAP_LEDGER_MOVED]; /* in a circle */
	unsigned next_moved;
};

void heap_ledger_fini(struct heap_ledger *l);
/* Returns the site. */
uint32_t heap_ledger_site(struct heap_ledger *l, uint32_t stack, uint32_t thread);

void heap_ledger_take(struct heap_ledger *l, uint64_t time_ns, uint32_t site,
		      uint64_t address, uint64_t size_bytes);
/* False when no block is known there, else *ret is what it was. */
bool heap_ledger_give(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
		      struct heap_block *ret);
/* The same, for another size; and that this failed. */
bool heap_ledger_move(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
		      struct heap_block *ret);
bool heap_ledger_unmove(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
			struct heap_block *ret);

/* For who keeps the blocks elsewhere: one is asked for, one is there, one is not any
 * more. */
void heap_ledger_count(struct heap_ledger *l, uint32_t site, uint64_t size_bytes);
void heap_ledger_bring(struct heap_ledger *l, uint64_t time_ns,
		       const struct heap_block *block);
void heap_ledger_end(struct heap_ledger *l, uint64_t time_ns,
		     const struct heap_block *block);

/* How many blocks; where they are sampled an estimate, as the bytes are. */
uint64_t heap_ledger_count_of(const struct heap_ledger *l, uint64_t blocks);
/* What the site had at the peak. */
struct heap_amount heap_ledger_at_peak(const struct heap_ledger *l, uint32_t site);

#endif
