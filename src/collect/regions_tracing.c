/* SPDX-License-Identifier: Apache-2.0
 *
 * regions_tracing - the regions of one program image, from the records of its tracer to
 * samples: the stack of a region is those that it is in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/gauges.h"
#include "collect/region_forest.h"
#include "collect/region_quantity.h"
#include "collect/region_record.h"
#include "collect/traced_image.h"
#include "host/clock.h"

extern const struct tracing regions_tracing;

/* Samples of a thread's regions are made so often: what a filter by time can tell apart.
 */
#define GIVE_NS UINT64_C(100000000)

struct name {
	char *text;	   /* "" of a function */
	uint32_t location; /* of a region, or a function */
	uint32_t counter;  /* of a counter of that name plus 1, 0: not yet */
};

struct regions_image {
	struct traced_image *image;
	const struct plan *plan; /* NULL: not followed, or regions are not asked for */
	struct map index;	 /* number in the target → place in names */
	VEC(struct name) names;
	struct region_forest forest;
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct regions_image *x = xcalloc(1, sizeof(*x));

	x->image = image;
	x->plan = plan;
	return x;
}

static struct writer *writer_of(const struct regions_image *x)
{
	return x->image->image->totals->writer;
}

static struct tracker *tracker_of(const struct regions_image *x)
{
	return x->image->image->totals->tracker;
}

static uint32_t label(struct writer *w, const char *kind, const char *text)
{
	own(freep) char *path = xasprintf("[%s %s]", kind, text);
	uint32_t image =
		writer_image(w, &(struct model_image){ .path = writer_string(w, path),
						       .kind = IMAGE_LABEL });

	return writer_location(w, image, 0, 0);
}

static void take_name(struct regions_image *x, const struct timer_record *r)
{
	const struct wire_regions_name *n = &r->region_name;
	struct name name = { 0 };
	bool is_new;
	uint64_t *i = map_slot(&x->index, n->region, &is_new);

	if (!is_new)
		return;
	name.text = xstrndup((const char *)r->rest, r->n_rest);
	if (n->region & WIRE_REGIONS_FUNCTION)
		name.location = tracker_location(tracker_of(x), x->image->image->start_ns,
						 x->image->image->pid, n->address);
	else
		name.location = label(writer_of(x), "region", name.text);
	*i = x->names.n;
	*vec_push(&x->names) = name;
}

static uint32_t location_of(struct regions_image *x, uint32_t region)
{
	bool is_counter =
		!(region & WIRE_REGIONS_FUNCTION) && region & WIRE_REGIONS_COUNTER;
	const uint64_t *i =
		map_find(&x->index, is_counter ? region & ~WIRE_REGIONS_COUNTER : region);
	struct writer *w = writer_of(x);
	struct name *n;

	if (!i)
		return label(w, "region", "?");
	n = &x->names.at[*i];
	if (!is_counter)
		return n->location;
	if (!n->counter)
		n->counter = label(w, "counter", n->text) + 1;
	return n->counter - 1;
}

/* A parent is before its children, and has a stack when one of them has. */
static uint32_t stack_of(struct regions_image *x, const struct region_forest_tree *t,
			 struct region_forest_node *node)
{
	VEC(struct region_forest_node *) path = { 0 };
	uint32_t stack;

	for (; !node->stack && node != t->nodes.at; node = &t->nodes.at[node->parent])
		*vec_push(&path) = node;
	stack = node->stack;
	while (path.n) {
		node = path.at[--path.n];
		stack = writer_stack(writer_of(x), stack, location_of(x, node->region));
		node->stack = stack;
	}
	vec_fini(&path);
	return stack;
}

static uint32_t thread_of(const struct regions_image *x, uint64_t time_ns, uint32_t tid)
{
	return late_image_thread(timer_image_late(x->image->image), time_ns, tid);
}

static void write_sample(struct regions_image *x, struct model_sample *s, unsigned column,
			 uint64_t weight)
{
	if (!weight)
		return;
	s->event = x->plan->events[column];
	s->weight = weight;
	writer_sample(writer_of(x), s);
}

/* Everything that has changed, as samples. */
static void give(struct regions_image *x, struct region_forest_tree *t)
{
	struct model_sample s = { .time_ns = t->time_ns, .cpu = UINT32_MAX, .count = 1 };
	uint64_t calls, quantity;
	struct region_forest_node *n;

	t->given_ns = t->time_ns;
	if (!x->plan)
		return;
	s.thread = thread_of(x, t->time_ns, t->tid);
	while ((n = region_forest_change(t, &calls, &quantity))) {
		bool is_counter = !(n->region & WIRE_REGIONS_FUNCTION) &&
				  n->region & WIRE_REGIONS_COUNTER;

		s.stack = stack_of(x, t, n);
		if (is_counter) {
			write_sample(x, &s, EXPERIMENT_REGIONS_COUNTED, quantity);
			continue;
		}
		write_sample(x, &s, EXPERIMENT_REGIONS_TIME, quantity);
		write_sample(x, &s, EXPERIMENT_REGIONS_CALLS, calls);
		x->image->image->totals->n_events += calls;
	}
}

static void end_tree(struct regions_image *x, struct region_forest_tree *t)
{
	struct timer_totals *totals = x->image->image->totals;

	give(x, t);
	totals->n_unmatched_ends += t->n_unmatched;
	totals->n_cut_regions += t->n_cut;
	totals->n_refused_regions += t->n_refused;
	region_forest_drop(&x->forest, t);
}

static void take_nodes(struct regions_image *x, const struct timer_record *r)
{
	struct region_forest_tree *t =
		region_forest_take(&x->forest, &r->region_nodes, r->rest);

	if (t->is_over)
		end_tree(x, t);
	else if (t->time_ns - t->given_ns >= GIVE_NS)
		give(x, t);
}

static uint32_t slice_type(const struct regions_image *x)
{
	static const char *const names[] = {
		"calls",     "subroutines",	   "exclusive",
		"inclusive", "instance-exclusive", "instance-inclusive"
	};
	struct timer_totals *totals = x->image->image->totals;
	bool is_time = region_quantity_is_time(x->plan->choice.experiment);
	struct model_trace_type type = {
		.event = x->plan->events[EXPERIMENT_REGIONS_TIME],
		.n_columns = sizeof(names) / sizeof(names[0]),
	};

	for (uint32_t i = 0; i < type.n_columns; i++) {
		type.columns[i].name = writer_string(writer_of(x), names[i]);
		type.columns[i].type = i < 2 || !is_time ? COLUMN_U64 : COLUMN_DURATION;
	}
	if (!totals->slice_type)
		totals->slice_type = writer_trace_type(writer_of(x), &type) + 1;
	return totals->slice_type - 1;
}

static void take_slices(struct regions_image *x, const struct timer_record *r)
{
	const struct wire_regions_nodes *h = &r->region_nodes;
	const struct region_forest_tree *known = region_forest_find(&x->forest, h->tree);
	uint64_t ago_ns = region_record_scale(h, h->passed);
	struct model_trace t = { .time_ns = h->time_ns - ago_ns, .cpu = UINT32_MAX };

	if (!x->plan || !known || ago_ns > h->time_ns)
		return;
	t.trace_type = slice_type(x);
	t.thread = thread_of(x, t.time_ns, h->tid);
	for (uint32_t i = 0; i < h->n; i++) {
		struct wire_regions_slice s = region_record_slice(r->rest, i);
		struct region_forest_node *n = region_forest_node(known, s.node);
		const uint64_t values[] = {
			s.calls,
			s.subroutines,
			region_record_scale(h, s.exclusive),
			region_record_scale(h, s.inclusive),
			region_record_scale(h, s.instance_exclusive),
			region_record_scale(h, s.instance_inclusive),
		};

		if (!n)
			continue;
		t.stack = stack_of(x, known, n);
		memcpy(t.values, values, sizeof(values));
		writer_trace(writer_of(x), &t);
	}
}

static void take_mark(struct regions_image *x, const struct timer_record *r)
{
	own(freep) char *name = xstrndup((const char *)r->rest, r->n_rest);
	struct timer_totals *totals = x->image->image->totals;
	uint64_t now_ns = clock_monotonic_ns(), time_ns = r->region_text.time_ns;

	vec_each(t, &x->forest.trees)
		give(x, *t);
	/* Nothing that a program says ends an interval that is yet to begin. */
	if (x->image->is_followed && totals->gauges && *totals->gauges &&
	    !gauges_cut(*totals->gauges, time_ns < now_ns ? time_ns : now_ns, "program",
			name))
		totals->n_late_marks++;
}

static void take_thread(struct regions_image *x, const struct timer_record *r)
{
	struct writer *w = writer_of(x);
	uint32_t id = thread_of(x, r->region_text.time_ns, r->region_text.tid);
	struct model_thread thread = *writer_thread_get(w, id);

	thread.name = writer_strn(w, (const char *)r->rest, r->n_rest);
	writer_thread_update(w, id, &thread);
}

static void take(void *state, const struct timer_record *r)
{
	static void (*const takers[])(struct regions_image * x,
				      const struct timer_record *r) = {
		take_name, take_nodes, take_slices, take_mark, take_thread,
	};
	unsigned i = r->kind - WIRE_REGIONS_NAME;

	if (i < sizeof(takers) / sizeof(takers[0]))
		takers[i](state, r);
}

static void end(void *state, uint64_t now_ns)
{
	struct regions_image *x = state;

	while (x->forest.trees.n) {
		struct region_forest_tree *t = x->forest.trees.at[x->forest.trees.n - 1];

		if (x->plan && region_quantity_is_time(x->plan->choice.experiment))
			region_forest_pass(t, now_ns);
		end_tree(x, t);
	}
	region_forest_fini(&x->forest);
	vec_each(n, &x->names)
		free(n->text);
	vec_fini(&x->names);
	map_fini(&x->index);
	free(x);
}

const struct tracing regions_tracing = {
	.trigger = EXPERIMENT_REGIONS,
	.trace = WIRE_TRACER_REGIONS,
	.first_kind = WIRE_REGIONS_NAME,
	.last_kind = WIRE_REGIONS_LAST,
	.begin = begin,
	.take = take,
	.end = end,
};
