/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_image.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/heap_events.h"
#include "collect/heap_ledger.h"
#include "collect/heap_totals.h"

struct heap_image {
	struct heap_ledger ledger;
	struct map sites; /* id of a stack in the target → site */
	uint32_t unknown; /* the site of what has no stack */
	uint32_t thread;  /* id in the recording of the first */
	bool is_forked;
	const struct plan *plan;   /* NULL: not followed */
	const struct plan *traces; /* the same where every event is kept, else NULL */
	struct heap_events events;
};

static const struct plan *plan_of(const struct timer_totals *t)
{
	for (size_t i = 0; i < t->n_plans; i++)
		if (t->plans[i].source == t->ops)
			return &t->plans[i];
	return NULL;
}

static struct heap_image *heap_of(struct timer_image *m)
{
	struct heap_image *h = m->traced;
	struct tracker *t = m->totals->tracker;

	if (h)
		return h;
	m->traced = h = xcalloc(1, sizeof(*h));
	/* Now: when it ends another image may have its pid. */
	h->thread = tracker_thread(t, m->start_ns, m->pid, m->pid);
	if (tracker_is_followed(t, m->start_ns, m->pid, m->pid))
		h->plan = plan_of(m->totals);
	if (h->plan && h->plan->trace)
		h->traces = h->plan;
	h->unknown = heap_ledger_site(&h->ledger, 0, h->thread);
	h->is_forked = m->is_fork;
	return h;
}

static void take_stack(struct timer_image *m, const struct timer_record *r)
{
	struct heap_image *h = heap_of(m);
	bool is_new;
	uint64_t *site = map_slot(&h->sites, r->stack.id, &is_new);

	if (is_new)
		*site = heap_ledger_site(&h->ledger, timer_image_stack(m, r),
					 tracker_thread(m->totals->tracker,
							r->stack.time_ns, m->pid,
							r->stack.tid));
}

static void take_alloc(struct timer_image *m, const struct timer_record *r)
{
	struct heap_image *h = heap_of(m);
	const uint64_t *known = map_find(&h->sites, r->alloc.stack);
	uint32_t site = known ? (uint32_t)*known : h->unknown;

	heap_ledger_take(&h->ledger, r->alloc.time_ns, site, r->alloc.address,
			 r->alloc.size_bytes);
	if (h->traces)
		heap_events_taken(&h->events, m, h->traces, &h->ledger.sites.at[site],
				  &r->alloc);
}

static void trace_given(struct timer_image *m, struct heap_image *h,
			const struct timer_record *r, const struct heap_block *block)
{
	if (h->traces)
		heap_events_given(&h->events, m, h->traces,
				  &h->ledger.sites.at[block->site], &r->free, block);
}

static void take_free(struct timer_image *m, const struct timer_record *r)
{
	struct heap_image *h = heap_of(m);
	struct heap_block block;

	if (heap_ledger_give(&h->ledger, r->free.time_ns, r->free.address, &block))
		trace_given(m, h, r, &block);
}

static void take_move(struct timer_image *m, const struct timer_record *r)
{
	struct heap_image *h = heap_of(m);
	struct heap_block block;

	if (heap_ledger_move(&h->ledger, r->free.time_ns, r->free.address, &block))
		trace_given(m, h, r, &block);
}

static void take_unmove(struct timer_image *m, const struct timer_record *r)
{
	heap_ledger_unmove(&heap_of(m)->ledger, r->free.time_ns, r->free.address);
}

static void take(struct timer_image *m, const struct timer_record *r)
{
	static void (*const takers[])(struct timer_image * m,
				      const struct timer_record *r) = {
		[WIRE_TRACER_STACK] = take_stack,   [WIRE_TRACER_ALLOC] = take_alloc,
		[WIRE_TRACER_FREE] = take_free,	    [WIRE_TRACER_MOVE] = take_move,
		[WIRE_TRACER_UNMOVE] = take_unmove,
	};

	if (r->kind < sizeof(takers) / sizeof(takers[0]) && takers[r->kind])
		takers[r->kind](m, r);
}

/* The columns of the experiment, in their order. */
static void values_of(const struct heap_ledger *l, uint32_t site,
		      uint64_t ret[EXPERIMENT_EVENTS_MAX])
{
	const struct heap_site *s = &l->sites.at[site];
	struct heap_amount peak = heap_ledger_at_peak(l, site);

	ret[EXPERIMENT_HEAP_LEFT_BYTES] = s->live.bytes;
	ret[EXPERIMENT_HEAP_LEFT] = s->live.blocks;
	ret[EXPERIMENT_HEAP_PEAK_BYTES] = peak.bytes;
	ret[EXPERIMENT_HEAP_PEAK_BLOCKS] = peak.blocks;
	ret[EXPERIMENT_HEAP_BYTES] = s->taken.bytes;
	ret[EXPERIMENT_HEAP_CALLS] = s->taken.blocks;
	ret[EXPERIMENT_HEAP_TEMPORARY] = s->temporary;
	ret[EXPERIMENT_HEAP_LIFETIME] = s->lifetime_ns;
}

static void write_site(const struct timer_image *m, const struct plan *plan,
		       uint64_t now_ns, const struct heap_image *h, uint32_t site)
{
	const struct heap_site *s = &h->ledger.sites.at[site];
	uint64_t values[EXPERIMENT_EVENTS_MAX];
	struct model_sample sample = { .time_ns = now_ns,
				       .thread = s->thread,
				       .cpu = UINT32_MAX,
				       .stack = s->stack,
				       .count = 1 };

	values_of(&h->ledger, site, values);
	for (unsigned i = 0; i < plan->choice.experiment->n_events; i++) {
		sample.event = plan->events[i];
		sample.weight = values[i];
		if (values[i])
			writer_sample(m->totals->writer, &sample);
	}
}

static void end(struct timer_image *m, uint64_t now_ns)
{
	struct heap_image *h = m->traced;

	if (!h)
		return;
	for (uint32_t i = 0; h->plan && i < h->ledger.sites.n; i++)
		write_site(m, h->plan, now_ns, h, i);
	heap_course_end(&h->ledger.course);
	if (h->plan)
		heap_totals_write(m, h->plan, now_ns, h->thread, &h->ledger);
	if (!h->is_forked)
		m->totals->n_unmatched += h->ledger.n_unmatched;
	m->totals->n_retaken += h->ledger.n_retaken;
	m->totals->n_events += h->ledger.taken.blocks + h->ledger.given.blocks;
	heap_ledger_fini(&h->ledger);
	map_fini(&h->sites);
	free(h);
	m->traced = NULL;
}

const struct timer_tracing heap_image_tracing = { .take = take, .end = end };
