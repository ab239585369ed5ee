/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_tell.h"

#include "inject/region_names.h"
#include "inject/vdso.h"
#include "wire/sampler.h"

/* They wait on the program's stack, which may be a small one of a handler. */
#define NODES_MAX 24

static struct wire_regions_nodes head_of(const struct region_thread *t)
{
	struct wire_regions_nodes h = {
		.time_ns = vdso_now_ns(),
		.tid = (uint32_t)t->tid,
		.tree = t->serial,
		.n_unmatched = (uint32_t)t->tree.n_unmatched,
		.n_cut = (uint32_t)t->tree.n_cut,
		.n_refused = (uint32_t)t->tree.n_refused,
	};

	if (region_clock.kind == REGION_CLOCK_TICKS) {
		h.since_ns = h.time_ns - region_clock.ns;
		h.ticks = region_clock_ticks() - region_clock.ticks;
	}
	return h;
}

static uint32_t top_of(const struct region_tree *t)
{
	return t->active[t->active[t->depth - 1].live].node;
}

/* Rows that wait to be written. */
struct rows {
	struct wire_regions_nodes head;
	struct wire_regions_node at[NODES_MAX];
};

static void write(struct rows *r)
{
	trace_runtime_write(WIRE_REGIONS_NODES, &r->head, sizeof(r->head), r->at,
			    r->head.n * sizeof(r->at[0]));
	r->head.n = 0;
}

static void add(struct rows *r, const struct region_tree *t, uint32_t i)
{
	const struct region_node *n = &t->nodes[i];

	if (i && !region_names_tell(n->region))
		return;
	if (r->head.n == NODES_MAX)
		write(r);
	r->at[r->head.n++] = (struct wire_regions_node){ .node = i,
							 .parent = n->parent,
							 .region = n->region,
							 .calls = n->calls,
							 .exclusive = n->exclusive };
}

void region_tell_changes(struct region_thread *t, bool is_over)
{
	struct rows r;
	uint32_t i;

	r.head = head_of(t);
	r.head.top = top_of(&t->tree);
	while ((i = region_tree_take_dirty(&t->tree)) != REGION_TREE_CLEAN)
		add(&r, &t->tree, i);
	r.head.is_over = is_over; /* nothing comes behind */
	if (r.head.n || is_over)
		write(&r);
}

/* So long ago a tree was last given its time, where that passes by itself. */
static uint64_t since_last_ns(const struct region_tree *t)
{
	uint64_t now = region_clock.kind == REGION_CLOCK_TICKS ? region_clock_ticks()
							       : vdso_now_ns();

	if (region_clock.kind > REGION_CLOCK_NS || now <= t->last)
		return 0;
	return (uint64_t)((double)(now - t->last) * region_clock_ns_per_unit());
}

/* Others' trees cannot be given their time: it is told of when they were last given it,
 * and the recorder gives what is active in them the rest. */
void region_tell_all(const struct region_thread *t)
{
	struct rows r;

	r.head = head_of(t);
	r.head.time_ns -= since_last_ns(&t->tree);
	r.head.top = top_of(&t->tree);
	for (uint32_t i = 1; i < t->tree.n_nodes; i++)
		add(&r, &t->tree, i);
	if (r.head.n)
		write(&r);
}

_Static_assert(sizeof(struct region_slice) == sizeof(struct wire_regions_slice),
	       "written as they are");

/* Of a very deep stack the innermost part. */
void region_tell_slices(struct region_thread *t, uint64_t passed)
{
	struct wire_regions_nodes head = head_of(t);
	uint32_t skip;

	head.passed = passed;
	head.top = region_tree_n_slices(&t->tree);
	skip = head.top > REGION_THREAD_SLICES ? head.top - REGION_THREAD_SLICES : 0;
	head.n = region_tree_slices(&t->tree, skip, t->slices, REGION_THREAD_SLICES);
	for (uint32_t i = 0; i < head.n; i++)
		if (!region_names_tell(t->slices[i].region))
			return;
	if (head.n)
		trace_runtime_write(WIRE_REGIONS_SLICES, &head, sizeof(head), t->slices,
				    head.n * sizeof(t->slices[0]));
}
