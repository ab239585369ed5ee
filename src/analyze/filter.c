/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/filter.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/filter_parse.h"
#include "analyze/profile_data.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

struct range {
	uint64_t from, to; /* both included */
};

/* A test with its answers worked out: by id, or as sorted, disjoint ranges. */
struct bound {
	uint8_t *passes; /* [thread, event or stack] */
	VEC(struct range) ranges;
};

struct filter_binding {
	const struct filter *filter;
	const struct input *source;
	struct bound *bounds; /* parallel to the filter's nodes */
	uint8_t *masks[FILTER_MAX_NODES];
	size_t mask_cap;
};

static bool text_passes(const struct filter_node *n, const char *text)
{
	if (n->regex)
		return regexec(n->regex, text, 0, NULL, 0) == 0;
	if (n->field->equal)
		return n->field->equal(text, n->text);
	return strcmp(text, n->text) == 0;
}

/* The test without its negation. */
static bool subject_passes(const struct filter_node *n, const struct filter_subject *s)
{
	uint64_t v;

	if (n->has_range && n->field->number && n->field->number(s, &v) && v >= n->low &&
	    v <= n->high)
		return true;
	if (!n->field->text || (!n->text && !n->regex))
		return false;

	const char *text;

	for (unsigned i = 0; i < FILTER_FIELD_TEXTS; i++)
		if ((text = n->field->text(s, i)) && text_passes(n, text))
			return true;
	return false;
}

static void bind_ids(struct bound *b, const struct filter_node *n,
		     const struct filter_subject *like, uint32_t count)
{
	struct filter_subject s = *like;

	b->passes = xcalloc(count ? count : 1, 1);
	for (s.id = 0; s.id < count; s.id++)
		b->passes[s.id] = subject_passes(n, &s) != n->is_negated;
}

static int by_from(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Overlapping ranges become one, so that a binary search finds the only candidate. */
static void unite_ranges(struct bound *b)
{
	size_t n = 0;

	if (!b->ranges.n)
		return;
	qsort(b->ranges.at, b->ranges.n, sizeof(b->ranges.at[0]), by_from);
	for (size_t i = 1; i < b->ranges.n; i++) {
		struct range *last = &b->ranges.at[n], next = b->ranges.at[i];

		if (next.from <= last->to)
			last->to = next.to > last->to ? next.to : last->to;
		else
			b->ranges.at[++n] = next;
	}
	b->ranges.n = n + 1;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void bind_time(struct bound *b, const struct filter_node *n,
		      const struct filter_subject *like, const struct input *source)
{
	struct filter_subject s = *like;

	if (n->field->is_time) {
		if (n->low <= n->high)
			*vec_push(&b->ranges) =
				(struct range){ add_capped(source->start_ns, n->low),
						add_capped(source->start_ns, n->high) };
		return;
	}
	for (s.id = 0; s.id < recording_n_intervals(s.recording); s.id++) {
		const struct model_interval *v = recording_interval(s.recording, s.id);

		if (v->from_ns < v->to_ns && subject_passes(n, &s))
			*vec_push(&b->ranges) =
				(struct range){ v->from_ns, v->to_ns - 1 };
	}
	unite_ranges(b);
}

/* A function's text is asked for once per function, however many frames are in it. */
static bool frame_passes(const struct filter_node *n, const struct profile *p,
			 uint32_t frame, struct map *memo)
{
	struct filter_subject s = { .profile = p, .frame = &p->frames.at[frame] };

	if (!n->field->text || n->field->number)
		return subject_passes(n, &s);

	uint64_t key = (uint64_t)(uintptr_t)n->field->text(&s, 0);
	bool is_new;
	uint64_t *known = map_slot(memo, key, &is_new);

	if (is_new)
		*known = subject_passes(n, &s);
	return *known;
}

static void bind_stacks(struct bound *b, const struct filter_node *n,
			const struct profile *p, const struct input *s)
{
	bool is_leaf = n->field->scope == FILTER_BY_LEAF;
	own(freep) uint8_t *locations = xcalloc(s->n_locations ? s->n_locations : 1, 1);
	struct map memo = { 0 };

	for (uint32_t l = 0; l < s->n_locations; l++) {
		uint32_t first = s->first_frame[l], count = s->n_frames[l];

		if (is_leaf && count) {
			first += count - 1;
			count = 1;
		}
		for (uint32_t i = 0; i < count && !locations[l]; i++)
			locations[l] = frame_passes(n, p, first + i, &memo);
	}
	map_fini(&memo);
	b->passes = xcalloc(s->n_stacks ? s->n_stacks : 1, 1);
	for (uint32_t i = 1; i < s->n_stacks; i++)
		b->passes[i] = locations[s->stacks[i].location] ||
			       (!is_leaf && b->passes[s->stacks[i].parent]);
	for (uint32_t i = 0; n->is_negated && i < s->n_stacks; i++)
		b->passes[i] = !b->passes[i];
}

static void bind_node(struct filter_binding *f, size_t i, const struct profile *p)
{
	const struct filter_node *n = &f->filter->nodes.at[i];
	const struct recording *r = f->source->recording;
	struct filter_subject like = { .recording = r, .profile = p };
	struct bound *b = &f->bounds[i];

	if (n->kind != FILTER_TEST)
		return;
	switch (n->field->scope) {
	case FILTER_BY_TIME:
		bind_time(b, n, &like, f->source);
		break;
	case FILTER_BY_THREAD:
		bind_ids(b, n, &like, recording_n_threads(r));
		break;
	case FILTER_BY_EVENT:
		bind_ids(b, n, &like, recording_n_events(r));
		break;
	case FILTER_BY_FRAME:
	case FILTER_BY_LEAF:
		bind_stacks(b, n, p, f->source);
		break;
	case FILTER_BY_CPU:
	case FILTER_BY_WEIGHT:
		break;
	}
}

struct filter_binding *filter_bind(const struct filter *f, const struct profile *p,
				   const struct input *s)
{
	struct filter_binding *b = xcalloc(1, sizeof(*b));

	b->filter = f;
	b->source = s;
	b->bounds = xcalloc(f->nodes.n, sizeof(*b->bounds));
	for (size_t i = 0; i < f->nodes.n; i++)
		bind_node(b, i, p);
	return b;
}

void filter_binding_free(struct filter_binding *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->filter->nodes.n; i++) {
		free(b->bounds[i].passes);
		vec_fini(&b->bounds[i].ranges);
		free(b->masks[i]);
	}
	free(b->bounds);
	free(b);
}

void filter_binding_freep(struct filter_binding **b)
{
	filter_binding_free(*b);
}

unsigned filter_columns(const struct filter_binding *b)
{
	static const unsigned of_scope[] = {
		[FILTER_BY_TIME] = SAMPLE_TIME,	    [FILTER_BY_THREAD] = SAMPLE_THREAD,
		[FILTER_BY_EVENT] = SAMPLE_EVENT,   [FILTER_BY_CPU] = SAMPLE_CPU,
		[FILTER_BY_WEIGHT] = SAMPLE_WEIGHT, [FILTER_BY_FRAME] = SAMPLE_STACK,
		[FILTER_BY_LEAF] = SAMPLE_STACK,
	};
	unsigned columns = 0;

	for (size_t i = 0; i < b->filter->nodes.n; i++)
		if (b->filter->nodes.at[i].kind == FILTER_TEST)
			columns |= of_scope[b->filter->nodes.at[i].field->scope];
	return columns;
}

static struct range hull(const struct filter_binding *b, uint32_t node)
{
	const struct filter_node *n = &b->filter->nodes.at[node];
	const struct bound *own_bound = &b->bounds[node];
	struct range all = { 0, UINT64_MAX };

	if (n->kind == FILTER_AND || n->kind == FILTER_OR) {
		struct range x = hull(b, n->left), y = hull(b, n->right);
		bool narrow = n->kind == FILTER_AND;

		return (struct range){ (x.from > y.from) == narrow ? x.from : y.from,
				       (x.to < y.to) == narrow ? x.to : y.to };
	}
	if (n->kind == FILTER_NOT || n->field->scope != FILTER_BY_TIME || n->is_negated)
		return all;
	if (!own_bound->ranges.n)
		return (struct range){ UINT64_MAX, 0 };
	return (struct range){ own_bound->ranges.at[0].from,
			       own_bound->ranges.at[own_bound->ranges.n - 1].to };
}

void filter_time_range(const struct filter_binding *b, uint64_t *from_ns, uint64_t *to_ns)
{
	struct range r = hull(b, (uint32_t)b->filter->nodes.n - 1);

	*from_ns = r.from;
	*to_ns = r.to;
}

static bool in_ranges(const struct bound *b, uint64_t v)
{
	size_t low = search_split(b->ranges.n, i, b->ranges.at[i].to < v);

	return low < b->ranges.n && b->ranges.at[low].from <= v;
}

static void look_up(const uint8_t *passes, const uint32_t *ids, size_t n, uint8_t *keep)
{
	for (size_t i = 0; i < n; i++)
		keep[i] = passes[ids[i]];
}

static void apply_test(const struct filter_node *n, const struct bound *b,
		       const struct sample_block *s, uint8_t *keep)
{
	switch (n->field->scope) {
	case FILTER_BY_TIME:
		for (size_t i = 0; i < s->n; i++)
			keep[i] = in_ranges(b, s->time_ns[i]) != n->is_negated;
		break;
	case FILTER_BY_THREAD:
		look_up(b->passes, s->thread, s->n, keep);
		break;
	case FILTER_BY_EVENT:
		look_up(b->passes, s->event, s->n, keep);
		break;
	case FILTER_BY_FRAME:
	case FILTER_BY_LEAF:
		look_up(b->passes, s->stack, s->n, keep);
		break;
	case FILTER_BY_CPU:
		for (size_t i = 0; i < s->n; i++)
			keep[i] = (s->cpu[i] >= n->low && s->cpu[i] <= n->high) !=
				  n->is_negated;
		break;
	case FILTER_BY_WEIGHT:
		for (size_t i = 0; i < s->n; i++)
			keep[i] = (s->weight[i] >= n->low && s->weight[i] <= n->high) !=
				  n->is_negated;
		break;
	}
}

static void reserve_masks(struct filter_binding *b, size_t n)
{
	if (n <= b->mask_cap)
		return;
	for (size_t i = 0; i < b->filter->nodes.n; i++)
		b->masks[i] = xrealloc(b->masks[i], n, 1);
	b->mask_cap = n;
}

/* Children come before their parents, so one pass over the nodes is enough. */
void filter_apply(const struct filter_binding *binding, const struct sample_block *block,
		  uint8_t *keep)
{
	/* The masks are scratch memory: nothing a caller could tell apart. */
	struct filter_binding *b = (struct filter_binding *)(uintptr_t)binding;
	size_t n_nodes = b->filter->nodes.n;

	reserve_masks(b, block->n);
	for (size_t i = 0; i < n_nodes; i++) {
		const struct filter_node *n = &b->filter->nodes.at[i];
		uint8_t *mask = b->masks[i];
		const uint8_t *left = b->masks[n->left], *right = b->masks[n->right];

		if (n->kind == FILTER_TEST)
			apply_test(n, &b->bounds[i], block, mask);
		for (size_t k = 0; n->kind == FILTER_AND && k < block->n; k++)
			mask[k] = left[k] & right[k];
		for (size_t k = 0; n->kind == FILTER_OR && k < block->n; k++)
			mask[k] = left[k] | right[k];
		for (size_t k = 0; n->kind == FILTER_NOT && k < block->n; k++)
			mask[k] = !left[k];
	}
	if (block->n)
		memcpy(keep, b->masks[n_nodes - 1], block->n);
}
