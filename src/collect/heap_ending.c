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
#define WORK_NS	  UINT64_C(30000000000)
#define IN_ALL_NS UINT64_C(50000000000) /* it waits for a minute */
/* Above the bits of enum wire_sampler_request. */
#define SIGNS_SHIFT 8

void heap_ending_fini(struct heap_ending *e)
{
	heap_memory_fini(&e->memory);
	heap_ranges_fini(&e->ours);
	heap_ranges_fini(&e->roots);
	heap_vtables_fini(&e->tables);
	heap_finder_fini(&e->finder);
	heap_reach_fini(&e->reach);
	heap_registers_fini(&e->registers);
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

/* Other rings are looked at before it is tried again. */
static void follow_registers(struct heap_ending *e)
{
	struct heap_registers *r = &e->registers;

	e->has_registers = heap_registers_read(r, e->pid, (pid_t)e->told.tid);
	heap_reach_follow(&e->reach, r->words.at, r->words.n);
}

void heap_ending_begin(struct heap_ending *e, const struct timer_image *m,
		       const struct wire_tracer_heap_end *x,
		       const struct heap_blocks *blocks, const struct heap_maps *maps)
{
	e->pid = (pid_t)m->pid;
	heap_memory_fini(&e->memory);
	heap_memory_begin(&e->memory, e->pid);
	e->token_address = x->token_address;
	e->token = x->token;
	e->begin_ns = clock_monotonic_ns();
	give_sign(e, m);
	if (e->how || e->is_busy || !is_there(e)) { /* it tells once */
		heap_ending_skip(e, m, HEAP_ENDING_UNREADABLE);
		return;
	}
	e->told = *x;
	e->maps = maps;
	e->n_changes = blocks->n_changes;
	heap_finder_begin(&e->finder, blocks);
	e->is_busy = true;
}

void heap_ending_settle(struct heap_ending *e)
{
	heap_finder_settle(&e->finder);
}

static bool begin_reach(struct heap_ending *e)
{
	struct heap_roots_of of = { .pid = e->pid,
				    .tid = e->told.tid,
				    .stack_pointer = e->told.stack_pointer,
				    .is_glibc = e->told.flags & WIRE_TRACER_IS_GLIBC,
				    .finder = &e->finder,
				    .maps = e->maps,
				    .ours = &e->ours };

	if (heap_roots_find(&of, heap_memory_read, &e->memory, &e->roots, NULL) < 0 ||
	    heap_vtables_read(&e->tables, e->pid, NULL) < 0)
		return false;
	heap_reach_begin(&e->reach, &e->finder, &e->roots, &e->tables,
			 heap_memory_read_blocks, heap_memory_skip, &e->memory);
	e->is_in_order = true;
	return true;
}

/* How it went; 0: there is more to do.  Whoever did not wait has not
 * been seen as a whole. */
static enum heap_ending_how do_piece(struct heap_ending *e)
{
	if (!e->is_in_order) {
		if (heap_finder_go_on(&e->finder))
			return 0;
		return begin_reach(e) ? 0 : HEAP_ENDING_UNREADABLE;
	}
	if (!e->has_registers) {
		follow_registers(e);
		return 0;
	}
	if (heap_reach_go_on(&e->reach))
		return 0;
	return is_there(e) ? HEAP_ENDING_LOOKED : HEAP_ENDING_UNREADABLE;
}

bool heap_ending_go_on(struct heap_ending *e, const struct timer_image *m)
{
	uint64_t now_ns = clock_monotonic_ns(), until_ns = now_ns + TURN_NS;
	enum heap_ending_how how = 0;

	if (!e->is_busy)
		return false;
	if (now_ns - e->begin_ns > IN_ALL_NS || ++e->n_turns > WORK_NS / TURN_NS)
		how = HEAP_ENDING_UNREADABLE;
	give_sign(e, m);
	while (!how && clock_monotonic_ns() < until_ns)
		how = do_piece(e);
	if (how)
		heap_ending_skip(e, m, how);
	return !how;
}

static void add(struct heap_lost *lost, enum heap_reach_state state, uint64_t bytes)
{
	lost->of[state].blocks++;
	lost->of[state].bytes += bytes;
}

/* Is the block of then still there? */
static bool is_left(const struct heap_ending *e, const struct heap_block *b,
		    const struct heap_blocks *now)
{
	const struct heap_block *x;

	if (now->n_changes == e->n_changes)
		return true;
	x = heap_blocks_find(now, b->address);
	return x && x->time_ns == b->time_ns;
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
	for (size_t i = 0; i < e->finder.blocks.n; i++) {
		const struct heap_block *b = &e->finder.blocks.at[i];
		enum heap_reach_state state = e->reach.states[i];

		if (state == HEAP_REACH_REACHED || !is_left(e, b, &l->blocks))
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
