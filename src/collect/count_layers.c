/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_layers.h"

/* Of a byte at at, in the parent's file: where what is there ends; 0: it is in the own.
 */
static uint64_t end_below(const struct count_layers *l, uint64_t at)
{
	const struct {
		uint64_t off, bytes;
	} tables[] = {
		{ COUNT_FILE_IMAGES_OFF, l->there.images_bytes },
		{ COUNT_FILE_BLOCKS_OFF,
		  l->there.n_blocks * sizeof(struct count_file_block) },
		{ COUNT_FILE_PAIRS_OFF,
		  l->there.n_pairs * sizeof(struct count_file_pair) },
		{ COUNT_FILE_RETURNS_OFF,
		  l->there.n_returns * sizeof(struct count_file_return) },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (at >= tables[i].off && at - tables[i].off < tables[i].bytes)
			return tables[i].off + tables[i].bytes;
	return 0;
}

static bool next_of_layers(void *ctx, uint64_t at, struct count_extent *ret)
{
	const struct count_layers *l = ctx;
	uint64_t end = end_below(l, at);
	const struct count_window *w = end ? l->below : l->own;

	if (!w->next(w->ctx, at, ret))
		return false;
	if (end && ret->to > end)
		ret->to = end;
	return ret->to > ret->from;
}

static bool read_layers(void *ctx, uint64_t off, void *to, size_t n)
{
	const struct count_layers *l = ctx;
	uint64_t end = end_below(l, off);
	const struct count_window *below = end ? l->below : NULL;
	size_t n_below = !end ? 0 : n < end - off ? n : (size_t)(end - off);

	if (n_below && !below->read(below->ctx, off, to, n_below))
		return false;
	return n == n_below || l->own->read(l->own->ctx, off + n_below,
					    (uint8_t *)to + n_below, n - n_below);
}

/* As long as the tables of all files are. */
static bool is_possible(const struct count_file_base *b)
{
	return b->images_bytes <= COUNT_FILE_IMAGES_BYTES &&
	       b->n_blocks <= COUNT_FILE_BLOCKS_MAX &&
	       b->n_pairs <= COUNT_FILE_PAIRS_MAX &&
	       b->n_returns <= COUNT_FILE_RETURNS_MAX;
}

static bool has_all(const struct count_file_base *b)
{
	return !b->images_bytes && !b->n_blocks && !b->n_pairs && !b->n_returns;
}

bool count_layers_over(const struct count_window *own, const struct count_window *below,
		       struct count_layers *l, struct count_window *ret)
{
	struct count_file_header h;

	*ret = *own;
	*l = (struct count_layers){ .own = own, .below = below };
	if (own->size < sizeof(h) || !own->read(own->ctx, 0, &h, sizeof(h)) ||
	    h.magic != COUNT_FILE_MAGIC || has_all(&h.base))
		return true;
	if (!below || !is_possible(&h.base))
		return false;
	l->there = h.base;
	ret->ctx = l;
	ret->next = next_of_layers;
	ret->read = read_layers;
	return true;
}
