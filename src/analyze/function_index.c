/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/function_index.h"

#include <stdlib.h>

#include "analyze/anchoring.h"
#include "analyze/code_heat.h"
#include "analyze/metrics.h"
#include "analyze/profile_data.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"

/* Items by function: those of function f are from first[f] up to first[f + 1]. */
struct by_function {
	uint32_t *first, *items;
};

struct delta {
	uint64_t delta;
	bool is_known;
};

struct indexed_place {
	uint32_t sym_image;
	uint64_t offset;
};

struct indexed_direction {
	struct indexed_place at;
	struct model_direction direction;
};

struct indexed_access {
	struct indexed_place at;
	struct model_access access;
};

struct function_index {
	const struct profile *p;
	VEC(struct listing_row) rows; /* in no order */
	VEC(uint32_t) function_of_row;
	struct listing_row *ordered; /* by function and address */
	uint32_t *first_row;	     /* [function] */
	struct metrics values;
	struct delta *deltas; /* [function] */
	struct by_function ways;
	/* By image and offset. */
	VEC(struct indexed_direction) directions;
	VEC(struct indexed_access) accesses;
	struct anchoring *anchoring;
	struct code_heat heat;
};

void function_index_free(struct function_index *x)
{
	if (!x)
		return;
	vec_fini(&x->rows);
	vec_fini(&x->function_of_row);
	vec_fini(&x->directions);
	vec_fini(&x->accesses);
	metrics_fini(&x->values);
	anchoring_free(x->anchoring);
	code_heat_fini(&x->heat);
	free(x->ordered);
	free(x->first_row);
	free(x->deltas);
	free(x->ways.first);
	free(x->ways.items);
	free(x);
}

void function_index_freep(struct function_index **x)
{
	function_index_free(*x);
}

void function_index_take_anchoring(struct function_index *x, struct anchoring *a)
{
	anchoring_free(x->anchoring);
	x->anchoring = a;
}

const struct anchoring *function_index_anchoring(const struct function_index *x)
{
	return x->anchoring;
}

const struct code_heat *function_index_heat(const struct function_index *x)
{
	return &x->heat;
}

/* function_of[i]: MODEL_NONE is left out. */
static struct by_function order_by_function(const uint32_t *function_of, size_t n,
					    size_t n_functions)
{
	struct by_function b = { .first = xcalloc(n_functions + 2, sizeof(*b.first)),
				 .items = xcalloc(n + 1, sizeof(*b.items)) };

	for (size_t i = 0; i < n; i++)
		if (function_of[i] != MODEL_NONE)
			b.first[function_of[i] + 2]++;
	for (size_t f = 2; f < n_functions + 2; f++)
		b.first[f] += b.first[f - 1];
	for (size_t i = 0; i < n; i++)
		if (function_of[i] != MODEL_NONE)
			b.items[b.first[function_of[i] + 1]++] = (uint32_t)i;
	return b;
}

/* Instructions. */

/* The first frame of a location is that of the function whose code it is: what is inlined
 * there belongs to the same instruction. */
static void find_row(struct function_index *x, uint32_t source, uint32_t location,
		     struct map *row_at, uint32_t *row_of_frame)
{
	const struct input *s = &x->p->sources[source];
	const struct profile_frame *f = &x->p->frames.at[s->first_frame[location]];
	const struct profile_function *of = &x->p->functions.at[f->function];
	uint64_t *row;
	bool is_new;

	if (profile_sym_image(x->p, source, s->locations[location].image) !=
	    of->sym_image)
		return;
	row = map_slot(row_at,
		       hash_pair((uint64_t)f->function << 1 | f->is_return, f->address),
		       &is_new);
	if (is_new) {
		*row = x->rows.n;
		*vec_push(&x->rows) = (struct listing_row){ .address = f->address,
							    .is_return = f->is_return };
		*vec_push(&x->function_of_row) = f->function;
	}
	x->deltas[f->function] =
		(struct delta){ f->address - s->locations[location].offset, true };
	for (uint32_t i = 0; i < s->n_frames[location]; i++)
		row_of_frame[s->first_frame[location] + i] = (uint32_t)*row;
}

static int by_address(const void *a, const void *b)
{
	const struct listing_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (int)x->is_return - (int)y->is_return;
}

static void order_rows(struct function_index *x)
{
	size_t n_functions = x->p->functions.n, n = x->rows.n;
	struct by_function b = order_by_function(x->function_of_row.at, n, n_functions);

	x->ordered = xcalloc(n + 1, sizeof(*x->ordered));
	x->first_row = b.first;
	for (size_t i = 0; i < n; i++) {
		size_t at = b.items[i] * x->values.n_columns;

		x->ordered[i] = x->rows.at[b.items[i]];
		x->ordered[i].function = MODEL_NONE;
		x->ordered[i].exclusive = x->values.exclusive + at;
	}
	for (size_t f = 0; f < n_functions; f++)
		if (b.first[f + 1] > b.first[f])
			qsort(x->ordered + b.first[f], b.first[f + 1] - b.first[f],
			      sizeof(*x->ordered), by_address);
	free(b.items);
}

/* The row of a stack's innermost frame; MODEL_NONE: it has none. */
static uint32_t row_of_stack(const struct input *s, uint32_t stack,
			     const uint32_t *row_of_frame)
{
	for (; stack; stack = s->stacks[stack].parent) {
		uint32_t n, first = input_frames(s, stack, &n);

		if (n)
			return row_of_frame[first + n - 1];
	}
	return MODEL_NONE;
}

/* What metrics_sum() makes of it, without the inclusive values, which take longest. */
static void sum_rows(struct function_index *x, const uint32_t *row_of_frame)
{
	size_t n_columns = x->p->columns.n, n = x->rows.n * n_columns + 1;

	x->values = (struct metrics){
		.n_rows = x->rows.n,
		.n_columns = n_columns,
		.exclusive = xcalloc(n, sizeof(uint64_t)),
		.exclusive_counts = xcalloc(n, sizeof(uint64_t)),
	};
	for (uint32_t source = 0; source < x->p->n_sources; source++) {
		const struct input *s = &x->p->sources[source];

		for (uint32_t i = 0; i < s->n_stacks; i++) {
			const uint64_t *w = input_weights(s, i);
			uint32_t row = w ? row_of_stack(s, i, row_of_frame) : MODEL_NONE;
			size_t at = (size_t)row * n_columns + s->first_column;

			for (uint32_t c = 0; row != MODEL_NONE && c < s->n_columns; c++) {
				x->values.exclusive[at + c] += w[c];
				x->values.exclusive_counts[at + c] +=
					input_counts(s, i)[c];
			}
		}
	}
}

static void index_rows(struct function_index *x)
{
	own(freep) uint32_t *row_of_frame =
		xcalloc(x->p->frames.n + 1, sizeof(*row_of_frame));
	own(map_fini) struct map row_at = { 0 };

	x->deltas = xcalloc(x->p->functions.n + 1, sizeof(*x->deltas));
	for (size_t i = 0; i < x->p->frames.n; i++)
		row_of_frame[i] = MODEL_NONE;
	for (uint32_t source = 0; source < x->p->n_sources; source++) {
		const struct input *s = &x->p->sources[source];

		for (uint32_t k = 0; k < s->n_locations; k++)
			if (s->n_frames[k])
				find_row(x, source, k, &row_at, row_of_frame);
	}
	sum_rows(x, row_of_frame);
	order_rows(x);
}

void function_index_listing(const struct function_index *x, uint32_t function,
			    struct listing *ret)
{
	uint32_t first = x->first_row[function];

	*ret = (struct listing){
		.n_columns = x->p->columns.n,
		.instructions = { .rows = x->ordered + first,
				  .n = x->first_row[function + 1] - first },
		.code_delta = x->deltas[function].delta,
		.has_code_delta = x->deltas[function].is_known,
	};
}

uint64_t function_index_samples(const struct function_index *x, uint32_t function,
				size_t column)
{
	uint64_t sum = 0;

	for (uint32_t i = x->first_row[function]; i < x->first_row[function + 1]; i++)
		sum += x->values.exclusive_counts[(size_t)(x->ordered[i].exclusive -
							   x->values.exclusive) +
						  column];
	return sum;
}

/* Ways. */

static int index_ways(struct function_index *x, uint32_t source, struct err *e)
{
	struct input *s = source == MODEL_NONE ? NULL : &x->p->sources[source];
	const struct block_graph *g = NULL;
	int rc = s ? input_block_graph(s, &g, e) : 0;
	size_t n = g ? g->ways.n : 0;
	own(freep) uint32_t *function_of = xcalloc(n + 1, sizeof(*function_of));

	if (rc < 0)
		return rc;

	for (size_t i = 0; i < n; i++) {
		uint32_t from = g->ways.at[i].from, location;

		function_of[i] = MODEL_NONE;
		if (from == MODEL_NONE)
			continue;
		location = g->blocks.at[from].location;
		if (s->n_frames[location])
			function_of[i] =
				x->p->frames.at[s->first_frame[location]].function;
	}
	x->ways = order_by_function(function_of, n, x->p->functions.n);
	return 0;
}

const uint32_t *function_index_ways(const struct function_index *x, uint32_t function,
				    size_t *ret_n)
{
	*ret_n = x->ways.first[function + 1] - x->ways.first[function];
	return x->ways.items + x->ways.first[function];
}

/* Directions and accesses. */

struct collecting {
	struct function_index *x;
	uint32_t source;
};

static struct indexed_place place_of(const struct collecting *c, uint32_t location)
{
	const struct recording *r = c->x->p->sources[c->source].recording;
	const struct model_location *l = &recording_locations(r)[location];

	return (struct indexed_place){ profile_sym_image(c->x->p, c->source, l->image),
				       l->offset };
}

static int collect_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	const struct collecting *c = ctx;

	(void)e;
	*vec_push(&c->x->directions) =
		(struct indexed_direction){ place_of(c, d->location), *d };
	return 0;
}

static int collect_access(void *ctx, const struct model_access *a, struct err *e)
{
	const struct collecting *c = ctx;

	(void)e;
	*vec_push(&c->x->accesses) =
		(struct indexed_access){ place_of(c, a->location), *a };
	return 0;
}

/* Of what begins with a place. */
static int by_place(const void *a, const void *b)
{
	const struct indexed_place *x = a, *y = b;

	if (x->sym_image != y->sym_image)
		return x->sym_image < y->sym_image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int index_places(struct function_index *x, uint32_t source, struct err *e)
{
	struct collecting c = { x, source };
	const struct recording *r;
	int rc;

	if (source == MODEL_NONE)
		return 0;
	r = x->p->sources[source].recording;
	rc = recording_each_direction(r, collect_direction, &c, e);
	if (rc == 0)
		rc = recording_each_access(r, collect_access, &c, e);
	if (x->directions.n)
		qsort(x->directions.at, x->directions.n, sizeof(*x->directions.at),
		      by_place);
	if (x->accesses.n)
		qsort(x->accesses.at, x->accesses.n, sizeof(*x->accesses.at), by_place);
	return rc;
}

/* The first of n items, of size bytes each, that is not before the place. */
static size_t first_at(const void *items, size_t n, size_t size,
		       const struct indexed_place *place)
{
	return search_split(n, i, by_place((const char *)items + i * size, place) < 0);
}

int function_index_each_direction(const struct function_index *x, uint32_t sym_image,
				  uint64_t from_off, uint64_t end_off,
				  recording_direction_fn *fn, void *ctx, struct err *e)
{
	struct indexed_place from = { sym_image, from_off }, end = { sym_image, end_off };
	size_t i = first_at(x->directions.at, x->directions.n, sizeof(*x->directions.at),
			    &from);
	int rc = 0;

	for (; i < x->directions.n && rc == 0; i++) {
		if (by_place(&x->directions.at[i], &end) >= 0)
			break;
		rc = fn(ctx, &x->directions.at[i].direction, e);
	}
	return rc;
}

int function_index_each_access(const struct function_index *x, uint32_t sym_image,
			       uint64_t from_off, uint64_t end_off,
			       recording_access_fn *fn, void *ctx, struct err *e)
{
	struct indexed_place from = { sym_image, from_off }, end = { sym_image, end_off };
	size_t i =
		first_at(x->accesses.at, x->accesses.n, sizeof(*x->accesses.at), &from);
	int rc = 0;

	for (; i < x->accesses.n && rc == 0; i++) {
		if (by_place(&x->accesses.at[i], &end) >= 0)
			break;
		rc = fn(ctx, &x->accesses.at[i].access, e);
	}
	return rc;
}

int function_index_new(const struct profile *p, uint32_t time_source,
		       uint32_t count_source, struct function_index **ret, struct err *e)
{
	own(function_index_freep) struct function_index *x = xcalloc(1, sizeof(*x));
	int rc;

	x->p = p;
	code_heat_init(&x->heat, p);
	index_rows(x);
	rc = index_ways(x, count_source, e);
	if (rc == 0)
		rc = index_places(x, time_source, e);
	if (rc < 0)
		return rc;
	*ret = steal(&x);
	return 0;
}
