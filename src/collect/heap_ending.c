/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_ending.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/heap_registers.h"
#include "host/clock.h"
#include "wire/sampler.h"

/* Others have to be looked after meanwhile. */
#define TURN_NS UINT64_C(4000000)
/* Some gigabytes; a process may have mapped a thousand times as much. */
#define IN_ALL_NS UINT64_C(30000000000)
/* Above the bits of enum wire_sampler_request. */
#define SIGNS_SHIFT 8

void heap_ending_fini(struct heap_ending *e)
{
	heap_memory_fini(&e->memory);
	heap_ranges_fini(&e->ours);
	heap_ranges_fini(&e->roots);
	heap_finder_fini(&e->finder);
	heap_reach_fini(&e->reach);
	free(e->sites);
}

void heap_ending_ours(struct heap_ending *e, const struct wire_tracer_unmap *x)
{
	heap_ranges_add(&e->ours, x->address, x->address + x->size_bytes);
}

static void give_sign(struct heap_ending *e, const struct timer_image *m)
{
	timer_ring_request(m->ring, WIRE_SAMPLER_STAY | ++e->n_signs << SIGNS_SHIFT);
}

void heap_ending_skip(struct heap_ending *e, const struct timer_image *m,
		      enum heap_ending_how how)
{
	e->how = how;
	e->is_busy = false;
	timer_ring_request(m->ring, WIRE_SAMPLER_GO_ON);
}

/* Its pid may be another's as we see it; and it may be gone. */
static bool is_there(struct heap_ending *e)
{
	uint64_t token;

	return heap_memory_read(&e->memory, e->token_address, &token, sizeof(token)) &&
	       token == e->token;
}

static void follow_registers(struct heap_ending *e, pid_t pid, pid_t tid)
{
	own(heap_registers_fini) struct heap_registers r = { 0 };

	heap_registers_read(&r, pid, tid);
	heap_reach_follow(&e->reach, r.words.at, r.words.n);
}

void heap_ending_begin(struct heap_ending *e, const struct timer_image *m,
		       const struct wire_tracer_heap_end *x,
		       const struct heap_blocks *blocks, const struct heap_maps *maps)
{
	struct heap_roots_of of = { .pid = (pid_t)m->pid,
				    .tid = x->tid,
				    .stack_pointer = x->stack_pointer,
				    .is_glibc = x->flags & WIRE_TRACER_IS_GLIBC,
				    .finder = &e->finder,
				    .maps = maps,
				    .ours = &e->ours };

	heap_memory_fini(&e->memory);
	heap_memory_begin(&e->memory, of.pid);
	e->token_address = x->token_address;
	e->token = x->token;
	e->begin_ns = clock_monotonic_ns();
	give_sign(e, m);
	if (e->how || e->is_busy || !is_there(e)) { /* it tells once */
		heap_ending_skip(e, m, HEAP_ENDING_UNREADABLE);
		return;
	}
	heap_finder_begin(&e->finder, blocks);
	give_sign(e, m);
	if (heap_roots_find(&of, heap_memory_read, &e->memory, &e->roots, NULL) < 0) {
		heap_ending_skip(e, m, HEAP_ENDING_UNREADABLE);
		return;
	}
	heap_reach_begin(&e->reach, &e->finder, &e->roots, heap_memory_read_blocks,
			 heap_memory_skip, &e->memory);
	follow_registers(e, of.pid, (pid_t)of.tid);
	e->is_busy = true;
}

bool heap_ending_go_on(struct heap_ending *e, const struct timer_image *m)
{
	uint64_t until_ns = clock_monotonic_ns() + TURN_NS;

	if (!e->is_busy)
		return false;
	if (until_ns - e->begin_ns > IN_ALL_NS) {
		heap_ending_skip(e, m, HEAP_ENDING_UNREADABLE);
		return false;
	}
	give_sign(e, m);
	while (clock_monotonic_ns() < until_ns)
		if (!heap_reach_go_on(&e->reach)) {
			/* Whoever did not wait has not been seen as a whole. */
			heap_ending_skip(e, m,
					 is_there(e) ? HEAP_ENDING_LOOKED
						     : HEAP_ENDING_UNREADABLE);
			return false;
		}
	return true;
}

static enum heap_reach_state state_of(const struct heap_ending *e,
				      const struct heap_block *block)
{
	size_t i = heap_finder_at(&e->finder, block->address);

	if (i == HEAP_FINDER_NONE || e->finder.blocks.at[i].address != block->address ||
	    e->finder.blocks.at[i].time_ns != block->time_ns)
		return HEAP_REACH_REACHED;
	return e->reach.states[i];
}

static void add(struct heap_lost *lost, enum heap_reach_state state, uint64_t bytes)
{
	lost->of[state].blocks++;
	lost->of[state].bytes += bytes;
}

void heap_ending_finish(struct heap_ending *e, const struct timer_image *m,
			const struct heap_ledger *l)
{
	while (heap_ending_go_on(e, m))
		;
	if (!e->how)
		e->how = HEAP_ENDING_UNTOLD;
	if (e->how != HEAP_ENDING_LOOKED)
		return;
	e->sites = xcalloc(l->sites.n + 1, sizeof(*e->sites));
	for (size_t i = 0; i < l->blocks.cap; i++) {
		const struct heap_block *b = &l->blocks.at[i];
		enum heap_reach_state state =
			b->address ? state_of(e, b) : HEAP_REACH_REACHED;

		if (state == HEAP_REACH_REACHED)
			continue;
		add(&e->sites[b->site], state, b->size_bytes);
		add(&e->whole, state, b->size_bytes);
	}
}

const struct heap_amount *heap_ending_lost(const struct heap_ending *e, uint32_t site)
{
	static const struct heap_lost none = { 0 };

	return e->sites ? e->sites[site].of : none.of;
}
