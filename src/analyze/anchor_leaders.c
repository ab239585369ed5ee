/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_leaders.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchor_calibration.h"
#include "analyze/anchor_gaps.h"
#include "analyze/anchor_scale.h"
#include "base/mem.h"
#include "base/own.h"

/* Of the native time; a leader that was watched for less was so in turns, unless it was
 * in a few of several processes. */
#define ALWAYS_PART 0.3
/* Relative, a variance: of what windows have by chance of what is as often at all times.
 */
#define STEADY (0.1 * 0.1)
/* Of all gaps that were watched. */
#define MOST_OF_ALL 0.5

struct making {
	struct anchor_leaders *to;
	struct anchor_rows *rows;
};

void anchor_leaders_fini(struct anchor_leaders *l)
{
	vec_each(x, &l->at)
		free(x->windows);
	vec_fini(&l->at);
}

static void begin(struct making *m)
{
	struct anchor_leaders *to = m->to;

	to->n_windows = m->rows->n_windows;
	to->n_groups = to->n_windows < ANCHOR_LEADERS_GROUPS ? to->n_windows
							     : ANCHOR_LEADERS_GROUPS;
	for (size_t i = 0; i < m->rows->places.n; i++)
		*vec_push(&to->at) = (struct anchor_leader){
			.windows = xcalloc(to->n_windows + 1,
					   sizeof(struct anchor_leader_window))
		};
}

static void sum_watched(struct making *m)
{
	vec_each(x, &m->rows->watched) {
		struct anchor_leader *l = &m->to->at.at[x->place];
		uint32_t n = m->to->n_windows;
		struct anchor_leader_window *w =
			&l->windows[x->window < n ? x->window : n];

		if (x->is_near) {
			w->near_hits += x->hits;
			w->near_ns += x->cpu_ns;
			continue;
		}
		w->hits += x->hits;
		w->watched_ns += x->cpu_ns;
		l->hits += x->hits;
		l->cpu_ns += x->cpu_ns;
	}
}

/* A place is that of a block, or in it. */
static void sum_met(struct making *m)
{
	vec_each(x, &m->rows->blocks) {
		m->rows->windows.at[x->window].code += (double)x->times * (double)x->size;
		for (size_t i = 0; i < m->rows->places.n; i++) {
			const struct anchor_rows_place *at = &m->rows->places.at[i];

			if (x->sym_image == at->sym_image &&
			    at->offset - x->offset < x->size)
				m->to->at.at[i].windows[x->window].met +=
					(double)x->times;
		}
	}
}

/* A place was given a counter because it had come often in the window before: of that one
 * it tells too much.  Each run chooses anew. */
static void find_choices(struct making *m)
{
	vec_each(l, &m->to->at)
		vec_each(r, &m->rows->runs) {
			bool is_chosen = false;

			for (uint32_t n = 0, i = r->first_window; n < r->n_windows;
			     n++, i++) {
				l->windows[i].is_unbiased = is_chosen;
				is_chosen |= l->windows[i].near_ns > 0;
			}
		}
}

/* Relative to its code a place is as often in one window as in another, but for that
 * part: a variance. */
static double unsteadiness(const struct making *m, const struct anchor_leader *l,
			   double met, double code)
{
	uint32_t n = m->to->n_windows;
	double squares = 0;

	for (uint32_t i = 0; i < n; i++)
		squares += pow(
			l->windows[i].met / met - m->rows->windows.at[i].code / code, 2);
	return n * squares;
}

/* What comes in bursts is in a window by chance: often in the one that chose it, and less
 * often near that.  The steadier ones have the say, however seldom they are. */
static void let_say(struct making *m)
{
	uint32_t n = m->to->n_windows;
	double code = 0;

	for (uint32_t i = 0; i < n; i++)
		code += m->rows->windows.at[i].code;
	vec_each(l, &m->to->at) {
		double met = 0;

		for (uint32_t i = 0; i < n; i++)
			met += l->windows[i].met;
		if (met > 0)
			l->say = 1 / (met * (unsteadiness(m, l, met, code) + STEADY));
	}
}

static void sum_near(struct making *m, uint32_t window, bool are_all)
{
	struct anchor_window *w = &m->rows->windows.at[window];
	double met = 0, rate = 0;

	w->met = w->near_hits = w->near_rate = 0;
	vec_each(l, &m->to->at) {
		const struct anchor_leader_window *x = &l->windows[window];

		if (x->near_ns <= 0 || !(are_all || x->is_unbiased))
			continue;
		w->met += x->met;
		w->near_hits += x->near_hits;
		met += l->say * x->met;
		rate += l->say * x->near_hits / x->near_ns;
	}
	w->near_rate = met > 0 ? w->met * rate / met : 0;
}

/* With what tells too much only where there is not enough else. */
static void sum_all_near(struct making *m, bool are_all)
{
	for (uint32_t i = 0; i < m->to->n_windows; i++) {
		m->rows->windows.at[i].weight = 1;
		sum_near(m, i, false);
		if (are_all && !anchor_windows_is_known(&m->rows->windows.at[i]))
			sum_near(m, i, true);
	}
}

/* Who has no window chose nothing by it. */
static bool have_several_runs_windows(const struct making *m)
{
	size_t n = 0;

	vec_each(r, &m->rows->runs)
		n += r->n_windows > 0;
	return n > 1;
}

/* With what tells too much only where there is not enough else; of several runs the
 * windows that chose are too many to be without. */
static void weigh_windows(struct making *m)
{
	struct anchor_window *windows = m->rows->windows.at;
	uint32_t n = m->to->n_windows;

	for (int are_all = have_several_runs_windows(m);
	     are_all < 2 && !m->to->is_weighed; are_all++) {
		sum_all_near(m, are_all);
		m->to->is_weighed = anchor_windows_weigh(windows, n);
	}
	if (m->to->is_weighed)
		anchor_calibration_make(m->to, m->rows);
	else if (!m->rows->places.n)
		m->to->is_weighed = m->to->is_supposed =
			anchor_windows_suppose(windows, n);
}

static void sum_windows(struct making *m)
{
	for (uint32_t i = 0; i < m->to->n_windows; i++)
		vec_each(l, &m->to->at) {
			double times = l->windows[i].met * m->rows->windows.at[i].weight;

			l->met += l->windows[i].met;
			l->counted[anchor_leaders_group(m->to, i)] += times;
			l->all_counted += times;
		}
}

/* What stands for all of the time. */
static void add_time(struct making *m)
{
	double ns = m->rows->native_ns;
	struct anchor_leader time = {
		.hits = ns, .cpu_ns = ns, .natively = ns, .met = ns
	};

	for (uint32_t i = 0; i < m->to->n_windows; i++) {
		double stands_ns = m->rows->windows.at[i].stands_ns;

		time.counted[anchor_leaders_group(m->to, i)] += stands_ns;
		time.all_counted += stands_ns;
	}
	*vec_push(&m->to->at) = time;
}

/* Relative, by how much the parts of the time differ; never less than few hits tell. */
static double rate_variance(const struct making *m, uint32_t place)
{
	const struct anchor_leader *l = &m->to->at.at[place];
	double sum = 0, n = 0, rate = l->hits / l->cpu_ns;

	vec_each(x, &m->rows->watched) {
		double off = x->hits - rate * x->cpu_ns;

		if (x->place != place || x->is_near)
			continue;
		sum += off * off;
		n++;
	}
	return n < 2 ? 1
		     : anchor_scale_spread(sum / (l->hits * l->hits), n, n - 1) +
			       0.25 / l->hits;
}

/* What a window has in a native nanosecond; in some unit, where it is not weighed. */
static double rate_at(const struct making *m, const struct anchor_leader *l,
		      uint32_t window)
{
	const struct anchor_window *w = &m->rows->windows.at[window];

	if (!m->to->is_weighed)
		return l->windows[window].met;
	return w->stands_ns > 0 ? l->windows[window].met * w->weight / w->stands_ns : 0;
}

/* Before a window, as in those on both sides. */
static double rate_before(const struct making *m, const struct anchor_leader *l,
			  uint32_t window)
{
	uint32_t last = m->to->n_windows - 1;

	return (rate_at(m, l, window ? window - 1 : 0) +
		rate_at(m, l, window < last ? window : last)) /
	       2;
}

static void scale_always(const struct making *m, uint32_t place)
{
	struct anchor_leader *l = &m->to->at.at[place];
	own(freep) struct anchor_gap *gaps = anchor_gaps_find(m->rows, l);
	uint32_t n = m->to->n_windows + 1;
	double missed, variance;

	for (uint32_t i = 0; i < n; i++)
		gaps[i].in_windows = rate_before(m, l, i);
	missed = anchor_gaps_missed(gaps, n, m->to->is_weighed, &variance);
	l->natively = l->hits + missed;
	l->variance = l->natively > 0 ? variance / (l->natively * l->natively) : 1;
}

/* Not in turns: from window to window, as counters and what steps tell are. */
static bool covers_gaps(const struct making *m, const struct anchor_leader *l)
{
	double ns = 0;

	for (uint32_t i = 0; i <= m->to->n_windows; i++)
		if (l->windows[i].watched_ns >=
		    ANCHOR_GAPS_KNOWN * m->rows->windows.at[i].before_ns)
			ns += l->windows[i].watched_ns;
	return ns > MOST_OF_ALL * l->cpu_ns;
}

static bool is_watched_always(const struct making *m, const struct anchor_leader *l)
{
	if (m->to->is_weighed &&
	    (m->to->are_several || l->cpu_ns >= ALWAYS_PART * m->rows->native_ns))
		return true;
	return covers_gaps(m, l);
}

static void scale_place(const struct making *m, uint32_t place)
{
	struct anchor_leader *l = &m->to->at.at[place];

	if (is_watched_always(m, l)) {
		scale_always(m, place);
		return;
	}
	l->natively = l->hits ? m->rows->native_ns * l->hits / l->cpu_ns : 0;
	l->variance = l->hits ? rate_variance(m, place) : 1;
}

void anchor_leaders_make(struct anchor_leaders *ret, struct anchor_rows *rows,
			 bool are_several)
{
	struct making m = { ret, rows };

	ret->are_several = are_several;
	begin(&m);
	sum_watched(&m);
	sum_met(&m);
	let_say(&m);
	find_choices(&m);
	weigh_windows(&m);
	sum_windows(&m);
	if (ret->is_weighed)
		add_time(&m);
	for (uint32_t i = 0; i < rows->places.n; i++)
		scale_place(&m, i);
}
