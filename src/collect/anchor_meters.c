/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_meters.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/anchor_choice.h"

#define CHOSEN_PART 0.2 /* of the budget: rates are guesses, and change */
#define LOOK_NS	    1000000u

void anchor_meters_fini(struct anchor_meters *m)
{
	anchor_counters_fini(&m->counters);
	vec_fini(&m->at);
}

bool anchor_meters_are(const struct anchor_meters *m)
{
	vec_each(c, &m->counters.at)
		if (c->is_on)
			return true;
	return false;
}

static void forget(struct anchor_meters *m)
{
	pid_t pid = m->counters.pid;

	anchor_counters_fini(&m->counters);
	m->counters = (struct anchor_counters){ .pid = pid };
	vec_clear(&m->at);
}

static uint64_t now_ns(const struct anchor_meters *m)
{
	struct timespec t;

	if (clock_gettime(m->clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What the counters have, and when: 0 if they are there no more. */
static uint64_t read_all(struct anchor_meters *m)
{
	uint64_t cpu_ns;

	if (!m->counters.n_areas)
		return 0;
	cpu_ns = anchor_counters_read(&m->counters) ? now_ns(m) : 0;
	if (!cpu_ns)
		forget(m);
	return cpu_ns;
}

void anchor_meters_check(struct anchor_meters *m)
{
	read_all(m);
}

/* Choosing. */

static bool is_there(const struct anchor_meters *m, uint64_t addr)
{
	vec_each(c, &m->counters.at)
		if (c->site.addr == addr)
			return true;
	return false;
}

static void add(struct anchor_meters *m, const struct anchor_site *sites, size_t n)
{
	uint64_t cpu_ns;

	/* Where it cannot have them, breakpoints have to do. */
	if (anchor_counters_add(&m->counters, sites, n, NULL) < 0)
		return;
	cpu_ns = read_all(m);
	while (cpu_ns && m->at.n < m->counters.at.n) {
		struct anchor_meters_since since = { m->counters.at.at[m->at.n].hits,
						     cpu_ns };

		*vec_push(&m->at) = (struct anchor_meter){ since, since, since };
	}
}

void anchor_meters_choose(struct anchor_meters *m, uint64_t cpu_ns)
{
	const struct anchor_record *r = m->record;
	own(freep) bool *there = xcalloc(r->sites.n + 1, sizeof(*there));
	struct anchor_choice_sites sites = { .at = r->sites.at,
					     .is_there = there,
					     .n = r->sites.n,
					     .most_rate = m->budget * CHOSEN_PART * 1e9 /
							  ANCHOR_COUNTERS_HIT_NS };
	struct anchor_site chosen[ANCHOR_CHOICE_SITES];
	size_t at[ANCHOR_CHOICE_SITES], n;

	for (size_t i = 0; i < r->sites.n; i++)
		there[i] = is_there(m, r->sites.at[i].addr);
	n = anchor_choice_sites(r->blocks.at, r->blocks.n, cpu_ns, &sites, at);
	for (size_t i = 0; i < n; i++)
		chosen[i] = r->sites.at[at[i]];
	if (n)
		add(m, chosen, n);
}

/* Telling. */

static void tell(struct anchor_meters *m, size_t i, uint32_t window, uint64_t cpu_ns)
{
	struct anchor_meter *x = &m->at.at[i];
	const struct anchor_counter *c = &m->counters.at.at[i];
	uint64_t hits = c->hits - x->told.hits;

	if (cpu_ns <= x->told.cpu_ns)
		return;
	anchor_record_site(m->record, window, false, &c->site, hits,
			   cpu_ns - x->told.cpu_ns);
	m->spent_ns += hits * ANCHOR_COUNTERS_HIT_NS;
	x->told = (struct anchor_meters_since){ c->hits, cpu_ns };
}

void anchor_meters_tell(struct anchor_meters *m, uint32_t window)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++)
		if (m->counters.at.at[i].is_on)
			tell(m, i, window, cpu_ns);
}

void anchor_meters_begin(struct anchor_meters *m)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meters_since since = { m->counters.at.at[i].hits, cpu_ns };

		m->at.at[i] = (struct anchor_meter){ since, since, since };
	}
}

void anchor_meters_begin_near(struct anchor_meters *m)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++)
		m->at.at[i].near =
			(struct anchor_meters_since){ m->counters.at.at[i].hits, cpu_ns };
}

void anchor_meters_tell_near(struct anchor_meters *m, uint32_t window)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++) {
		const struct anchor_meter *x = &m->at.at[i];
		const struct anchor_counter *c = &m->counters.at.at[i];

		if (c->is_on && cpu_ns > x->near.cpu_ns)
			anchor_record_site(m->record, window, true, &c->site,
					   c->hits - x->near.hits,
					   cpu_ns - x->near.cpu_ns);
	}
}

/* Ending. */

static bool is_too_much(const struct anchor_meters *m, size_t i, uint64_t cpu_ns)
{
	const struct anchor_meters_since *since = &m->at.at[i].looked;
	uint64_t hits = m->counters.at.at[i].hits - since->hits;

	return (double)hits * ANCHOR_COUNTERS_HIT_NS >
	       m->budget * (double)(cpu_ns - since->cpu_ns);
}

void anchor_meters_look(struct anchor_meters *m, uint32_t window)
{
	uint64_t cpu_ns = read_all(m);
	own(freep) bool *is_off = xcalloc(m->at.n + 1, sizeof(*is_off));
	bool are_some = false;

	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meters_since *since = &m->at.at[i].looked;

		if (!m->counters.at.at[i].is_on || cpu_ns < since->cpu_ns + LOOK_NS)
			continue;
		is_off[i] = is_too_much(m, i, cpu_ns);
		are_some |= is_off[i];
		*since =
			(struct anchor_meters_since){ m->counters.at.at[i].hits, cpu_ns };
		if (is_off[i])
			tell(m, i, window, cpu_ns);
	}
	/* Those that cannot be now are the next time. */
	if (are_some && anchor_counters_off(&m->counters, is_off, NULL) < 0)
		anchor_meters_check(m);
}

int anchor_meters_end(struct anchor_meters *m, struct err *e)
{
	size_t n = m->counters.at.n;
	own(freep) bool *is_off = xcalloc(n + 1, sizeof(*is_off));
	struct err why = { 0 };

	for (size_t i = 0; i < n; i++)
		is_off[i] = true;
	if (!anchor_meters_are(m) || anchor_counters_off(&m->counters, is_off, &why) == 0)
		return 0;
	/* A process that has ended has none. */
	anchor_meters_check(m);
	return anchor_meters_are(m)
		       ? err_set(e, ERR_UNSUPPORTED,
				 "process %d keeps its counters, which harm nothing: %s",
				 m->counters.pid, why.text)
		       : 0;
}
