/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_tell.h"

#include "inject/region_names.h"
#include "inject/vdso.h"
#include "wire/sampler.h"

/* They wait on the program's stack, which may be a small one of a handler. */
#define NODES_MAX 24

static struct wire_regions_nodes head_of(const struct region_thread *t)
{
	uint32_t serial = __atomic_load_n(&t->serial, __ATOMIC_ACQUIRE);
	struct wire_regions_nodes h = {
		.time_ns = vdso_now_ns(),
		.tid = (uint32_t)t->tid,
		.tree = serial,
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
	uint32_t depth = __atomic_load_n(&t->depth, __ATOMIC_RELAXED);

	return depth ? t->active[t->active[depth - 1].live].node : 0;
}

/* Rows that wait to be written. */
struct rows {
	const struct region_thread *of;
	struct wire_regions_nodes head;
	struct wire_regions_node at[NODES_MAX];
};

static void begin(struct rows *r, const struct region_thread *t)
{
	r->of = t;
	r->head = head_of(t);
	r->head.top = top_of(&t->tree);
}

/* Another thread's may have become a third one's meanwhile: then what was read may be
 * neither's. */
static bool is_still(const struct rows *r)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&r->of->serial, __ATOMIC_RELAXED) == r->head.tree;
}

static void write(struct rows *r)
{
	if (is_still(r))
		trace_runtime_write(WIRE_REGIONS_NODES, &r->head, sizeof(r->head), r->at,
				    r->head.n * sizeof(r->at[0]));
	r->head.n = 0;
}

static void add(struct rows *r, uint32_t i)
{
	struct region_node n = r->of->tree.nodes[i];

	if (i && (!is_still(r) || !region_names_tell(n.region)))
		return;
	if (r->head.n == NODES_MAX)
		write(r);
	r->at[r->head.n++] = (struct wire_regions_node){ .node = i,
							 .parent = n.parent,
							 .region = n.region,
							 .calls = n.calls,
							 .exclusive = n.exclusive };
}

void region_tell_changes(struct region_thread *t, bool is_over)
{
	struct rows r;
	uint32_t i;

	begin(&r, t);
	while ((i = region_tree_take_dirty(&t->tree)) != REGION_TREE_CLEAN)
		add(&r, i);
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
	return region_rate_ns(region_clock_rate(), now - t->last);
}

/* Others' trees cannot be given their time: it is told of when they were last given it,
 * and the recorder gives what is active in them the rest. */
void region_tell_all(const struct region_thread *t)
{
	uint32_t n_nodes = __atomic_load_n(&t->tree.n_nodes, __ATOMIC_RELAXED);
	struct rows r;

	begin(&r, t);
	if (!r.head.tree)
		return;
	r.head.time_ns -= since_last_ns(&t->tree);
	for (uint32_t i = 1; i < n_nodes; i++)
		add(&r, i);
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
