/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_rows.h"

#include <stdlib.h>

#include "analyze/profile_data.h"

#define WINDOWS_MAX (1u << 17)
#define PLACES_MAX  64

struct reading {
	struct anchor_rows *to;
	const struct profile *p;
	uint32_t source;
};

void anchor_rows_fini(struct anchor_rows *r)
{
	vec_fini(&r->blocks);
	vec_fini(&r->places);
	vec_fini(&r->watched);
	vec_fini(&r->windows);
}

static struct anchor_window *window_at(struct anchor_rows *r, uint32_t window)
{
	while (r->windows.n <= window)
		*vec_push(&r->windows) = (struct anchor_window){ 0 };
	return &r->windows.at[window];
}

static void take_time(struct anchor_rows *r, const struct model_anchor *x)
{
	r->native_ns += (double)x->cpu_ns;
	window_at(r, x->window)->before_ns += (double)x->cpu_ns;
}

/* False: there are too many. */
static bool place_at(struct anchor_rows *r, const struct anchor_rows_place *x,
		     uint32_t *ret)
{
	for (*ret = 0; *ret < r->places.n; ++*ret)
		if (r->places.at[*ret].sym_image == x->sym_image &&
		    r->places.at[*ret].offset == x->offset)
			return true;
	if (r->places.n == PLACES_MAX)
		return false;
	*vec_push(&r->places) = *x;
	return true;
}

static void take_watched(struct anchor_rows *r, const struct model_anchor *x,
			 const struct anchor_rows_place *at)
{
	struct anchor_rows_watched row = { .window = x->window,
					   .is_near = x->is_near,
					   .hits = (double)x->times,
					   .cpu_ns = (double)x->cpu_ns };

	if (place_at(r, at, &row.place))
		*vec_push(&r->watched) = row;
}

static void take_block(struct anchor_rows *r, const struct model_anchor *x,
		       const struct anchor_rows_place *at)
{
	*vec_push(&r->blocks) = (struct anchor_rows_block){ .sym_image = at->sym_image,
							    .window = x->window,
							    .offset = at->offset,
							    .size = x->size_bytes,
							    .times = x->times };
	if (x->window >= r->n_windows)
		r->n_windows = x->window + 1;
}

static int take_row(void *ctx, const struct model_anchor *x, struct err *e)
{
	const struct reading *r = ctx;
	const struct model_location *l;
	struct anchor_rows_place at;

	(void)e;
	if (x->window >= WINDOWS_MAX)
		return 0;
	if (x->location == MODEL_NONE) {
		take_time(r->to, x);
		return 0;
	}
	l = &r->p->sources[r->source].locations[x->location];
	at = (struct anchor_rows_place){ profile_sym_image(r->p, r->source, l->image),
					 l->offset };
	if (x->size_bytes)
		take_block(r->to, x, &at);
	else if (x->cpu_ns)
		take_watched(r->to, x, &at);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct anchor_rows_block *x = a, *y = b;

	if (x->sym_image != y->sym_image)
		return x->sym_image < y->sym_image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

int anchor_rows_read(struct anchor_rows *ret, const struct profile *p, uint32_t source,
		     struct err *e)
{
	struct reading r = { ret, p, source };
	int rc = recording_each_anchor(p->sources[source].recording, take_row, &r, e);

	if (rc < 0)
		return rc;
	window_at(ret, ret->n_windows);
	if (ret->blocks.n)
		qsort(ret->blocks.at, ret->blocks.n, sizeof(*ret->blocks.at), by_place);
	return 0;
}

size_t anchor_rows_find(const struct anchor_rows *r, uint32_t sym_image, uint64_t offset)
{
	struct anchor_rows_block place = { .sym_image = sym_image, .offset = offset };
	size_t low = 0, high = r->blocks.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&r->blocks.at[middle], &place) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
