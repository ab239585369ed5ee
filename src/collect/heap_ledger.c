/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_ledger.h"

#include <math.h>

void heap_ledger_fini(struct heap_ledger *l)
{
	heap_blocks_fini(&l->blocks);
	vec_fini(&l->sites);
	heap_sections_fini(&l->sections);
}

uint32_t heap_ledger_site(struct heap_ledger *l, uint32_t stack, uint32_t thread)
{
	*vec_push(&l->sites) =
		(struct heap_site){ .stack = stack, .thread = thread, .era = l->era };
	heap_sections_add_site(&l->sections);
	return (uint32_t)(l->sites.n - 1);
}

/* Of a block that is sampled: they stand for more, but not for a whole number. */
#define PARTS 256

/* What a block stands for: it is sampled with the probability that a Poisson process has
 * a point within it; a block of no bytes counts as one there. */
static struct heap_amount worth(const struct heap_ledger *l, uint64_t size_bytes)
{
	double bytes = (double)size_bytes, p;

	if (!l->sample_bytes)
		return (struct heap_amount){ 1, size_bytes };
	p = -expm1(-(bytes + 1) / (double)l->sample_bytes);
	return (struct heap_amount){ (uint64_t)(PARTS / p + 0.5),
				     (uint64_t)fmin(bytes / p + 0.5, 1e18) };
}

uint64_t heap_ledger_count_of(const struct heap_ledger *l, uint64_t blocks)
{
	return l->sample_bytes ? (blocks + PARTS / 2) / PARTS : blocks;
}

static void add(struct heap_amount *a, struct heap_amount x)
{
	a->blocks += x.blocks;
	a->bytes += x.bytes;
}

static void subtract(struct heap_amount *a, struct heap_amount x)
{
	a->blocks -= x.blocks;
	a->bytes -= x.bytes;
}

/* Bits that a number takes. */
static unsigned width(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static void note_course(struct heap_ledger *l, uint64_t time_ns)
{
	heap_course_add(
		&l->course, time_ns,
		&(struct heap_point){ .bytes = l->live.bytes,
				      .blocks = heap_ledger_count_of(l, l->live.blocks),
				      .allocated_bytes = l->taken.bytes,
				      .allocations =
					      heap_ledger_count_of(l, l->taken.blocks) });
}

/* Before a site changes. */
static struct heap_site *touch(struct heap_ledger *l, uint32_t site)
{
	struct heap_site *s = &l->sites.at[site];

	if (s->era != l->era) {
		s->at_era = s->live;
		s->era = l->era;
	}
	return s;
}

static void leave_peak(struct heap_ledger *l)
{
	l->era += l->is_at_peak;
	l->is_at_peak = false;
}

static void look_at_peak(struct heap_ledger *l, uint64_t time_ns)
{
	if (l->live.bytes < l->peak.bytes ||
	    (l->live.bytes == l->peak.bytes && !l->is_at_peak))
		return;
	l->peak = l->live;
	l->peak_ns = time_ns;
	l->is_at_peak = true;
}

/* A block that is there again or for the first time. */
void heap_ledger_bring(struct heap_ledger *l, uint64_t time_ns,
		       const struct heap_block *block)
{
	struct heap_amount x = worth(l, block->size_bytes);

	add(&touch(l, block->site)->live, x);
	add(&l->live, x);
	add(&l->live_by_size[width(block->size_bytes)], x);
	look_at_peak(l, time_ns);
	note_course(l, time_ns);
}

/* Of those that a block stands for. */
static uint64_t lifetimes(const struct heap_ledger *l, struct heap_amount x,
			  uint64_t lifetime_ns)
{
	return l->sample_bytes
		       ? (uint64_t)fmin((double)lifetime_ns * (double)x.blocks / PARTS,
					1e18)
		       : lifetime_ns;
}

void heap_ledger_end(struct heap_ledger *l, uint64_t time_ns,
		     const struct heap_block *block)
{
	struct heap_amount x = worth(l, block->size_bytes);
	struct heap_site *s;
	uint64_t lifetime_ns = time_ns > block->time_ns ? time_ns - block->time_ns : 0;

	leave_peak(l);
	s = touch(l, block->site);
	subtract(&s->live, x);
	s->lifetime_ns += lifetimes(l, x, lifetime_ns);
	add(&l->given_by_lifetime[(width(lifetime_ns) + 1) / 2], x);
	/* Of sampled ones the next is not known. */
	s->temporary += !l->sample_bytes && block->nth == (uint32_t)l->taken.blocks;
	subtract(&l->live, x);
	subtract(&l->live_by_size[width(block->size_bytes)], x);
	add(&l->given, x);
	note_course(l, time_ns);
}

/* It is none of the blocks any more. */
static void give(struct heap_ledger *l, uint64_t time_ns, const struct heap_block *block)
{
	heap_sections_give(&l->sections, block->site, worth(l, block->size_bytes));
	heap_ledger_end(l, time_ns, block);
}

/* Nothing else can be where a block is now. */
static void replace(struct heap_ledger *l, uint64_t time_ns,
		    const struct heap_block *block)
{
	struct heap_block old;

	if (heap_blocks_add(&l->blocks, block, &old))
		return;
	l->n_retaken++;
	give(l, time_ns, &old);
}

void heap_ledger_count(struct heap_ledger *l, uint32_t site, uint64_t size_bytes)
{
	struct heap_amount x = worth(l, size_bytes);

	add(&l->sites.at[site].taken, x);
	add(&l->taken, x);
	add(&l->taken_by_size[width(size_bytes)], x);
}

void heap_ledger_take(struct heap_ledger *l, uint64_t time_ns, uint32_t site,
		      uint64_t address, uint64_t size_bytes)
{
	struct heap_block block = { address, size_bytes, time_ns, site, 0 };

	if (!address)
		return;
	heap_ledger_count(l, site, size_bytes);
	block.nth = (uint32_t)l->taken.blocks;
	replace(l, time_ns, &block);
	heap_ledger_bring(l, time_ns, &block);
}

bool heap_ledger_give(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
		      struct heap_block *ret)
{
	if (!heap_blocks_remove(&l->blocks, address, ret)) {
		l->n_unmatched++;
		return false;
	}
	give(l, time_ns, ret);
	return true;
}

bool heap_ledger_move(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
		      struct heap_block *ret)
{
	if (!heap_ledger_give(l, time_ns, address, ret))
		return false;
	l->moved[l->next_moved++ % HEAP_LEDGER_MOVED] = *ret;
	return true;
}

bool heap_ledger_unmove(struct heap_ledger *l, uint64_t time_ns, uint64_t address,
			struct heap_block *ret)
{
	/* The newest first. */
	for (unsigned i = 1; i <= HEAP_LEDGER_MOVED; i++) {
		struct heap_block *block =
			&l->moved[(l->next_moved - i) % HEAP_LEDGER_MOVED];

		if (!block->address || block->address != address)
			continue;
		subtract(&l->given, worth(l, block->size_bytes));
		heap_sections_take_back(&l->sections, block->site,
					worth(l, block->size_bytes));
		replace(l, time_ns, block);
		heap_ledger_bring(l, time_ns, block);
		*ret = *block;
		block->address = 0;
		return true;
	}
	return false;
}

struct heap_amount heap_ledger_at_peak(const struct heap_ledger *l, uint32_t site)
{
	const struct heap_site *s = &l->sites.at[site];

	return l->is_at_peak || s->era != l->era ? s->live : s->at_era;
}
