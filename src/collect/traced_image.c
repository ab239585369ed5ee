/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/traced_image.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/gauges.h"

static struct traced_image *traced(struct timer_image *m)
{
	struct traced_image *t = m->traced;
	struct late_image *late;

	if (t)
		return t;
	m->traced = t = xcalloc(1, sizeof(*t));
	t->image = m;
	late = timer_image_late(m);
	t->thread = late_image_thread(late, m->start_ns, m->pid);
	t->is_followed = late_image_is_followed(late);
	*vec_push(&t->stacks) = (struct traced_stack){ .thread = t->thread };
	return t;
}

uint32_t traced_image_stack(const struct traced_image *t, uint64_t name)
{
	const uint64_t *i = map_find(&t->names, name);

	return i ? (uint32_t)*i : 0;
}

const struct gauges_cuts *traced_image_cuts(const struct traced_image *t)
{
	const struct timer_totals *totals = t->image->totals;

	return totals->gauges && *totals->gauges ? gauges_cuts(*totals->gauges) : NULL;
}

static void take_stack(struct traced_image *t, const struct timer_record *r)
{
	struct timer_image *m = t->image;
	bool is_new;
	uint64_t *i = map_slot(&t->names, r->stack.id, &is_new);

	if (!is_new)
		return;
	*i = t->stacks.n;
	*vec_push(&t->stacks) = (struct traced_stack){
		.stack = timer_image_stack(m, r),
		.thread = late_image_thread(timer_image_late(m), r->stack.time_ns,
					    r->stack.tid),
	};
}

static const struct plan *plan_of(const struct traced_image *t, const struct tracing *x)
{
	const struct timer_totals *totals = t->image->totals;

	for (size_t i = 0; i < totals->n_plans && t->is_followed; i++)
		if (totals->plans[i].source == totals->ops &&
		    totals->plans[i].choice.experiment->trigger == x->trigger)
			return &totals->plans[i];
	return NULL;
}

static void take(struct timer_image *m, const struct timer_record *r)
{
	struct traced_image *t = traced(m);

	if (r->kind == WIRE_TRACER_STACK) {
		take_stack(t, r);
		return;
	}
	for (size_t i = 0; i < TRACING_N; i++) {
		const struct tracing *x = tracings[i];

		if (r->kind < x->first_kind || r->kind > x->last_kind)
			continue;
		if (!t->states[i])
			t->states[i] = x->begin(t, plan_of(t, x));
		x->take(t->states[i], r);
	}
}

static bool go_on(struct timer_image *m)
{
	const struct traced_image *t = m->traced;
	bool is_busy = false;

	for (size_t i = 0; t && i < TRACING_N; i++)
		if (t->states[i] && tracings[i]->go_on)
			is_busy |= tracings[i]->go_on(t->states[i]);
	return is_busy;
}

static bool may_be_interim(const struct traced_image *t)
{
	for (size_t i = 0; i < TRACING_N; i++)
		if (t->states[i] && tracings[i]->interim)
			return true;
	return false;
}

static bool interim(struct timer_image *m, uint64_t now_ns)
{
	struct traced_image *t = m->traced;
	bool has_any = false;

	if (t && may_be_interim(t))
		t->sums = writer_interim_of(m->totals->writer, t->sums);
	for (size_t i = 0; t && i < TRACING_N; i++)
		if (t->states[i] && tracings[i]->interim)
			has_any |= tracings[i]->interim(t->states[i], now_ns);
	return has_any;
}

static void end(struct timer_image *m, uint64_t now_ns)
{
	struct traced_image *t = m->traced;

	if (!t)
		return;
	if (t->sums)
		writer_last_sums_begin(m->totals->writer, t->sums);
	for (size_t i = 0; i < TRACING_N; i++)
		if (t->states[i])
			tracings[i]->end(t->states[i], now_ns);
	if (t->sums)
		writer_last_sums_end(m->totals->writer, t->sums);
	map_fini(&t->names);
	vec_fini(&t->stacks);
	free(t);
	m->traced = NULL;
}

const struct timer_tracing traced_image_tracing = {
	.take = take, .go_on = go_on, .interim = interim, .end = end
};
