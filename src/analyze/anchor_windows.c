/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

#define LEAST_HITS  30	/* to know one's native time: in the window and near it */
#define LEAST_KNOWN 0.5 /* of all windows */
/* No window is that much longer or shorter natively than this program's usual. */
#define FACTOR_MAX 3.0
/* Windows differ by that in what is executed, before any is known. */
#define USUAL 0.2

static bool is_known(const struct anchor_window *w)
{
	return w->met >= LEAST_HITS && w->near_hits >= LEAST_HITS && w->near_rate > 0 &&
	       w->code > 0;
}

static double told_ns(const struct anchor_window *w)
{
	return w->met / w->near_rate;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of windows that are known the one in the middle; 0: too few of them are. */
static double usual(const struct anchor_window *w, size_t n,
		    double (*of)(const struct anchor_window *w))
{
	own(freep) double *values = xcalloc(n + 1, sizeof(*values));
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++)
		if (is_known(&w[i]))
			values[n_known++] = of(&w[i]);
	if (!n_known || (double)n_known < LEAST_KNOWN * (double)n)
		return 0;
	qsort(values, n_known, sizeof(*values), by_value);
	return values[n_known / 2];
}

static double code_of(const struct anchor_window *w)
{
	return w->code;
}

/* What is usual among the windows that are known, and how what is not goes with it. */
struct trend {
	double ns, code;
	double power; /* of code, from 0 to 1 */
};

/* Windows are equally long by the clock.  Where code is as fast everywhere, they have as
 * much more of it as they take natively; what waits for memory has less of it in the same
 * time.  Which of these a program does, its windows tell, beside one that says that they
 * are equal. */
static double power_of(const struct anchor_window *w, size_t n, const struct trend *t)
{
	double with = 0, square = USUAL * USUAL;

	for (size_t i = 0; i < n; i++) {
		double code = log(w[i].code / t->code);

		if (!is_known(&w[i]))
			continue;
		with += code * log(told_ns(&w[i]) / t->ns);
		square += code * code;
	}
	return fmin(fmax(with / square, 0), 1);
}

static struct trend trend_of(const struct anchor_window *w, size_t n)
{
	struct trend t = { .ns = usual(w, n, told_ns), .code = usual(w, n, code_of) };

	if (t.ns > 0)
		t.power = power_of(w, n, &t);
	return t;
}

static double native_ns(const struct anchor_window *w, const struct trend *t)
{
	double expected = t->ns * pow(w->code / t->code, t->power);

	if (!is_known(w))
		return expected;
	return fmin(fmax(told_ns(w), expected / FACTOR_MAX), expected * FACTOR_MAX);
}

bool anchor_windows_weigh(struct anchor_window *w, size_t n, double behind_ns)
{
	struct trend t = trend_of(w, n);

	if (t.ns <= 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		double next_ns = i + 1 < n ? w[i + 1].before_ns / 2 : behind_ns;

		w[i].stands_ns = (i ? w[i].before_ns / 2 : w[i].before_ns) + next_ns;
		w[i].weight = w[i].code > 0 ? w[i].stands_ns / native_ns(&w[i], &t) : 0;
	}
	return true;
}
