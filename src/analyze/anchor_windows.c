/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

#define LEAST_HITS  30	/* to know one's native time: in the window and near it */
#define LEAST_KNOWN 0.5 /* of all windows */
/* What a window's counters tell of its native time is believed between what is usual for
 * windows, as all are equally long by the clock, and what its code takes at the usual
 * speed: where programs wait for memory, a window has a tenth of the others' code.  By so
 * much it may be beyond either; chosen with recordings of sort and bzip2. */
#define CLOCK_FACTOR 1.5
#define SPEED_FACTOR 2.0
/* So many times as long as natively programs take in windows, coming and going included:
 * 1.07 (bzip2) to 1.58 (awk). */
#define SLOWDOWN 1.3

bool anchor_windows_is_known(const struct anchor_window *w)
{
	return w->met >= LEAST_HITS && w->near_hits >= LEAST_HITS && w->near_rate > 0 &&
	       w->code > 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double told_ns(const struct anchor_window *w)
{
	return w->met / w->near_rate;
}

/* Code in a native nanosecond. */
static double told_speed(const struct anchor_window *w)
{
	return w->code / told_ns(w);
}

/* Of windows that are known the one in the middle; 0: too few of them are. */
static double middle_of(const struct anchor_window *w, size_t n,
			double (*of)(const struct anchor_window *w))
{
	own(freep) double *values = xcalloc(n + 1, sizeof(*values));
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++)
		if (anchor_windows_is_known(&w[i]))
			values[n_known++] = of(&w[i]);
	if (!n_known || (double)n_known < LEAST_KNOWN * (double)n)
		return 0;
	qsort(values, n_known, sizeof(*values), by_value);
	return values[n_known / 2];
}

struct usual {
	double ns, speed;
};

static double native_ns(const struct anchor_window *w, const struct usual *u)
{
	double by_code = w->code / u->speed;

	if (!anchor_windows_is_known(w))
		return by_code;
	return fmin(fmax(told_ns(w), fmin(u->ns / CLOCK_FACTOR, by_code / SPEED_FACTOR)),
		    fmax(u->ns * CLOCK_FACTOR, by_code * SPEED_FACTOR));
}

bool anchor_windows_weigh(struct anchor_window *w, size_t n)
{
	struct usual u = { middle_of(w, n, told_ns), middle_of(w, n, told_speed) };

	if (u.speed <= 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		w[i].stands_ns = w[i].own_before_ns + w[i].own_behind_ns;
		w[i].weight = w[i].code > 0 ? w[i].stands_ns / native_ns(&w[i], &u) : 0;
	}
	return true;
}

/* Of one that meets new code most is translation: it is not much slower than others. */
bool anchor_windows_suppose(struct anchor_window *w, size_t n)
{
	double speed;

	for (size_t i = 0; i < n; i++) {
		if (w[i].counted_ns <= 0)
			return false;
		w[i].met = fmax(w[i].counted_ns / SLOWDOWN, LEAST_HITS);
		w[i].near_hits = LEAST_HITS;
		w[i].near_rate = 1;
	}
	speed = middle_of(w, n, told_speed);
	for (size_t i = 0; i < n && speed > 0; i++)
		w[i].met = fmin(w[i].met, SPEED_FACTOR * w[i].code / speed);
	return anchor_windows_weigh(w, n);
}
