/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_spans.h"

#include <stdlib.h>

void chrome_spans_fini(struct chrome_spans *s)
{
	vec_fini(&s->spans);
	vec_fini(&s->pieces);
	vec_fini(&s->open);
	vec_fini(&s->added);
}

void chrome_spans_clear(struct chrome_spans *s)
{
	vec_clear(&s->spans);
	vec_clear(&s->pieces);
	vec_clear(&s->open);
	vec_clear(&s->added);
}

void chrome_spans_add(struct chrome_spans *s, const struct chrome_span *x)
{
	if (x->from_ns < x->to_ns)
		*vec_push(&s->spans) = *x;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What is known best first; of what was kept one by one the outer before the inner, the
 * others by their ends. */
static int best_first(const void *a, const void *b)
{
	const struct chrome_span *x = a, *y = b;

	if (x->rank != y->rank)
		return order(y->rank, x->rank);
	if (x->rank != CHROME_SPAN_EACH && x->to_ns != y->to_ns)
		return order(x->to_ns, y->to_ns);
	if (x->from_ns != y->from_ns)
		return order(x->from_ns, y->from_ns);
	return x->to_ns != y->to_ns ? order(y->to_ns, x->to_ns)
				    : order(x->stack, y->stack);
}

static int by_time(const void *a, const void *b)
{
	const struct chrome_span *x = a, *y = b;

	return order(x->from_ns, y->from_ns);
}

/* Of the innermost that is open; returns where what comes next may begin. */
static uint64_t put_open(struct chrome_spans *s, uint64_t from_ns, uint64_t to_ns)
{
	struct chrome_span *at;

	if (from_ns >= to_ns)
		return from_ns;
	at = vec_push(&s->pieces);
	*at = s->open.at[s->open.n - 1];
	at->from_ns = from_ns;
	at->to_ns = to_ns;
	return to_ns;
}

/* Those that are over by then are. */
static uint64_t close_until(struct chrome_spans *s, uint64_t at_ns, uint64_t until_ns)
{
	while (s->open.n && s->open.at[s->open.n - 1].to_ns <= until_ns) {
		at_ns = put_open(s, at_ns, s->open.at[s->open.n - 1].to_ns);
		s->open.n--;
	}
	return at_ns;
}

/* Returns how many spans were kept one by one. */
static size_t lay_each(struct chrome_spans *s)
{
	uint64_t at_ns = 0;
	size_t n = 0;

	for (; n < s->spans.n && s->spans.at[n].rank == CHROME_SPAN_EACH; n++) {
		const struct chrome_span *x = &s->spans.at[n];

		at_ns = close_until(s, at_ns, x->from_ns);
		if (s->open.n)
			put_open(s, at_ns, x->from_ns);
		at_ns = x->from_ns;
		*vec_push(&s->open) = *x;
	}
	close_until(s, at_ns, UINT64_MAX);
	return n;
}

/* Between the pieces that there are, the first of which that matters is *next. */
static void lay_between(struct chrome_spans *s, struct chrome_span x, size_t *next)
{
	uint64_t to_ns = x.to_ns;

	while (x.from_ns < to_ns) {
		const struct chrome_span *p =
			*next < s->pieces.n ? &s->pieces.at[*next] : NULL;

		if (p && p->to_ns <= x.from_ns) {
			++*next;
			continue;
		}
		x.to_ns = p && p->from_ns < to_ns ? p->from_ns : to_ns;
		if (x.from_ns < x.to_ns)
			*vec_push(&s->added) = x;
		x.from_ns = p ? p->to_ns : to_ns;
	}
}

/* The spans of a rank, each cut by those that ended before; returns where the next rank
 * begins. */
static size_t lay_rank(struct chrome_spans *s, size_t i)
{
	enum chrome_span_rank rank = s->spans.at[i].rank;
	uint64_t end_ns = 0;
	size_t next = 0;

	for (; i < s->spans.n && s->spans.at[i].rank == rank; i++) {
		struct chrome_span x = s->spans.at[i];

		if (x.from_ns < end_ns)
			x.from_ns = end_ns;
		end_ns = x.to_ns;
		lay_between(s, x, &next);
	}
	vec_each(x, &s->added)
		*vec_push(&s->pieces) = *x;
	vec_clear(&s->added);
	if (s->pieces.n)
		qsort(s->pieces.at, s->pieces.n, sizeof(*s->pieces.at), by_time);
	return i;
}

void chrome_spans_lay(struct chrome_spans *s)
{
	size_t i;

	if (!s->spans.n)
		return;
	qsort(s->spans.at, s->spans.n, sizeof(*s->spans.at), best_first);
	for (i = lay_each(s); i < s->spans.n;)
		i = lay_rank(s, i);
}
