/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchoring.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchor_windows.h"
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
/* What no spread tells: places that are met make what is met slower, or processors are
 * not as fast near windows as elsewhere. */
#define UNTOLD	    0.03
#define UNTOLD_NEAR 0.05
/* Places that are off by no more than that, as they tell themselves, have a say. */
#define TELLING 0.3
/* Of what happened before anything was watched, nobody knows how often; if windows do not
 * stand for it. */
#define UNWATCHED 0.5
/* Of the native time; a leader that was watched for less was so in turns. */
#define ALWAYS_PART 0.3
#define WINDOWS_MAX (1u << 17)
#define LEADERS_MAX 64

struct block_row {
	uint32_t sym_image, window;
	uint64_t offset, size, times;
};

/* In the native time before a window, or in a moment near it. */
struct watch_row {
	uint32_t leader, window;
	bool is_near;
	double hits, cpu_ns;
};

/* Of a leader, in one window, near it, and between the one before and it. */
struct leader_window {
	double met, near_hits, near_ns, watched_ns;
};

struct leader {
	uint32_t sym_image;
	uint64_t offset;
	struct leader_window *windows; /* and one behind the last */
	double hits, cpu_ns;
	double natively;	    /* in all, as far as that can be told */
	double variance;	    /* of that, relative */
	double counted[GROUPS_MAX]; /* in windows, by what these stand for */
	double all_counted;
	double met; /* in windows */
};

struct anchoring {
	VEC(struct block_row) rows; /* by place */
	VEC(struct watch_row) watched;
	VEC(struct leader) leaders;
	VEC(struct anchor_window) windows;
	uint32_t n_windows, n_groups;
	double native_ns;
	bool is_weighed; /* it is known what windows stand for: the last leader is time */
};

void anchoring_free(struct anchoring *a)
{
	if (!a)
		return;
	vec_fini(&a->rows);
	vec_fini(&a->watched);
	vec_each(l, &a->leaders)
		free(l->windows);
	vec_fini(&a->leaders);
	vec_fini(&a->windows);
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

static struct leader *leader_at(struct anchoring *a, uint32_t sym_image, uint64_t offset)
{
	vec_each(l, &a->leaders)
		if (l->sym_image == sym_image && l->offset == offset)
			return l;
	if (a->leaders.n == LEADERS_MAX)
		return NULL;
	*vec_push(&a->leaders) =
		(struct leader){ .sym_image = sym_image, .offset = offset };
	return &a->leaders.at[a->leaders.n - 1];
}

static struct anchor_window *window_at(struct anchoring *a, uint32_t window)
{
	while (a->windows.n <= window)
		*vec_push(&a->windows) = (struct anchor_window){ 0 };
	return &a->windows.at[window];
}

static void take_time(struct anchoring *a, const struct model_anchor *x)
{
	a->native_ns += (double)x->cpu_ns;
	window_at(a, x->window)->before_ns += (double)x->cpu_ns;
}

static void take_watched(struct anchoring *a, const struct model_anchor *x,
			 uint32_t sym_image, uint64_t offset)
{
	struct leader *l = leader_at(a, sym_image, offset);

	if (l)
		*vec_push(&a->watched) =
			(struct watch_row){ .leader = (uint32_t)(l - a->leaders.at),
					    .window = x->window,
					    .is_near = x->is_near,
					    .hits = (double)x->times,
					    .cpu_ns = (double)x->cpu_ns };
}

static int take_row(void *ctx, const struct model_anchor *x, struct err *e)
{
	const struct reading *r = ctx;
	struct anchoring *a = r->a;
	const struct model_location *l;
	uint32_t sym_image;

	(void)e;
	if (x->window >= WINDOWS_MAX)
		return 0;
	if (x->location == MODEL_NONE) {
		take_time(a, x);
		return 0;
	}
	l = &recording_locations(r->p->sources[r->source].recording)[x->location];
	sym_image = profile_sym_image(r->p, r->source, l->image);
	if (x->size_bytes) {
		*vec_push(&a->rows) = (struct block_row){ sym_image, x->window, l->offset,
							  x->size_bytes, x->times };
		if (x->window >= a->n_windows)
			a->n_windows = x->window + 1;
	} else if (x->cpu_ns) {
		take_watched(a, x, sym_image, l->offset);
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

static bool is_enough(const struct anchoring *a, uint64_t weight_ns)
{
	double part = a->native_ns / fmax(1, (double)weight_ns);

	return a->n_windows >= LEAST_WINDOWS && part >= LEAST_PART && part <= MOST_PART;
}

/* Putting together. */

static void sum_watched(struct anchoring *a)
{
	vec_each(x, &a->watched) {
		struct leader *l = &a->leaders.at[x->leader];
		uint32_t at = x->window < a->n_windows ? x->window : a->n_windows;
		struct leader_window *w = &l->windows[at];

		if (x->is_near) {
			w->near_hits += x->hits;
			w->near_ns += x->cpu_ns;
			continue;
		}
		w->watched_ns += x->cpu_ns;
		l->hits += x->hits;
		l->cpu_ns += x->cpu_ns;
	}
}

static void sum_rows(struct anchoring *a)
{
	vec_each(x, &a->rows) {
		a->windows.at[x->window].code += (double)x->times * (double)x->size;
		vec_each(l, &a->leaders)
			if (x->sym_image == l->sym_image &&
			    l->offset - x->offset < x->size)
				l->windows[x->window].met += (double)x->times;
	}
}

static void weigh_windows(struct anchoring *a)
{
	for (uint32_t i = 0; i < a->n_windows; i++) {
		struct anchor_window *w = &a->windows.at[i];

		w->weight = 1;
		vec_each(l, &a->leaders) {
			const struct leader_window *x = &l->windows[i];

			if (x->near_ns <= 0)
				continue;
			w->met += x->met;
			w->near_hits += x->near_hits;
			w->near_rate += x->near_hits / x->near_ns;
		}
	}
	a->is_weighed = anchor_windows_weigh(a->windows.at, a->n_windows,
					     a->windows.at[a->n_windows].before_ns);
}

static uint32_t group_of(const struct anchoring *a, uint32_t window)
{
	return (uint32_t)((uint64_t)window * a->n_groups / a->n_windows);
}

static void sum_windows(struct anchoring *a)
{
	for (uint32_t i = 0; i < a->n_windows; i++)
		vec_each(l, &a->leaders) {
			double times = l->windows[i].met * a->windows.at[i].weight;

			l->met += l->windows[i].met;
			l->counted[group_of(a, i)] += times;
			l->all_counted += times;
		}
}

/* What stands for all of the time. */
static void add_time(struct anchoring *a)
{
	struct leader time = { .sym_image = MODEL_NONE,
			       .hits = a->native_ns,
			       .cpu_ns = a->native_ns,
			       .natively = a->native_ns,
			       .met = a->native_ns };

	for (uint32_t i = 0; i < a->n_windows; i++) {
		time.counted[group_of(a, i)] += a->windows.at[i].stands_ns;
		time.all_counted += a->windows.at[i].stands_ns;
	}
	*vec_push(&a->leaders) = time;
}

/* Scale. */

/* How many times what windows have is as often as a leader and time: of each according to
 * the slope, 1 being the leader alone. */
struct scale {
	const struct leader *leader, *time; /* time: NULL when windows stand for none */
	double slope;
};

/* The part that a group of windows should have of what is executed in all of them. */
static double part_of(const struct scale *s, uint32_t group)
{
	double part = s->leader->counted[group] / s->leader->all_counted;

	if (!s->time)
		return part;
	return s->slope * part +
	       (1 - s->slope) * s->time->counted[group] / s->time->all_counted;
}

static double log_scale(const struct scale *s)
{
	double by = log(s->leader->natively / s->leader->all_counted);

	if (!s->time)
		return by;
	return s->slope * by +
	       (1 - s->slope) * log(s->time->natively / s->time->all_counted);
}

/* How far what is executed goes with the scale is off, from window to window: a relative
 * variance.  ret_sum: of all windows. */
static double variance_of(const double *counts, uint32_t n, const struct scale *s,
			  double *ret_sum)
{
	double sum = 0, off = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += counts[i];
	*ret_sum = sum;
	for (uint32_t i = 0; i < n; i++)
		off += pow(counts[i] / sum - part_of(s, i), 2);
	return sum > 0 ? off * n / (n - 1) : INFINITY;
}

/* By which windows are off least. */
static double slope_of(const double *counts, uint32_t n, struct scale s)
{
	double sum = 0, with = 0, square = 0;

	if (!s.time || s.time == s.leader)
		return 1;
	for (uint32_t i = 0; i < n; i++)
		sum += counts[i];
	for (uint32_t i = 0; i < n; i++) {
		double time = s.time->counted[i] / s.time->all_counted,
		       x = s.leader->counted[i] / s.leader->all_counted - time;

		with += (counts[i] / sum - time) * x;
		square += x * x;
	}
	return square > 0 ? fmin(fmax(with / square, 0), 1) : 1;
}

/* Relative, by how much the parts of the time differ; never less than few hits tell. */
static double rate_variance(const struct anchoring *a, uint32_t leader)
{
	const struct leader *l = &a->leaders.at[leader];
	double sum = 0, n = 0, rate = l->hits / l->cpu_ns;

	vec_each(x, &a->watched) {
		double off = x->hits - rate * x->cpu_ns;

		if (x->leader != leader || x->is_near)
			continue;
		sum += off * off;
		n++;
	}
	return n < 2 ? 1 : n / (n - 1) * sum / (l->hits * l->hits) + 0.25 / l->hits;
}

/* While it was not watched, as often as windows have it. */
static double unwatched_hits(const struct anchoring *a, const struct leader *l)
{
	double hits = 0;

	for (uint32_t i = 0; i <= a->n_windows; i++) {
		uint32_t at = i < a->n_windows ? i : i - 1;
		const struct anchor_window *w = &a->windows.at[at];
		double ns = a->windows.at[i].before_ns - l->windows[i].watched_ns;

		if (w->stands_ns > 0)
			hits += fmax(0, ns) * l->windows[at].met * w->weight /
				w->stands_ns;
	}
	return hits;
}

static void scale_always(const struct anchoring *a, struct leader *l)
{
	const struct leader *time = &a->leaders.at[a->leaders.n - 1];
	double unwatched = unwatched_hits(a, l), sum;

	l->natively = l->hits + unwatched;
	l->variance = l->natively > 0 ? pow(unwatched / l->natively, 2) : 1;
	if (unwatched > 0)
		l->variance *=
			variance_of(l->counted, a->n_groups,
				    &(struct scale){ .leader = time, .slope = 1 }, &sum);
}

static void scale_leaders(struct anchoring *a)
{
	for (uint32_t i = 0; i < a->leaders.n; i++) {
		struct leader *l = &a->leaders.at[i];

		if (l->sym_image == MODEL_NONE)
			continue;
		if (a->is_weighed && l->cpu_ns >= ALWAYS_PART * a->native_ns) {
			scale_always(a, l);
			continue;
		}
		l->natively = l->hits ? a->native_ns * l->hits / l->cpu_ns : 0;
		l->variance = l->hits ? rate_variance(a, i) : 1;
	}
}

static void put_together(struct anchoring *a)
{
	a->n_groups = a->n_windows < GROUPS_MAX ? a->n_windows : GROUPS_MAX;
	window_at(a, a->n_windows);
	if (a->rows.n)
		qsort(a->rows.at, a->rows.n, sizeof(*a->rows.at), by_place);
	vec_each(l, &a->leaders)
		l->windows = xcalloc(a->n_windows + 1, sizeof(*l->windows));
	sum_watched(a);
	sum_rows(a);
	weigh_windows(a);
	sum_windows(a);
	if (a->is_weighed)
		add_time(a);
	scale_leaders(a);
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
	put_together(a);
	*ret = steal(&a);
	return 0;
}

/* Finding. */

/* [block * n_groups + group], by what windows stand for; and of each block as it was. */
struct counts {
	double *of, *counted;
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
static void add_row(const struct anchoring *a, const struct procedure *p,
		    const struct block_row *x, uint64_t address, struct counts *to)
{
	uint32_t i = procedure_block_at(p, address), group = group_of(a, x->window);
	double times = (double)x->times;

	if (i == PROCEDURE_OUTSIDE)
		return;
	i += p->blocks[i].start < address;
	for (; i < p->n_blocks && p->blocks[i].start < address + x->size; i++) {
		to->of[(size_t)i * to->n_groups + group] +=
			times * a->windows.at[x->window].weight;
		to->counted[i] += times;
	}
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
		add_row(a, p, x, x->offset + delta, to);
	}
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
	struct scale scale;
	double log_times, variance;
};

static const struct leader *time_of(const struct anchoring *a)
{
	return a->is_weighed ? &a->leaders.at[a->leaders.n - 1] : NULL;
}

/* What does not come of windows. */
static double scale_variance(const struct scale *s)
{
	return s->slope * s->slope * s->leader->variance;
}

static bool make_guess(const struct anchoring *a, const struct leader *l,
		       const double *counts, struct guess *ret)
{
	double sum;

	if (l->met < LEAST_COUNTED || l->hits < LEAST_HITS)
		return false;
	ret->scale = (struct scale){ .leader = l, .time = time_of(a) };
	ret->scale.slope = slope_of(counts, a->n_groups, ret->scale);
	ret->variance = variance_of(counts, a->n_groups, &ret->scale, &sum) +
			scale_variance(&ret->scale);
	ret->log_times = log(sum) + log_scale(&ret->scale);
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
	double untold = a->is_weighed ? UNTOLD_NEAR : UNTOLD;
	double off = sure(a, variance + untold * untold / (SURE * SURE));

	if (!a->is_weighed)
		off += UNWATCHED * a->windows.at[0].before_ns / a->native_ns;
	return off;
}

bool anchoring_find(const struct anchoring *a, uint32_t sym_image, uint64_t delta,
		    const struct procedure *p, struct anchoring_block *ret)
{
	own(freep) double *of =
		xcalloc((size_t)p->n_blocks * a->n_groups + 1, sizeof(*of));
	own(freep) double *counted = xcalloc(p->n_blocks + 1, sizeof(*counted));
	struct counts c = { of, counted, a->n_groups };
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
		double sum, variance = variance_of(of + (size_t)i * a->n_groups,
						   a->n_groups, &best.scale, &sum);

		if (sum <= 0)
			continue;
		ret[i].times = sum * exp(log_scale(&best.scale)) + counted[i];
		ret[i].off = off_by(a, variance + scale_variance(&best.scale)) + apart;
	}
	return true;
}
