/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/interval_cuts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/gauge.h"
#include "store/writer.h"

struct interval_cut {
	uint64_t time_ns;
	uint32_t cause, name; /* strings */
	struct gauge *gauges; /* owned */
	size_t n_gauges;
};

void interval_cuts_begin(struct interval_cuts *c, struct writer *w, uint64_t from_ns)
{
	*c = (struct interval_cuts){ .writer = w, .from_ns = from_ns };
}

void interval_cuts_fini(struct interval_cuts *c)
{
	vec_each(cut, &c->waiting)
		free(cut->gauges);
	vec_fini(&c->waiting);
}

bool interval_cuts_may_end(const struct interval_cuts *c, uint64_t time_ns)
{
	return time_ns > c->from_ns;
}

/* Where that time's place is among those that wait: behind its equals. */
static size_t place_of(const struct interval_cuts *c, uint64_t time_ns)
{
	size_t i = c->waiting.n;

	while (i && c->waiting.at[i - 1].time_ns > time_ns)
		i--;
	return i;
}

bool interval_cuts_is_behind(const struct interval_cuts *c, uint64_t time_ns)
{
	return place_of(c, time_ns) < c->waiting.n;
}

static void take_gauges(struct interval_cut *cut, const struct gauge *gauges, size_t n)
{
	cut->gauges = xcalloc(n + 1, sizeof(*gauges));
	cut->n_gauges = n;
	for (size_t i = 0; i < n; i++) {
		cut->gauges[i] = gauges[i];
		cut->gauges[i].time_ns = cut->time_ns;
	}
}

void interval_cuts_add(struct interval_cuts *c, uint64_t time_ns, const char *cause,
		       const char *name, const struct gauge *gauges, size_t n_gauges)
{
	struct interval_cut cut = { .time_ns = time_ns,
				    .cause = writer_string(c->writer, cause),
				    .name = writer_string(c->writer, name) };
	size_t i = place_of(c, time_ns), n_behind = c->waiting.n - i;

	if (n_behind) {
		gauges = c->waiting.at[i].gauges;
		n_gauges = c->waiting.at[i].n_gauges;
	}
	take_gauges(&cut, gauges, n_gauges);
	vec_push(&c->waiting);
	memmove(&c->waiting.at[i + 1], &c->waiting.at[i],
		n_behind * sizeof(*c->waiting.at));
	c->waiting.at[i] = cut;
}

static void write_cut(struct interval_cuts *c, const struct interval_cut *cut)
{
	writer_interval(c->writer, &(struct model_interval){ .from_ns = c->from_ns,
							     .to_ns = cut->time_ns,
							     .name = cut->name,
							     .cause = cut->cause });
	for (size_t i = 0; i < cut->n_gauges; i++)
		writer_gauge(c->writer, &cut->gauges[i]);
	c->from_ns = cut->time_ns;
}

void interval_cuts_settle(struct interval_cuts *c, uint64_t until_ns)
{
	size_t n = 0;

	for (; n < c->waiting.n && c->waiting.at[n].time_ns < until_ns; n++) {
		write_cut(c, &c->waiting.at[n]);
		free(c->waiting.at[n].gauges);
	}
	if (!n)
		return;
	c->waiting.n -= n;
	memmove(c->waiting.at, &c->waiting.at[n], c->waiting.n * sizeof(*c->waiting.at));
}
