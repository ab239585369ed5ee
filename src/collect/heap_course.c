/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_course.h"

/* The end of the span that a time is in. */
static uint64_t end_of(const struct heap_course *c, uint64_t time_ns)
{
	uint64_t since = time_ns > c->start_ns ? time_ns - c->start_ns : 0;

	return c->start_ns + (since / c->span_ns + 1) * c->span_ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void widen(struct heap_course *c)
{
	size_t n = 0;

	c->span_ns *= 2;
	for (size_t i = 0; i < c->n; i++) {
		struct heap_point p = c->at[i];

		p.end_ns = end_of(c, p.end_ns - 1);
		if (n && c->at[n - 1].end_ns == p.end_ns)
			p.most_bytes = larger(p.most_bytes, c->at[--n].most_bytes);
		c->at[n++] = p;
	}
	c->n = n;
}

static void close_span(struct heap_course *c)
{
	while (c->n == HEAP_COURSE_POINTS)
		widen(c);
	c->now.end_ns = end_of(c, c->now.end_ns - 1);
	if (c->n && c->at[c->n - 1].end_ns == c->now.end_ns)
		c->now.most_bytes = larger(c->now.most_bytes, c->at[--c->n].most_bytes);
	c->at[c->n++] = c->now;
}

void heap_course_add(struct heap_course *c, uint64_t time_ns,
		     const struct heap_point *now)
{
	uint64_t most = now->bytes, end_ns;

	if (!c->span_ns) {
		c->span_ns = HEAP_COURSE_SPAN;
		c->start_ns = time_ns;
	}
	/* Times of threads are those of their clocks, their order is another's. */
	if (time_ns < c->now.end_ns) {
		most = larger(most, c->now.most_bytes);
		end_ns = c->now.end_ns;
	} else {
		if (c->now.end_ns)
			close_span(c);
		end_ns = end_of(c, time_ns);
	}
	c->now = *now;
	c->now.most_bytes = most;
	c->now.end_ns = end_ns;
}

void heap_course_end(struct heap_course *c)
{
	if (c->now.end_ns)
		close_span(c);
	c->now.end_ns = 0;
}
