/* SPDX-License-Identifier: Apache-2.0 */
#include "export/flame_tree.h"

#include "analyze/calltree.h"
#include "base/mem.h"

const double flame_tree_shares[] = { 0.01,   0.005,  0.002,   0.001, 0.0005,
				     0.0002, 0.0001, 0.00005, 0 };
const size_t flame_tree_n_shares =
	sizeof(flame_tree_shares) / sizeof(flame_tree_shares[0]);

void flame_tree_free(struct flame_tree *t)
{
	if (!t)
		return;
	vec_fini(&t->nodes);
	vec_fini(&t->frames);
	vec_fini(&t->self);
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

static uint32_t add_node(struct flame_tree *t, uint32_t parent, uint32_t frame,
			 const uint64_t *self)
{
	*vec_push(&t->nodes) = (struct flame_node){ parent, frame };
	for (size_t i = 0; i < t->n_columns; i++)
		*vec_push(&t->self) = self ? self[i] : 0;
	return (uint32_t)t->nodes.n - 1;
}

/* The tree's own columns of what is indexed by a calltree's node; NULL: all are 0. */
static const uint64_t *columns_of(const struct flame_tree *t, const struct calltree *from,
				  const uint64_t *values, size_t node)
{
	values += node * from->n_columns + t->first_column;
	for (size_t i = 0; i < t->n_columns; i++)
		if (values[i])
			return values;
	return NULL;
}

static void add_root(struct flame_tree *t, const struct calltree *from)
{
	const uint64_t *nowhere = columns_of(t, from, from->exclusive, 0);

	vec_push(&t->frames);
	add_node(t, 0, 0, NULL);
	if (nowhere)
		add_node(t, 0, find_frame(t, FLAME_TREE_NOWHERE, false), nowhere);
}

static void add_nodes(struct flame_tree *t, const struct calltree *from)
{
	own(freep) uint32_t *node_of = xcalloc(from->n_nodes, sizeof(*node_of));

	add_root(t, from);
	for (size_t i = 0; i < from->n_nodes; i++) {
		const struct calltree_node *n = &from->nodes[i];
		const uint64_t *small = columns_of(t, from, from->hidden, i);

		if (i && columns_of(t, from, from->inclusive, i))
			node_of[i] = add_node(t, node_of[n->parent],
					      find_frame(t, n->function, n->is_inlined),
					      columns_of(t, from, from->exclusive, i));
		if (!small)
			continue;
		add_node(t, node_of[i], find_frame(t, FLAME_TREE_SMALL, false), small);
	}
}

static bool has_hidden(const struct calltree *from)
{
	for (size_t i = 0; i < from->n_nodes; i++)
		if (from->nodes[i].n_hidden)
			return true;
	return false;
}

struct flame_tree *flame_tree_new(const struct profile *p, size_t first, size_t n,
				  double share)
{
	struct calltree_options o = { .function = MODEL_NONE,
				      .column = first,
				      .min_share = share,
				      .keep_recursion = true };
	struct flame_tree *t = xcalloc(1, sizeof(*t));
	own(calltree_fini) struct calltree from;

	t->first_column = first;
	t->n_columns = n;
	calltree_build(&from, p, &o);
	add_nodes(t, &from);
	t->share = has_hidden(&from) ? share : 0;
	return t;
}

struct flame_tree *flame_tree_fit(const struct profile *p, size_t first, size_t n,
				  size_t max_nodes)
{
	struct flame_tree *best = NULL;

	for (size_t i = 0; i < flame_tree_n_shares; i++) {
		own(flame_tree_freep) struct flame_tree *t =
			flame_tree_new(p, first, n, flame_tree_shares[i]);

		if (best && t->nodes.n > max_nodes)
			break;
		flame_tree_free(best);
		best = steal(&t);
		if (best->share == 0)
			break;
	}
	return best;
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
