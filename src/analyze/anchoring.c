/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchoring.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/profile_data.h"
#include "base/mem.h"
#include "base/vec.h"
#include "insn/procedure.h"

/* Windows are put together until there are no more than so many. */
#define GROUPS_MAX 64
/* Fewer tell nothing, not even how far they are off. */
#define LEAST_WINDOWS 5
#define LEAST_COUNTED 20 /* of a place, in windows ... */
#define LEAST_HITS    50 /* ... and natively */
/* Of the CPU time that was sampled, that the anchors are of. */
#define LEAST_PART 0.9
#define MOST_PART  1.1
/* Standard deviations for 19 of 20 cases, and more for few windows. */
#define SURE	     2.0
#define SURE_FOR_FEW 6.0
/* What no spread tells: places that are met make what is met slower. */
#define UNTOLD 0.03
/* Places that are off by no more than that, as they tell themselves, have a say. */
#define TELLING 0.3
/* Of what happened before anything was watched, nobody knows how often. */
#define UNWATCHED 0.5

struct block_row {
	uint32_t sym_image, group;
	uint64_t offset, size, times;
};

/* In the native time before a window. */
struct watch_row {
	uint32_t leader;
	double hits, cpu_ns;
};

struct leader {
	uint32_t sym_image;
	uint64_t offset;
	double hits, cpu_ns;
	double variance;	    /* of its rate, relative */
	double counted[GROUPS_MAX]; /* in windows */
	double all_counted;
};

struct anchoring {
	VEC(struct block_row) rows; /* by place */
	VEC(struct watch_row) watched;
	VEC(struct leader) leaders;
	uint32_t n_windows, n_groups;
	double native_ns, unwatched_ns;
};

void anchoring_free(struct anchoring *a)
{
	if (!a)
		return;
	vec_fini(&a->rows);
	vec_fini(&a->watched);
	vec_fini(&a->leaders);
	free(a);
}

void anchoring_freep(struct anchoring **a)
{
	anchoring_free(*a);
}

uint32_t anchoring_n_windows(const struct anchoring *a)
{
	return a->n_windows;
}

/* Reading. */

struct reading {
	struct anchoring *a;
	const struct profile *p;
	uint32_t source;
};

static uint32_t leader_at(struct anchoring *a, uint32_t sym_image, uint64_t offset)
{
	for (uint32_t i = 0; i < a->leaders.n; i++)
		if (a->leaders.at[i].sym_image == sym_image &&
		    a->leaders.at[i].offset == offset)
			return i;
	*vec_push(&a->leaders) =
		(struct leader){ .sym_image = sym_image, .offset = offset };
	return (uint32_t)a->leaders.n - 1;
}

static int take_row(void *ctx, const struct model_anchor *x, struct err *e)
{
	const struct reading *r = ctx;
	struct anchoring *a = r->a;
	const struct model_location *l;
	uint32_t sym_image;

	(void)e;
	if (x->location == MODEL_NONE) {
		a->native_ns += (double)x->cpu_ns;
		a->unwatched_ns += x->window ? 0 : (double)x->cpu_ns;
		return 0;
	}
	l = &recording_locations(r->p->sources[r->source].recording)[x->location];
	sym_image = profile_sym_image(r->p, r->source, l->image);
	if (x->size_bytes) {
		*vec_push(&a->rows) = (struct block_row){ sym_image, x->window, l->offset,
							  x->size_bytes, x->times };
		if (x->window >= a->n_windows && x->window < UINT32_MAX)
			a->n_windows = x->window + 1;
	} else if (x->cpu_ns) {
		*vec_push(&a->watched) =
			(struct watch_row){ leader_at(a, sym_image, l->offset),
					    (double)x->times, (double)x->cpu_ns };
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct block_row *x = a, *y = b;

	if (x->sym_image != y->sym_image)
		return x->sym_image < y->sym_image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void make_groups(struct anchoring *a)
{
	a->n_groups = a->n_windows < GROUPS_MAX ? a->n_windows : GROUPS_MAX;
	vec_each(x, &a->rows)
		x->group = (uint32_t)((uint64_t)x->group * a->n_groups / a->n_windows);
	if (a->rows.n)
		qsort(a->rows.at, a->rows.n, sizeof(*a->rows.at), by_place);
}

/* Relative, by how much the parts of the time differ; never less than few hits tell. */
static double rate_variance(const struct anchoring *a, uint32_t leader)
{
	const struct leader *l = &a->leaders.at[leader];
	double sum = 0, n = 0, rate = l->hits / l->cpu_ns;

	vec_each(x, &a->watched) {
		double off = x->hits - rate * x->cpu_ns;

		if (x->leader != leader)
			continue;
		sum += off * off;
		n++;
	}
	return n < 2 ? 1 : n / (n - 1) * sum / (l->hits * l->hits) + 0.25 / l->hits;
}

static void sum_leaders(struct anchoring *a)
{
	vec_each(x, &a->watched) {
		a->leaders.at[x->leader].hits += x->hits;
		a->leaders.at[x->leader].cpu_ns += x->cpu_ns;
	}
	for (uint32_t i = 0; i < a->leaders.n; i++) {
		struct leader *l = &a->leaders.at[i];

		vec_each(x, &a->rows) {
			if (x->sym_image != l->sym_image ||
			    l->offset - x->offset >= x->size)
				continue;
			l->counted[x->group] += (double)x->times;
			l->all_counted += (double)x->times;
		}
		l->variance = l->hits ? rate_variance(a, i) : 1;
	}
}

static bool is_enough(const struct anchoring *a, uint64_t weight_ns)
{
	double part = a->native_ns / fmax(1, (double)weight_ns);

	return a->n_windows >= LEAST_WINDOWS && part >= LEAST_PART && part <= MOST_PART;
}

int anchoring_new(const struct profile *p, size_t column, struct anchoring **ret,
		  struct err *e)
{
	own(anchoring_freep) struct anchoring *a = xcalloc(1, sizeof(*a));
	const struct profile_column *c = &p->columns.at[column];
	struct reading r = { a, p, c->source };
	int rc = recording_each_anchor(p->sources[c->source].recording, take_row, &r, e);

	*ret = NULL;
	if (rc < 0 || !is_enough(a, c->total_weight))
		return rc;
	make_groups(a);
	sum_leaders(a);
	*ret = steal(&a);
	return 0;
}

/* Finding. */

/* [block * n_groups + group] */
struct counts {
	double *of;
	uint32_t n_groups;
};

static size_t first_row(const struct anchoring *a, const struct block_row *place)
{
	size_t low = 0, high = a->rows.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&a->rows.at[middle], place) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What was executed as one may be several blocks here; what begins in one has its
 * rest only. */
static void add_row(const struct procedure *p, const struct block_row *x,
		    uint64_t address, struct counts *to)
{
	uint32_t i = procedure_block_at(p, address);

	if (i == PROCEDURE_OUTSIDE)
		return;
	i += p->blocks[i].start < address;
	for (; i < p->n_blocks && p->blocks[i].start < address + x->size; i++)
		to->of[(size_t)i * to->n_groups + x->group] += (double)x->times;
}

static void count_blocks(const struct anchoring *a, uint32_t sym_image, uint64_t delta,
			 const struct procedure *p, struct counts *to)
{
	const struct procedure_block *last = &p->blocks[p->n_blocks - 1];
	struct block_row from = { .sym_image = sym_image,
				  .offset = p->blocks[0].start - delta };

	for (size_t i = first_row(a, &from); i < a->rows.n; i++) {
		const struct block_row *x = &a->rows.at[i];

		if (x->sym_image != sym_image || x->offset + delta >= last->end)
			break;
		add_row(p, x, x->offset + delta, to);
	}
}

/* How far what is executed so often for each time of a leader is off, from window to
 * window: a relative variance.  ret_sum: of all windows. */
static double ratio_variance(const double *counts, uint32_t n, const struct leader *l,
			     double *ret_sum)
{
	double sum = 0, off = 0, each;

	for (uint32_t i = 0; i < n; i++)
		sum += counts[i];
	*ret_sum = sum;
	each = sum / l->all_counted;
	for (uint32_t i = 0; i < n; i++)
		off += pow(counts[i] - each * l->counted[i], 2);
	return sum > 0 ? off * n / (n - 1) / (sum * sum) : INFINITY;
}

static void sum_instructions(const struct procedure *p, const struct counts *c,
			     double *ret)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		for (uint32_t k = 0; k < c->n_groups; k++)
			ret[k] +=
				c->of[(size_t)i * c->n_groups + k] * p->blocks[i].n_steps;
}

/* By one leader, a function's instructions. */
struct guess {
	const struct leader *leader;
	double natively; /* how often the leader was met */
	double log_times, variance;
};

static bool make_guess(const struct anchoring *a, const struct leader *l,
		       const double *counts, struct guess *ret)
{
	double sum;

	if (l->all_counted < LEAST_COUNTED || l->hits < LEAST_HITS)
		return false;
	ret->leader = l;
	ret->natively = a->native_ns * l->hits / l->cpu_ns;
	ret->variance = ratio_variance(counts, a->n_groups, l, &sum) + l->variance;
	ret->log_times = log(sum / l->all_counted * ret->natively);
	return ret->variance < INFINITY;
}

static double sure(const struct anchoring *a, double variance)
{
	return (SURE + SURE_FOR_FEW / a->n_groups) * sqrt(variance);
}

/* Where places do not agree, they are further off than they tell: the program does other
 * things in windows than between them. */
static double disagreement(const struct anchoring *a, const struct guess *best,
			   const double *counts)
{
	double most = 0;

	vec_each(l, &a->leaders) {
		struct guess g;

		if (!make_guess(a, l, counts, &g) || g.variance > TELLING * TELLING)
			continue;
		most = fmax(most, fabs(g.log_times - best->log_times) -
					  sure(a, g.variance + best->variance));
	}
	return most;
}

static bool make_best(const struct anchoring *a, const double *counts, struct guess *ret)
{
	*ret = (struct guess){ .variance = INFINITY };
	vec_each(l, &a->leaders) {
		struct guess g;

		if (make_guess(a, l, counts, &g) && g.variance < ret->variance)
			*ret = g;
	}
	return ret->variance < INFINITY;
}

static double off_by(const struct anchoring *a, double variance)
{
	return sure(a, variance + UNTOLD * UNTOLD / (SURE * SURE)) +
	       UNWATCHED * a->unwatched_ns / a->native_ns;
}

bool anchoring_find(const struct anchoring *a, uint32_t sym_image, uint64_t delta,
		    const struct procedure *p, struct anchoring_block *ret)
{
	own(freep) double *counts =
		xcalloc((size_t)p->n_blocks * a->n_groups + 1, sizeof(*counts));
	struct counts c = { counts, a->n_groups };
	double all[GROUPS_MAX] = { 0 };
	struct guess best = { 0 };
	double apart;

	if (!p->n_blocks)
		return false;
	count_blocks(a, sym_image, delta, p, &c);
	sum_instructions(p, &c, all);
	if (!make_best(a, all, &best))
		return false;
	apart = disagreement(a, &best, all);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		double sum, variance = ratio_variance(counts + (size_t)i * a->n_groups,
						      a->n_groups, best.leader, &sum);

		if (sum <= 0)
			continue;
		ret[i].times = sum / best.leader->all_counted * best.natively + sum;
		ret[i].off = off_by(a, variance + best.leader->variance) + apart;
	}
	return true;
}
