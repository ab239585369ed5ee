/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_tracing - the heap of one program image, from the records of its tracer to
 * samples.
 *
 * What a forked child gives back of what it inherited is its parent's, and not counted as
 * unknown.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/traced_cuts.h"
#include "collect/heap_ending.h"
#include "collect/heap_events.h"
#include "collect/heap_ledger.h"
#include "collect/heap_maps.h"
#include "collect/heap_totals.h"
#include "collect/traced_image.h"

extern const struct tracing heap_tracing;

/* By index of the image's stack, its site plus 1; 0: not yet. */
struct sites {
	VEC(uint32_t) of;
};

struct heap_image {
	struct traced_image *image;
	struct heap_ledger ledger;
	struct heap_maps maps;
	struct sites sites, map_sites; /* of the section under way */
	struct traced_cuts cuts;
	const struct plan *plan;   /* NULL: not followed */
	const struct plan *traces; /* the same where every event is kept, else NULL */
	struct heap_events events;
	struct heap_ending ending;
	uint64_t n_events;
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct heap_image *h = xcalloc(1, sizeof(*h));

	h->image = image;
	h->plan = plan;
	h->ledger.sample_bytes = image->image->totals->sample_bytes;
	h->traces = plan && plan->trace ? plan : NULL;
	traced_cuts_begin(&h->cuts, traced_image_cuts(image), image->image->start_ns);
	return h;
}

/* Whose intervals ended before an event. */
static void cut(struct heap_image *h, uint64_t time_ns)
{
	struct heap_ledger *blocks = &h->ledger, *maps = &h->maps.ledger;
	struct gauges_cut end;

	if (!blocks->sections.all.n) {
		heap_sections_begin(&blocks->sections, time_ns);
		heap_sections_begin(&maps->sections, time_ns);
	}
	while (traced_cuts_next(&h->cuts, time_ns, &end)) {
		if (heap_sections_cut(&blocks->sections, &end, blocks->live))
			vec_clear(&h->sites.of);
		if (heap_sections_cut(&maps->sections, &end, maps->live))
			vec_clear(&h->map_sites.of);
	}
}

static uint32_t site_of(const struct heap_image *h, struct sites *sites,
			struct heap_ledger *l, uint64_t name)
{
	uint32_t i = traced_image_stack(h->image, name);
	const struct traced_stack *s = &h->image->stacks.at[i];

	while (sites->of.n <= i)
		*vec_push(&sites->of) = 0;
	if (!sites->of.at[i])
		sites->of.at[i] = heap_ledger_site(l, s->stack, s->thread) + 1;
	return sites->of.at[i] - 1;
}

/* Of a block of the ledger, where every event is kept. */
static void trace(struct heap_image *h, enum heap_events_kind kind,
		  const struct heap_ledger *l, uint64_t time_ns,
		  const struct heap_block *block)
{
	if (h->traces)
		heap_events_add(&h->events, h->image->image, h->traces, kind,
				&l->sites.at[block->site], time_ns, block);
}

static void take_alloc(struct heap_image *h, const struct timer_record *r)
{
	const struct wire_tracer_alloc *x = &r->alloc;
	uint32_t site = site_of(h, &h->sites, &h->ledger, x->stack);

	heap_ledger_take(&h->ledger, x->time_ns, site, x->address, x->size_bytes);
	trace(h, HEAP_EVENTS_TAKEN, &h->ledger, x->time_ns,
	      &(struct heap_block){ x->address, x->size_bytes, x->time_ns, site, 0 });
}

static void take_free(struct heap_image *h, const struct timer_record *r)
{
	struct heap_block block;

	if (heap_ledger_give(&h->ledger, r->free.time_ns, r->free.address, &block))
		trace(h, HEAP_EVENTS_GIVEN, &h->ledger, r->free.time_ns, &block);
}

static void take_move(struct heap_image *h, const struct timer_record *r)
{
	struct heap_block block;

	if (heap_ledger_move(&h->ledger, r->free.time_ns, r->free.address, &block))
		trace(h, HEAP_EVENTS_GIVEN, &h->ledger, r->free.time_ns, &block);
}

static void take_unmove(struct heap_image *h, const struct timer_record *r)
{
	struct heap_block block;

	if (heap_ledger_unmove(&h->ledger, r->free.time_ns, r->free.address, &block))
		trace(h, HEAP_EVENTS_TAKEN, &h->ledger, r->free.time_ns, &block);
}

static void trace_maps(struct heap_image *h, uint64_t time_ns)
{
	vec_each(x, &h->maps.gone)
		trace(h, HEAP_EVENTS_UNMAPPED, &h->maps.ledger, time_ns, x);
	vec_each(x, &h->maps.back)
		trace(h, HEAP_EVENTS_MAPPED, &h->maps.ledger, time_ns, x);
}

static void take_map(struct heap_image *h, const struct timer_record *r)
{
	const struct wire_tracer_alloc *x = &r->alloc;
	uint32_t site = site_of(h, &h->map_sites, &h->maps.ledger, x->stack);

	heap_maps_take(&h->maps, x->time_ns, site, x->address, x->size_bytes);
	trace_maps(h, x->time_ns);
	trace(h, HEAP_EVENTS_MAPPED, &h->maps.ledger, x->time_ns,
	      &(struct heap_block){ x->address, x->size_bytes, x->time_ns, site, 0 });
}

static void take_unmap(struct heap_image *h, const struct timer_record *r)
{
	heap_maps_give(&h->maps, r->unmap.time_ns, r->unmap.address, r->unmap.size_bytes);
	trace_maps(h, r->unmap.time_ns);
}

static void take_map_move(struct heap_image *h, const struct timer_record *r)
{
	heap_maps_move(&h->maps, r->unmap.time_ns, r->unmap.address, r->unmap.size_bytes);
	trace_maps(h, r->unmap.time_ns);
}

static void take_map_stays(struct heap_image *h, const struct timer_record *r)
{
	heap_maps_stay(&h->maps, r->unmap.time_ns, r->unmap.address, r->unmap.size_bytes);
	trace_maps(h, r->unmap.time_ns);
}

static void take_ours(struct heap_image *h, const struct timer_record *r)
{
	heap_ending_ours(&h->ending, &r->unmap);
}

/* What of its blocks is known; 0: all. */
static enum heap_ending_how why_not(const struct heap_image *h)
{
	const struct timer_image *m = h->image->image;

	if (m->is_attached || (m->is_fork && m->totals->is_visit))
		return HEAP_ENDING_VISITED;
	if (h->ledger.sample_bytes)
		return HEAP_ENDING_SAMPLED;
	if (m->is_fork)
		return HEAP_ENDING_FORKED;
	if (timer_ring_header(m->ring)->n_dropped || timer_ring_damaged(m->ring))
		return HEAP_ENDING_INCOMPLETE;
	return 0;
}

static void take_end(struct heap_image *h, const struct timer_record *r)
{
	enum heap_ending_how why = r->heap_end.flags & WIRE_TRACER_HAS_UNKNOWN
					   ? HEAP_ENDING_INCOMPLETE
					   : why_not(h);

	if (why || !h->plan)
		heap_ending_skip(&h->ending, h->image->image, why);
	else
		heap_ending_begin(&h->ending, h->image->image, &r->heap_end,
				  &h->ledger.blocks, &h->maps);
}

static bool go_on(void *state)
{
	struct heap_image *h = state;

	return heap_ending_go_on(&h->ending, h->image->image);
}

static void take(void *state, const struct timer_record *r)
{
	struct heap_image *h = state;
	static void (*const takers[])(struct heap_image * h,
				      const struct timer_record *r) = {
		[WIRE_TRACER_ALLOC] = take_alloc,
		[WIRE_TRACER_FREE] = take_free,
		[WIRE_TRACER_MOVE] = take_move,
		[WIRE_TRACER_UNMOVE] = take_unmove,
		[WIRE_TRACER_MAP] = take_map,
		[WIRE_TRACER_UNMAP] = take_unmap,
		[WIRE_TRACER_MAP_MOVE] = take_map_move,
		[WIRE_TRACER_MAP_STAYS] = take_map_stays,
		[WIRE_TRACER_OURS] = take_ours,
		[WIRE_TRACER_HEAP_END] = take_end,
	};

	/* All begin with their time. */
	if (traced_cuts_are_due(&h->cuts, r->free.time_ns))
		cut(h, r->free.time_ns);
	h->n_events += r->kind < WIRE_TRACER_OURS;
	if (h->ending.is_busy)
		heap_ending_settle(&h->ending);
	if (r->kind < sizeof(takers) / sizeof(takers[0]) && takers[r->kind])
		takers[r->kind](h, r);
}

/* The columns of the experiment, in their order. */
typedef void values_fn(const struct heap_image *h, uint32_t site,
		       uint64_t ret[EXPERIMENT_EVENTS_MAX]);

static void block_values(const struct heap_image *h, uint32_t site,
			 uint64_t ret[EXPERIMENT_EVENTS_MAX])
{
	const struct heap_ledger *l = &h->ledger;
	const struct heap_amount *lost = heap_ending_lost(&h->ending, site);
	const struct heap_site *s = &l->sites.at[site];
	struct heap_amount peak = heap_ledger_at_peak(l, site);

	ret[EXPERIMENT_HEAP_LEFT_BYTES] = s->live.bytes;
	ret[EXPERIMENT_HEAP_LEFT] = heap_ledger_count_of(l, s->live.blocks);
	ret[EXPERIMENT_HEAP_PEAK_BYTES] = peak.bytes;
	ret[EXPERIMENT_HEAP_PEAK_BLOCKS] = heap_ledger_count_of(l, peak.blocks);
	ret[EXPERIMENT_HEAP_BYTES] = s->taken.bytes;
	ret[EXPERIMENT_HEAP_CALLS] = heap_ledger_count_of(l, s->taken.blocks);
	ret[EXPERIMENT_HEAP_TEMPORARY] = s->temporary;
	ret[EXPERIMENT_HEAP_LIFETIME] = s->lifetime_ns;
	for (int i = 0; i < HEAP_REACH_REACHED; i++) {
		ret[EXPERIMENT_HEAP_LOST + 2 * i] = lost[i].bytes;
		ret[EXPERIMENT_HEAP_LOST + 2 * i + 1] = lost[i].blocks;
	}
}

static void map_values(const struct heap_image *h, uint32_t site,
		       uint64_t ret[EXPERIMENT_EVENTS_MAX])
{
	const struct heap_ledger *l = &h->maps.ledger;
	const struct heap_site *s = &l->sites.at[site];

	ret[EXPERIMENT_HEAP_MAP_LEFT_BYTES] = s->live.bytes;
	ret[EXPERIMENT_HEAP_MAP_PEAK_BYTES] = heap_ledger_at_peak(l, site).bytes;
	ret[EXPERIMENT_HEAP_MAP_BYTES] = s->taken.bytes;
	ret[EXPERIMENT_HEAP_MAP_CALLS] = heap_ledger_count_of(l, s->taken.blocks);
}

static void write_site(const struct heap_image *h, uint64_t born_ns,
		       const struct heap_site *s, const uint64_t *values)
{
	struct model_sample sample = { .time_ns = born_ns,
				       .thread = s->thread,
				       .cpu = UINT32_MAX,
				       .stack = s->stack,
				       .count = 1 };

	for (unsigned i = 0; i < h->plan->choice.experiment->n_events; i++) {
		sample.event = h->plan->events[i];
		sample.weight = values[i];
		if (values[i])
			writer_sample(h->image->image->totals->writer, &sample);
	}
}

static void write_sites(const struct heap_image *h, const struct heap_ledger *l,
			values_fn *values_of)
{
	for (uint32_t i = 0; i < l->sites.n; i++) {
		uint64_t values[EXPERIMENT_EVENTS_MAX] = { 0 };

		values_of(h, i, values);
		write_site(h, heap_sections_born_ns(&l->sections, i), &l->sites.at[i],
			   values);
	}
}

static void write_all(const struct heap_image *h, const struct heap_ending *ending,
		      uint64_t now_ns)
{
	write_sites(h, &h->ledger, block_values);
	write_sites(h, &h->maps.ledger, map_values);
	heap_totals_write(h->image->image, h->plan, now_ns, h->image->thread, &h->ledger,
			  &h->maps.ledger, ending);
}

static bool interim(void *state, uint64_t now_ns)
{
	const struct heap_image *h = state;
	const struct heap_ending ending = { .how = h->image->image->totals->is_visit
							   ? HEAP_ENDING_VISITED
							   : HEAP_ENDING_WENT_ON };

	if (!h->plan || !h->n_events)
		return false;
	write_all(h, &ending, now_ns);
	return true;
}

static void write_last(struct heap_image *h, uint64_t now_ns)
{
	if (!h->ending.how)
		h->ending.how = why_not(h);
	heap_ending_finish(&h->ending, h->image->image, &h->ledger);
	write_all(h, &h->ending, now_ns);
}

static void end(void *state, uint64_t now_ns)
{
	struct heap_image *h = state;
	struct timer_image *m = h->image->image;

	cut(h, now_ns);
	if (h->plan && h->n_events)
		write_last(h, now_ns);
	/* Of blocks that were not sampled some are said to be given back. */
	if (!m->is_fork && !m->is_attached && !h->ledger.sample_bytes)
		m->totals->n_unmatched += h->ledger.n_unmatched;
	m->totals->n_retaken += h->ledger.n_retaken;
	m->totals->n_events += h->n_events;
	heap_ending_fini(&h->ending);
	heap_ledger_fini(&h->ledger);
	heap_maps_fini(&h->maps);
	traced_cuts_fini(&h->cuts);
	vec_fini(&h->sites.of);
	vec_fini(&h->map_sites.of);
	free(h);
}

const struct tracing heap_tracing = { .trigger = EXPERIMENT_HEAP,
				      .trace = WIRE_TRACER_HEAP,
				      .first_kind = WIRE_TRACER_ALLOC,
				      .last_kind = WIRE_TRACER_HEAP_LAST,
				      .begin = begin,
				      .take = take,
				      .go_on = go_on,
				      .interim = interim,
				      .end = end };
