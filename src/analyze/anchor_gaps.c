/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_gaps.h"

#include <math.h>

#include "analyze/anchor_leaders.h"
#include "analyze/anchor_scale.h"
#include "base/mem.h"

/* Relative, of rates, where no two gaps tell how much they differ. */
#define UNTOLD_VARIANCE (0.5 * 0.5)
/* No more than that windows are off where they and gaps count alike. */
#define UNIT_MAX 10.0
/* By so much a gap's time may be too short: it is asked for before a window while the
 * program still runs, and its clock is as old as the last tick. */
#define TICK_MOST_NS 1e7

/* What was watched for longer than its gap was so in earlier ones, too; but not by what
 * clocks differ: of a place that has many gaps that would be all of those before it was
 * there. */
struct anchor_gap *anchor_gaps_find(const struct anchor_rows *rows,
				    const struct anchor_leader *l)
{
	struct anchor_gap *gaps = xcalloc(rows->n_windows + 1, sizeof(*gaps));
	double hits = 0, ns = 0;

	for (uint32_t i = rows->n_windows + 1; i-- > 0;) {
		double gap_ns = rows->windows.at[i].before_ns, here_ns;

		hits += l->windows[i].hits;
		ns += l->windows[i].watched_ns;
		here_ns = fmin(ns, gap_ns);
		gaps[i].rate =
			ns > 0 && here_ns >= ANCHOR_GAPS_KNOWN * gap_ns ? hits / ns : NAN;
		gaps[i].missed_ns = gap_ns - here_ns;
		if (ns > 0)
			hits -= hits * here_ns / ns;
		ns -= here_ns;
		if (ns < TICK_MOST_NS)
			hits = ns = 0;
	}
	return gaps;
}

/* How well known gaps are told by the ones before them and by windows. */
struct telling {
	double unit; /* of windows' rates; 0: these tell nothing */
	double step_variance, windows_variance;
};

static struct telling without_gaps(const struct anchor_gap *gaps, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += gaps[i].in_windows;
	return (struct telling){ .unit = 1,
				 .windows_variance =
					 UNTOLD_VARIANCE * pow(sum / (double)n, 2) };
}

/* Of what each of n is off by; in all n is as much as sum. */
static double variance_of(double squares, double sum, double n)
{
	double mean = sum / n;

	if (n < 2)
		return UNTOLD_VARIANCE * mean * mean;
	return n * mean * mean * anchor_scale_spread(squares / (sum * sum), n, n - 1);
}

static struct telling learn(const struct anchor_gap *gaps, size_t n)
{
	double sum = 0, in_windows = 0, n_known = 0, last = NAN, steps = 0, off = 0;
	struct telling t;

	for (size_t i = 0; i < n; i++) {
		if (isnan(gaps[i].rate))
			continue;
		sum += gaps[i].rate;
		in_windows += gaps[i].in_windows;
		n_known++;
	}
	if (sum <= 0)
		return without_gaps(gaps, n);
	t.unit = in_windows > 0 ? sum / in_windows : 0;
	for (size_t i = 0; i < n; i++) {
		if (isnan(gaps[i].rate))
			continue;
		off += pow(gaps[i].rate - t.unit * gaps[i].in_windows, 2);
		if (!isnan(last))
			steps += pow(gaps[i].rate - last, 2);
		last = gaps[i].rate;
	}
	t.step_variance = variance_of(steps, sum, n_known);
	t.windows_variance = variance_of(off, sum, n_known);
	return t;
}

/* A guess: of which so much is known as one divided by its variance. */
struct guess {
	double rate, weight;
};

static void add_guess(struct guess *to, double rate, double weight)
{
	to->weight += weight;
	if (to->weight > 0)
		to->rate += (rate - to->rate) * weight / to->weight;
}

/* The further away a known gap is, the less it tells, and the more windows there differ
 * from those here by more than they do by chance. */
static void add_gap(struct guess *to, const struct anchor_gap *known,
		    const struct anchor_gap *gap, const struct telling *t)
{
	double change = t->unit * (known->in_windows - gap->in_windows);
	double variance = t->step_variance * fmax(1, fabs((double)(known - gap))) +
			  fmax(0, change * change - 2 * t->windows_variance);

	if (variance > 0)
		add_guess(to, known->rate, 1 / variance);
}

/* The known gaps nearest to one, which may be that itself. */
struct nearest {
	size_t behind_before; /* one behind the last up to it; 0: there is none */
	size_t behind;	      /* the first from it on; as many as there are: none */
};

/* From the gap before to this one. */
static void go_on(struct nearest *x, const struct anchor_gap *gaps, size_t n, size_t gap)
{
	if (!isnan(gaps[gap].rate))
		x->behind_before = gap + 1;
	if (x->behind < gap)
		x->behind = gap;
	while (x->behind < n && isnan(gaps[x->behind].rate))
		x->behind++;
}

static struct guess by_gaps(const struct anchor_gap *gaps, size_t n, size_t gap,
			    const struct nearest *x, const struct telling *t)
{
	struct guess g = { 0 };

	if (x->behind_before > 0)
		add_gap(&g, &gaps[x->behind_before - 1], &gaps[gap], t);
	if (x->behind < n)
		add_gap(&g, &gaps[x->behind], &gaps[gap], t);
	return g;
}

/* The first and the last have a window on one side. */
static struct guess by_windows(const struct anchor_gap *gaps, size_t n, size_t gap,
			       const struct telling *t)
{
	double n_sides = gap > 0 && gap + 1 < n ? 2 : 1;

	return (struct guess){ t->unit * gaps[gap].in_windows,
			       t->unit > 0 && t->windows_variance > 0
				       ? n_sides / (2 * t->windows_variance)
				       : 0 };
}

/* What other gaps tell of several is off alike. */
double anchor_gaps_missed(const struct anchor_gap *gaps, size_t n, bool are_rates,
			  double *ret_variance)
{
	struct telling t = learn(gaps, n);
	double hits = 0, off_alike = 0, squares = 0;
	struct nearest nearest = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct guess of_gaps, of_windows = by_windows(gaps, n, i, &t), g;

		go_on(&nearest, gaps, n, i);
		g = of_gaps = by_gaps(gaps, n, i, &nearest, &t);
		add_guess(&g, of_windows.rate, of_windows.weight);
		if (gaps[i].missed_ns <= 0 || g.weight <= 0)
			continue;
		hits += gaps[i].missed_ns * g.rate;
		off_alike += gaps[i].missed_ns * sqrt(of_gaps.weight) / g.weight;
		squares += pow(gaps[i].missed_ns / g.weight, 2) * of_windows.weight;
	}
	*ret_variance = off_alike * off_alike + squares;
	if (are_rates && t.unit > 0 && fabs(log(t.unit)) > log(UNIT_MAX))
		*ret_variance = INFINITY;
	return hits;
}
