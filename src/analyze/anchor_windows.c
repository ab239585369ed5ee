/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

#define LEAST_HITS  30	/* to know one's native time: in the window and near it */
#define LEAST_KNOWN 0.5 /* of all windows */
/* Processors are not that much slower or faster than this program's usual. */
#define FACTOR_MAX 3.0

static bool is_known(const struct anchor_window *w)
{
	return w->met >= LEAST_HITS && w->near_hits >= LEAST_HITS && w->near_rate > 0 &&
	       w->code > 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Code in a native nanosecond, of windows that are known: the one in the middle. */
static double usual_speed(const struct anchor_window *w, size_t n)
{
	own(freep) double *speeds = xcalloc(n + 1, sizeof(*speeds));
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++)
		if (is_known(&w[i]))
			speeds[n_known++] = w[i].code * w[i].near_rate / w[i].met;
	if (!n_known || (double)n_known < LEAST_KNOWN * (double)n)
		return 0;
	qsort(speeds, n_known, sizeof(*speeds), by_value);
	return speeds[n_known / 2];
}

static double native_ns(const struct anchor_window *w, double speed)
{
	double usual = w->code / speed;

	if (!is_known(w))
		return usual;
	return fmin(fmax(w->met / w->near_rate, usual / FACTOR_MAX), usual * FACTOR_MAX);
}

bool anchor_windows_weigh(struct anchor_window *w, size_t n, double behind_ns)
{
	double speed = usual_speed(w, n);

	if (speed <= 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		double next_ns = i + 1 < n ? w[i + 1].before_ns / 2 : behind_ns;

		w[i].stands_ns = (i ? w[i].before_ns / 2 : w[i].before_ns) + next_ns;
		w[i].weight =
			w[i].code > 0 ? w[i].stands_ns / native_ns(&w[i], speed) : 0;
	}
	return true;
}
