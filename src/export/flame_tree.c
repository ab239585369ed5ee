/* SPDX-License-Identifier: Apache-2.0 */
#include "export/flame_tree.h"

#include <string.h>

#include "base/mem.h"

static struct flame_tree *new_tree(size_t first, size_t n_columns)
{
	struct flame_tree *t = xcalloc(1, sizeof(*t));

	t->first_column = first;
	t->n_columns = n_columns;
	vec_push(&t->nodes);
	vec_push(&t->frames);
	for (size_t i = 0; i < n_columns; i++)
		vec_push(&t->self);
	return t;
}

void flame_tree_free(struct flame_tree *t)
{
	if (!t)
		return;
	vec_fini(&t->nodes);
	vec_fini(&t->frames);
	vec_fini(&t->self);
	map_fini(&t->child_of);
	map_fini(&t->frame_of);
	free(t);
}

void flame_tree_freep(struct flame_tree **t)
{
	flame_tree_free(*t);
}

static uint32_t find_frame(struct flame_tree *t, uint32_t function, bool is_inlined)
{
	bool is_new;
	uint64_t key = (uint64_t)function << 1 | is_inlined;
	uint64_t *slot = map_slot(&t->frame_of, key, &is_new);

	if (is_new) {
		*slot = t->frames.n;
		*vec_push(&t->frames) = (struct flame_frame){ function, is_inlined };
	}
	return (uint32_t)*slot;
}

static uint32_t find_child(struct flame_tree *t, uint32_t parent, uint32_t frame)
{
	bool is_new;
	uint64_t *slot = map_slot(&t->child_of, (uint64_t)parent << 32 | frame, &is_new);

	if (is_new) {
		*slot = t->nodes.n;
		*vec_push(&t->nodes) = (struct flame_node){ parent, frame };
		for (size_t i = 0; i < t->n_columns; i++)
			vec_push(&t->self);
	}
	return (uint32_t)*slot;
}

static void add_self(struct flame_tree *t, uint32_t node, const uint64_t *weights)
{
	for (size_t i = 0; i < t->n_columns; i++)
		t->self.at[node * t->n_columns + i] += weights[i];
}

static bool is_zero(const uint64_t *weights, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (weights[i])
			return false;
	return true;
}

static int add_stack(void *ctx, const struct profile_frame *frames, size_t n,
		     const uint64_t *weights, unused const uint64_t *counts,
		     unused struct err *e)
{
	struct flame_tree *t = ctx;
	uint32_t node = 0;

	weights += t->first_column;
	if (is_zero(weights, t->n_columns))
		return 0;
	for (size_t i = 0; i < n; i++)
		node = find_child(
			t, node, find_frame(t, frames[i].function, frames[i].is_inlined));
	if (n == 0)
		node = find_child(t, 0, find_frame(t, FLAME_TREE_NOWHERE, false));
	add_self(t, node, weights);
	return 0;
}

int flame_tree_new(const struct profile *p, size_t first, size_t n,
		   struct flame_tree **ret, struct err *e)
{
	own(flame_tree_freep) struct flame_tree *t = new_tree(first, n);

	if (n) {
		int rc = profile_each_stack(p, add_stack, t, e);

		if (rc < 0)
			return rc;
	}
	*ret = steal(&t);
	return 0;
}

uint64_t *flame_tree_inclusive(const struct flame_tree *t)
{
	size_t n = t->n_columns;
	uint64_t *sum = xcalloc(t->nodes.n * n + 1, sizeof(*sum));

	if (n)
		memcpy(sum, t->self.at, t->nodes.n * n * sizeof(*sum));
	for (size_t i = t->nodes.n; i-- > 1;)
		for (size_t c = 0; c < n; c++)
			sum[t->nodes.at[i].parent * n + c] += sum[i * n + c];
	return sum;
}

static bool is_kept(const struct flame_tree *t, const uint64_t *inclusive, size_t node,
		    double share)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		uint64_t weight = inclusive[node * t->n_columns + c];

		if (weight && (double)weight >= share * (double)inclusive[c])
			return true;
	}
	return node == 0;
}

size_t flame_tree_count(const struct flame_tree *t, const uint64_t *inclusive,
			double share)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nodes.n; i++)
		n += is_kept(t, inclusive, i, share);
	return n;
}

struct flame_tree *flame_tree_prune(const struct flame_tree *t, const uint64_t *inclusive,
				    double share)
{
	struct flame_tree *kept = new_tree(t->first_column, t->n_columns);
	/* Where a node went; what is pruned goes where its nearest kept ancestor puts
	 * the small ones. */
	own(freep) uint32_t *place = xcalloc(t->nodes.n, sizeof(*place));

	for (size_t i = 1; i < t->nodes.n; i++) {
		const struct flame_node *node = &t->nodes.at[i];
		const struct flame_frame *frame = &t->frames.at[node->frame];
		uint32_t parent = place[node->parent];

		if (kept->frames.at[kept->nodes.at[parent].frame].function ==
		    FLAME_TREE_PRUNED)
			place[i] = parent;
		else if (is_kept(t, inclusive, i, share))
			place[i] = find_child(
				kept, parent,
				find_frame(kept, frame->function, frame->is_inlined));
		else
			place[i] = find_child(kept, parent,
					      find_frame(kept, FLAME_TREE_PRUNED, false));
	}
	for (size_t i = 0; i < t->nodes.n; i++)
		add_self(kept, place[i], t->self.at + i * t->n_columns);
	return kept;
}

/* How many nodes are at and below each. */
static uint32_t *subtree_sizes(const struct flame_tree *t)
{
	uint32_t *size = xcalloc(t->nodes.n, sizeof(*size));

	for (size_t i = t->nodes.n; i-- > 0;) {
		size[i]++;
		if (i)
			size[t->nodes.at[i].parent] += size[i];
	}
	return size;
}

void flame_tree_walk(const struct flame_tree *t, uint32_t *order, uint32_t *depth)
{
	size_t n = t->nodes.n;
	own(freep) uint32_t *size = subtree_sizes(t);
	own(freep) uint32_t *at = xcalloc(n, sizeof(*at));
	own(freep) uint32_t *free_at =
		xcalloc(n, sizeof(*free_at)); /* for its next child */

	order[0] = depth[0] = 0;
	free_at[0] = 1;
	/* Parents come first, so each knows its own place when its children ask. */
	for (size_t i = 1; i < n; i++) {
		uint32_t parent = t->nodes.at[i].parent;

		at[i] = free_at[parent];
		free_at[parent] += size[i];
		free_at[i] = at[i] + 1;
		order[at[i]] = (uint32_t)i;
		depth[at[i]] = depth[at[parent]] + 1;
	}
}
