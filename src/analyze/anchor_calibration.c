/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_calibration.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchor_gaps.h"
#include "analyze/anchor_leaders.h"
#include "analyze/anchor_rows.h"
#include "base/mem.h"
#include "base/own.h"

/* Fewer agree by chance: what they are changed by is as wrong as what it mends. */
#define LEAST_WINDOWS 16
#define LEAST_MET     20 /* in windows ... */
#define LEAST_HITS    50 /* ... and natively */
/* Of what a window stands for, to be known. */
#define KNOWN_PART 0.5
/* Relative variances: of what one window has, and by how much processors are not as fast
 * near windows as elsewhere. */
#define OF_WINDOW   1.0
#define OF_NEARNESS (0.03 * 0.03)
/* So many windows tell half of how weights go with counters. */
#define FEW 30
/* Nor is a weight that much more or less than one thought. */
#define FACTOR_MAX 3.0

/* Of each total and window: [total * n_windows + window]. */
struct calibration {
	const struct anchor_leaders *leaders;
	struct anchor_rows *rows;
	double *parts;	/* of the total, by weights */
	double *doubts; /* how far that makes the total off, relative */
	double *ridges; /* of each total */
	size_t n;	/* totals */
};

static void calibration_fini(struct calibration *c)
{
	free(c->parts);
	free(c->doubts);
	free(c->ridges);
}

/* In the time that a window stands for; NAN: not known. */
static double hits_around(const struct calibration *c, const struct anchor_gap *gaps,
			  uint32_t window)
{
	const struct anchor_window *w = &c->rows->windows.at[window];
	double known_ns = 0, hits = 0;

	if (!isnan(gaps[window].rate)) {
		known_ns += w->own_before_ns;
		hits += w->own_before_ns * gaps[window].rate;
	}
	if (!isnan(gaps[window + 1].rate)) {
		known_ns += w->own_behind_ns;
		hits += w->own_behind_ns * gaps[window + 1].rate;
	}
	return known_ns > 0 && known_ns >= KNOWN_PART * w->stands_ns
		       ? hits * w->stands_ns / known_ns
		       : NAN;
}

/* What one counter has natively, of windows that did not choose it. */
struct total {
	double *hits; /* of each window; 0: not known */
	bool *is_near, *is_known;
	double sum, met, stands_ns;
	uint32_t n_windows;
};

static void total_fini(struct total *t)
{
	free(t->hits);
	free(t->is_near);
	free(t->is_known);
}

static void add_window(const struct calibration *c, const struct anchor_leader *l,
		       uint32_t window, double hits, struct total *to)
{
	const struct anchor_leader_window *w = &l->windows[window];
	double stands_ns = c->rows->windows.at[window].stands_ns;

	to->is_near[window] = isnan(hits);
	if (to->is_near[window] && w->near_ns <= 0)
		return;
	to->is_known[window] = true;
	to->hits[window] =
		to->is_near[window] ? stands_ns * w->near_hits / w->near_ns : hits;
	to->sum += to->hits[window];
	to->met += w->met;
	to->stands_ns += stands_ns;
	to->n_windows++;
}

static bool sum_total(const struct calibration *c, const struct anchor_leader *l,
		      struct total *ret)
{
	uint32_t n = c->leaders->n_windows;
	own(freep) struct anchor_gap *gaps = anchor_gaps_find(c->rows, l);

	for (uint32_t i = 0; i < n; i++)
		if (l->windows[i].is_unbiased)
			add_window(c, l, i, hits_around(c, gaps, i), ret);
	return ret->n_windows >= LEAST_WINDOWS && ret->met >= LEAST_MET &&
	       ret->sum >= LEAST_HITS;
}

/* Moments near windows have as much more or less than all of the time as they differ. */
static void add_total(struct calibration *c, const struct anchor_leader *l)
{
	uint32_t n = c->leaders->n_windows;
	own(total_fini) struct total t = { .hits = xcalloc(n, sizeof(*t.hits)),
					   .is_near = xcalloc(n, sizeof(*t.is_near)),
					   .is_known = xcalloc(n, sizeof(*t.is_known)) };
	double *parts = c->parts + c->n * n, *doubts = c->doubts + c->n * n, few;

	if (!sum_total(c, l, &t))
		return;
	few = sqrt(t.n_windows / (t.n_windows - 1.0));
	for (uint32_t i = 0; i < n; i++) {
		const struct anchor_window *w = &c->rows->windows.at[i];

		if (!t.is_known[i])
			continue;
		parts[i] = l->windows[i].met * w->weight / t.sum;
		if (t.is_near[i])
			doubts[i] =
				few * (t.hits[i] / t.sum - w->stands_ns / t.stands_ns);
	}
	c->ridges[c->n++] =
		OF_WINDOW * (1 + FEW / (double)t.n_windows) / t.n_windows + OF_NEARNESS;
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Cholesky's, of a matrix of which only what is at or left of the diagonal is there;
 * what is to be solved for becomes what solves it. */
static void solve(double *matrix, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *row = matrix + i * n;

		for (size_t k = 0; k < i; k++)
			row[k] = (row[k] - product(row, matrix + k * n, k)) /
				 matrix[k * n + k];
		row[i] = sqrt(row[i] - product(row, row, i));
		x[i] = (x[i] - product(row, x, i)) / row[i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= matrix[k * n + i] * x[k];
		x[i] /= matrix[i * n + i];
	}
}

static void change_weights(const struct calibration *c)
{
	size_t n = c->leaders->n_windows;
	own(freep) double *matrix = xcalloc(c->n * c->n + 1, sizeof(*matrix));
	own(freep) double *pulls = xcalloc(c->n + 1, sizeof(*pulls));

	for (size_t i = 0; i < c->n; i++) {
		pulls[i] = 1;
		for (size_t k = 0; k < n; k++)
			pulls[i] -= c->parts[i * n + k];
		for (size_t k = 0; k <= i; k++)
			matrix[i * c->n + k] =
				product(c->parts + i * n, c->parts + k * n, n) +
				product(c->doubts + i * n, c->doubts + k * n, n);
		matrix[i * c->n + i] += c->ridges[i];
	}
	solve(matrix, pulls, c->n);
	for (size_t k = 0; k < n; k++) {
		double factor = 1;

		for (size_t i = 0; i < c->n; i++)
			factor += pulls[i] * c->parts[i * n + k];
		c->rows->windows.at[k].weight *=
			fmin(fmax(factor, 1 / FACTOR_MAX), FACTOR_MAX);
	}
}

void anchor_calibration_make(const struct anchor_leaders *l, struct anchor_rows *rows)
{
	size_t n = (size_t)l->n_windows * rows->places.n + 1;
	own(calibration_fini) struct calibration c = {
		.leaders = l,
		.rows = rows,
		.parts = xcalloc(n, sizeof(*c.parts)),
		.doubts = xcalloc(n, sizeof(*c.doubts)),
		.ridges = xcalloc(rows->places.n + 1, sizeof(*c.ridges)),
	};

	for (uint32_t i = 0; i < rows->places.n; i++)
		add_total(&c, &l->at.at[i]);
	change_weights(&c);
}
