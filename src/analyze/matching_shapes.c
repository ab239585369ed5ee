/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyze/comparison.h"
#include "analyze/fingerprint.h"
#include "analyze/matching_data.h"
#include "analyze/metrics.h"
#include "analyze/walk.h"
#include "base/mem.h"

#define LEAST_SHARE    0.001 /* of a recording: lighter functions are left alone */
#define LEAST_SAMPLES  8     /* of each recording that has it */
#define MANY_FUNCTIONS 300   /* are looked at: the heaviest */
#define MANY_BYTES     65536 /* of a function's code */
#define SAME_AROUND    0.6
#define LIKE_SIZE      0.6 /* the smaller by the larger, where there is no code */
#define CLEARLY	       0.1 /* better than any other */
#define MANY_ROUNDS    6   /* each may make others known */

struct shape {
	uint32_t function;
	double weight;
	struct fingerprint code;
	VEC(uint64_t) around; /* callers and callees, sorted */
};

struct shapes {
	VEC(struct shape) all;
};

static void shapes_fini(struct shapes *s)
{
	vec_each(shape, &s->all) {
		fingerprint_fini(&shape->code);
		vec_fini(&shape->around);
	}
	vec_fini(&s->all);
}

/* Its largest share of a recording's events, callees included, where it has so many
 * samples that others would have some, too, if it were there. */
static double share_of(const struct profile *p, const struct metrics *m, uint32_t f)
{
	double most = 0;

	for (size_t c = 0; c < m->n_columns; c++) {
		const struct profile_column *column = &p->columns.at[c];
		double value = (double)m->inclusive[f * m->n_columns + c];
		double each = comparison_sample_weight(column);
		double share = value / (double)column->total_weight;

		if (value > 0 && value < LEAST_SAMPLES * each)
			return 0;
		if (value > 0 && share > most)
			most = share;
	}
	return most;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->function < y->function ? -1 : 1;
}

static bool is_candidate(const struct matching *m, uint32_t function)
{
	const struct profile_function *f = &m->p->functions.at[function];

	return matching_is_open(m, function) && f->kind != IMAGE_TRUNCATED &&
	       f->kind != IMAGE_UNKNOWN && f->kind != IMAGE_LABEL &&
	       (f->start || f->size);
}

static void find_candidates(const struct matching *m, struct shapes *ret)
{
	struct metrics sums;

	metrics_sum(&sums, m->p, NULL, 0);
	for (uint32_t i = 0; i < m->p->functions.n; i++) {
		double share = share_of(m->p, &sums, i);

		if (share >= LEAST_SHARE && is_candidate(m, i))
			*vec_push(&ret->all) =
				(struct shape){ .function = i, .weight = share };
	}
	metrics_fini(&sums);
	if (ret->all.n)
		qsort(ret->all.at, ret->all.n, sizeof(ret->all.at[0]), heaviest_first);
	while (ret->all.n > MANY_FUNCTIONS)
		ret->all.n--;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nothing is taken where the code is not at hand. */
static void read_code(const struct matching *m, struct shape *shape)
{
	const struct profile_function *f = &m->p->functions.at[shape->function];
	struct symbolizer *s = m->p->symbolizer;
	own(buf_fini) struct buf code = { 0 };

	if (f->size && f->size <= MANY_BYTES &&
	    symbolizer_code(s, f->sym_image, f->start, f->size, &code, NULL) == 0)
		fingerprint_take(&shape->code, symbolizer_machine(s, f->sym_image),
				 code.data, code.size);
}

/* Whoever is not matched yet is just somebody: later rounds know more. */
#define SOMEBODY UINT32_MAX

static uint32_t identity(const struct matching *m, uint32_t function)
{
	return matching_is_open(m, function) ? SOMEBODY : function;
}

static bool is_of_kernel(const struct matching *m, uint32_t function)
{
	uint8_t kind = m->p->functions.at[function].kind;

	return kind == IMAGE_KERNEL || kind == IMAGE_MODULE;
}

/* Who stands beside a function on the stacks: 1 a caller, 2 a callee. */
static void add_neighbour(const struct matching *m, struct shapes *s,
			  const struct map *shape_of, uint32_t function,
			  uint32_t neighbour, unsigned side)
{
	const uint64_t *at = map_find(shape_of, function);

	/* What interrupts a program, and its page faults, are anywhere. */
	if (is_of_kernel(m, neighbour) && !is_of_kernel(m, function))
		return;
	if (at && neighbour != function)
		*vec_push(&s->all.at[*at].around) =
			(uint64_t)identity(m, neighbour) << 2 | side;
}

static void walk_source(const struct matching *m, const struct input *s,
			struct shapes *to, const struct map *shape_of)
{
	struct walk w = walk_over(s);
	VEC(uint32_t) path = { 0 };

	for (enum walk_step step; (step = walk_next(&w)) != WALK_END;) {
		uint32_t n, first = input_frames(s, w.stack, &n);

		for (uint32_t i = 0; step == WALK_ENTER && i < n; i++) {
			uint32_t own_id = m->p->frames.at[first + i].function;
			uint32_t f = matching_root(m, own_id);

			if (path.n) {
				uint32_t caller = path.at[path.n - 1];

				add_neighbour(m, to, shape_of, f, caller, 1);
				add_neighbour(m, to, shape_of, caller, f, 2);
			}
			*vec_push(&path) = f;
		}
		if (step == WALK_LEAVE)
			path.n -= n;
	}
	vec_fini(&path);
}

static void sort_around(struct shape *shape)
{
	size_t n = 0;

	if (!shape->around.n)
		return;
	qsort(shape->around.at, shape->around.n, sizeof(uint64_t), ascending);
	for (size_t i = 1; i < shape->around.n; i++)
		if (shape->around.at[i] != shape->around.at[n])
			shape->around.at[++n] = shape->around.at[i];
	shape->around.n = n + 1;
}

static void find_surroundings(const struct matching *m, struct shapes *s)
{
	own(map_fini) struct map shape_of = { 0 };

	for (size_t i = 0; i < s->all.n; i++) {
		*map_slot(&shape_of, s->all.at[i].function, NULL) = i;
		vec_clear(&s->all.at[i].around);
	}
	for (size_t i = 0; i < m->n_sources; i++)
		walk_source(m, &m->p->sources[i], s, &shape_of);
	vec_each(shape, &s->all)
		sort_around(shape);
}

struct likeness {
	struct fingerprint_likeness code;
	double around, size;
	size_t n_known; /* callers and callees of both that are matched */
};

/* Of those around both, how many are known. */
static size_t count_acquaintances(const struct shape *a, const struct shape *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->around.n; i++)
		for (size_t k = 0; k < b->around.n; k++)
			n += a->around.at[i] == b->around.at[k] &&
			     a->around.at[i] >> 2 != SOMEBODY;
	return n;
}

static struct likeness compare(const struct matching *m, const struct shape *a,
			       const struct shape *b)
{
	double x = (double)m->p->functions.at[a->function].size;
	double y = (double)m->p->functions.at[b->function].size;

	return (struct likeness){
		.code = fingerprint_compare(&a->code, &b->code),
		.around = fingerprint_share(a->around.at, a->around.n, b->around.at,
					    b->around.n, NULL),
		.n_known = count_acquaintances(a, b),
		.size = x && y ? (x < y ? x / y : y / x) : 0,
	};
}

static bool is_around(const struct likeness *l)
{
	return l->n_known && l->around >= SAME_AROUND;
}

static bool is_enough(const struct likeness *l)
{
	if (l->code.has_code)
		return l->code.is_same || (l->code.is_like && is_around(l));
	return is_around(l) && l->n_known >= 2 && l->size >= LIKE_SIZE;
}

static double score(const struct likeness *l)
{
	double code = l->code.runs + l->code.numbers;

	return (l->code.has_code ? code : l->size) + l->around;
}

/* Two functions of one image, one in each build, neither of which the other has. */
static bool may_be_one(const struct matching *m, uint32_t a, uint32_t b)
{
	return matching_image_root(m, m->image_of[a]) ==
		       matching_image_root(m, m->image_of[b]) &&
	       matching_may_be_one(m, a, b) && !matching_is_in_build(m, a, b) &&
	       !matching_is_in_build(m, b, a);
}

/* The only function that is like this one, NULL when a second is nearly as much. */
static struct shape *best_of(const struct matching *m, struct shapes *s,
			     const struct shape *of)
{
	struct shape *best = NULL;
	double most = 0, second = 0;

	for (size_t i = 0; i < s->all.n; i++) {
		struct shape *other = &s->all.at[i];
		struct likeness l = compare(m, of, other);

		if (other == of || !matching_is_open(m, other->function) ||
		    !is_enough(&l) || !may_be_one(m, of->function, other->function))
			continue;
		if (score(&l) > most) {
			second = most;
			most = score(&l);
			best = other;
		} else if (score(&l) > second) {
			second = score(&l);
		}
	}
	return most >= second + CLEARLY ? best : NULL;
}

/* "92 % of the code, 80 % of the numbers in it and all callers and callees are the same"
 */
static void put_reason(const struct likeness *l, struct buf *ret)
{
	if (l->code.has_code)
		buf_printf(ret, "%.0f %% of the code", 100 * l->code.runs);
	if (l->code.n_numbers)
		buf_printf(ret, ", %.0f %% of the numbers in it", 100 * l->code.numbers);
	if (is_around(l))
		buf_printf(ret, "%s%.0f %% of the callers and callees",
			   ret->size ? ", " : "", 100 * l->around);
	if (!l->code.has_code)
		buf_printf(ret, " and %.0f %% of the size", 100 * l->size);
	buf_puts(ret, " are the same");
}

static void unite(struct matching *m, const struct shape *is, const struct shape *shape)
{
	struct likeness l = compare(m, is, shape);
	own(buf_fini) struct buf how = { 0 };

	put_reason(&l, &how);
	matching_unite(m, shape->function, is->function, buf_str(&how), true);
}

static bool is_before(const struct matching *m, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->is_in[a * m->n_sources + i] != m->is_in[b * m->n_sources + i])
			return m->is_in[a * m->n_sources + i];
	return a < b;
}

/* Returns whether any were united. */
static bool unite_round(struct matching *m, struct shapes *s)
{
	bool any = false;

	for (size_t i = 0; i < s->all.n; i++) {
		struct shape *a = &s->all.at[i], *b;

		if (!matching_is_open(m, a->function) || !(b = best_of(m, s, a)) ||
		    best_of(m, s, b) != a)
			continue;
		any = true;
		if (is_before(m, a->function, b->function))
			unite(m, a, b);
		else
			unite(m, b, a);
	}
	return any;
}

void matching_shapes_unite(struct matching *m)
{
	own(shapes_fini) struct shapes s = { 0 };

	find_candidates(m, &s);
	if (s.all.n < 2)
		return;
	vec_each(shape, &s.all)
		read_code(m, shape);
	for (unsigned i = 0; i < MANY_ROUNDS; i++) {
		find_surroundings(m, &s);
		if (!unite_round(m, &s))
			break;
	}
}
