/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_meters.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/anchor_choice.h"

#define CHOSEN_PART 0.2 /* of the budget: rates are guesses, and change */
#define LOOK_NS	    1000000u
/* In moments, a second, where there are several: what is longer by them is known. */
#define MOMENTS_RATE 3e6
#define MOMENTS_MOST 0.4 /* of a moment's time */
/* Of what counters take at most: from nothing to all of it, by what is around them. */
#define COST_PART  0.5
#define LEAST_HITS 30 /* near a window and in it, to know how long it takes natively */

void anchor_meters_fini(struct anchor_meters *m)
{
	anchor_counters_fini(&m->counters);
	vec_fini(&m->at);
}

bool anchor_meters_are(const struct anchor_meters *m)
{
	for (size_t i = 0; i < m->at.n; i++)
		if (m->counters.at.at[i].is_on ||
		    (m->at.at[i].is_for_moments && !m->at.at[i].is_left))
			return true;
	return false;
}

void anchor_meters_let_go(struct anchor_meters *m)
{
	pid_t pid = m->counters.pid;

	anchor_heirs_keep(m->heirs, &m->counters);
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
		anchor_meters_let_go(m);
	return cpu_ns;
}

void anchor_meters_check(struct anchor_meters *m)
{
	read_all(m);
}

/* The number of its counter; as many as there are: it has none. */
static size_t find(const struct anchor_meters *m, uint64_t addr)
{
	size_t i = 0;

	while (i < m->at.n && m->counters.at.at[i].site.addr != addr)
		i++;
	return i;
}

/* What nothing is known of is left. */
void anchor_meters_inherit(struct anchor_meters *m, const struct anchor_meters *of)
{
	static const struct anchor_meter unknown = { .is_for_moments = true,
						     .is_left = true };
	uint64_t cpu_ns = now_ns(m);

	if (m->at.n || !anchor_counters_inherit(&m->counters, &of->counters))
		return;
	vec_each(c, &m->counters.at) {
		struct anchor_meters_since since = { c->hits, cpu_ns };
		size_t i = find(of, c->site.addr);
		const struct anchor_meter *x = i < of->at.n ? &of->at.at[i] : &unknown;

		*vec_push(&m->at) = (struct anchor_meter){
			since, since, since, 0, 0, x->is_for_moments, x->is_left
		};
	}
}

/* Choosing. */

static bool is_on(const struct anchor_meters *m, size_t i, bool is_for_moments)
{
	const struct anchor_meter *x = &m->at.at[i];

	return x->is_for_moments == is_for_moments &&
	       (is_for_moments ? !x->is_left : m->counters.at.at[i].is_on);
}

static void add(struct anchor_meters *m, const struct anchor_site *sites, size_t n,
		bool is_for_moments)
{
	uint64_t cpu_ns;

	/* Where it cannot have them, breakpoints have to do. */
	if (anchor_counters_add(&m->counters, sites, n, NULL) < 0)
		return;
	cpu_ns = read_all(m);
	while (cpu_ns && m->at.n < m->counters.at.n) {
		struct anchor_meters_since since = { m->counters.at.at[m->at.n].hits,
						     cpu_ns };

		*vec_push(&m->at) = (struct anchor_meter){ since, since, since,
							   0,	  0,	 is_for_moments };
	}
}

static void choose(struct anchor_meters *m, uint64_t cpu_ns, double most_rate,
		   bool is_for_moments)
{
	const struct anchor_record *r = m->record;
	own(freep) bool *there = xcalloc(r->sites.n + 1, sizeof(*there));
	own(freep) bool *on = xcalloc(r->sites.n + 1, sizeof(*on));
	struct anchor_choice_sites sites = { .at = r->sites.at,
					     .is_there = there,
					     .is_on = on,
					     .n = r->sites.n,
					     .most_rate = most_rate,
					     .is_for_moments = is_for_moments };
	struct anchor_site chosen[ANCHOR_CHOICE_SITES];
	size_t at[ANCHOR_CHOICE_SITES], n;

	for (size_t i = 0; i < r->sites.n; i++) {
		size_t k = find(m, r->sites.at[i].addr);

		there[i] = k < m->at.n;
		on[i] = there[i] && is_on(m, k, is_for_moments);
	}
	n = anchor_choice_sites(r->blocks.at, r->blocks.n, cpu_ns, &sites, at);
	for (size_t i = 0; i < n; i++)
		chosen[i] = r->sites.at[at[i]];
	if (n)
		add(m, chosen, n, is_for_moments);
}

void anchor_meters_choose(struct anchor_meters *m, uint64_t cpu_ns)
{
	choose(m, cpu_ns, m->budget->part * CHOSEN_PART * 1e9 / m->hit_ns, false);
	choose(m, cpu_ns, MOMENTS_RATE, true);
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
	m->budget->spent_ns += (uint64_t)((double)hits * m->hit_ns);
	x->told = (struct anchor_meters_since){ c->hits, cpu_ns };
}

void anchor_meters_tell(struct anchor_meters *m, uint32_t window)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++)
		if (m->counters.at.at[i].is_on && !m->at.at[i].is_for_moments)
			tell(m, i, window, cpu_ns);
}

void anchor_meters_begin(struct anchor_meters *m)
{
	uint64_t cpu_ns = read_all(m);

	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meters_since since = { m->counters.at.at[i].hits, cpu_ns };

		m->at.at[i].told = m->at.at[i].near = m->at.at[i].looked = since;
	}
}

/* Moments. */

/* Where that fails they stay what they are: near this window there are none. */
static bool stand(struct anchor_meters *m, bool are_on)
{
	own(freep) bool *on = xcalloc(m->at.n + 1, sizeof(*on));

	if (!m->at.n)
		return false;
	for (size_t i = 0; i < m->at.n; i++)
		on[i] = m->at.at[i].is_for_moments ? are_on && !m->at.at[i].is_left
						   : m->counters.at.at[i].is_on;
	if (anchor_counters_stand(&m->counters, on, NULL) == 0)
		return true;
	anchor_meters_check(m);
	return false;
}

void anchor_meters_begin_near(struct anchor_meters *m)
{
	m->is_near = stand(m, true);
	for (size_t i = 0; i < m->at.n; i++) {
		m->at.at[i].near =
			(struct anchor_meters_since){ m->counters.at.at[i].hits,
						      m->counters.stood_ns };
		m->at.at[i].near_hits = m->at.at[i].near_rate = 0;
	}
}

static uint64_t near_hits(const struct anchor_meters *m, size_t i)
{
	return m->counters.at.at[i].hits - m->at.at[i].near.hits;
}

/* What the program took for those that are not on elsewhere, at most; each is left that
 * takes too much. */
static double moment_cost(struct anchor_meters *m, uint64_t cpu_ns)
{
	double sum_ns = 0;

	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meter *x = &m->at.at[i];
		double ns = (double)near_hits(m, i) * m->hit_ns;

		if (!x->is_for_moments)
			continue;
		x->is_left |= ns > MOMENTS_MOST * (double)(cpu_ns - x->near.cpu_ns);
		sum_ns += ns;
	}
	return sum_ns;
}

/* Those that were on. */
static void record_near(struct anchor_meters *m, const bool *on, uint32_t window)
{
	uint64_t cpu_ns = m->counters.stood_ns;
	double most_ns = moment_cost(m, cpu_ns);
	uint64_t cost_ns = (uint64_t)(most_ns * COST_PART);

	m->budget->spent_ns += (uint64_t)most_ns;
	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meter *x = &m->at.at[i];
		uint64_t hits = near_hits(m, i), native_ns;

		if (!on[i] || cpu_ns <= x->near.cpu_ns + cost_ns)
			continue;
		native_ns = cpu_ns - x->near.cpu_ns - cost_ns;
		anchor_record_site(m->record, window, true, &m->counters.at.at[i].site,
				   hits, native_ns);
		x->near_hits = (double)hits;
		x->near_rate = x->near_hits / (double)native_ns;
	}
}

void anchor_meters_tell_near(struct anchor_meters *m, uint32_t window, bool stay_on)
{
	own(freep) bool *were_on = xcalloc(m->at.n + 1, sizeof(*were_on));

	for (size_t i = 0; i < m->at.n; i++)
		were_on[i] = m->counters.at.at[i].is_on;
	if (stand(m, stay_on) && m->is_near)
		record_near(m, were_on, window);
	m->is_near = false;
}

/* What has a counter since a window tells nothing of that: it was chosen by it. */
double anchor_meters_window_ns(const struct anchor_meters *m)
{
	double met = 0, hits = 0, rate = 0;

	vec_each(s, &m->record->sites) {
		size_t i = find(m, s->addr);

		if (i < m->at.n && m->at.at[i].near_rate > 0)
			met += (double)s->times;
	}
	vec_each(x, &m->at) {
		hits += x->near_hits;
		rate += x->near_rate;
	}
	return met >= LEAST_HITS && hits >= LEAST_HITS ? met / rate : 0;
}

void anchor_meters_end_near(struct anchor_meters *m)
{
	stand(m, false);
	m->is_near = false;
}

/* Ending. */

static bool is_too_much(const struct anchor_meters *m, size_t i, uint64_t cpu_ns)
{
	const struct anchor_meters_since *since = &m->at.at[i].looked;
	uint64_t hits = m->counters.at.at[i].hits - since->hits;

	return (double)hits * m->hit_ns >
	       m->budget->part * (double)(cpu_ns - since->cpu_ns);
}

void anchor_meters_look(struct anchor_meters *m, uint32_t window)
{
	uint64_t cpu_ns = read_all(m);
	own(freep) bool *on = xcalloc(m->at.n + 1, sizeof(*on));

	for (size_t i = 0; i < m->at.n; i++) {
		struct anchor_meters_since *since = &m->at.at[i].looked;

		/* Those for moments, where they could not be off in time, are now. */
		on[i] = m->counters.at.at[i].is_on && !m->at.at[i].is_for_moments;
		if (!on[i] || cpu_ns < since->cpu_ns + LOOK_NS)
			continue;
		on[i] = !is_too_much(m, i, cpu_ns);
		*since =
			(struct anchor_meters_since){ m->counters.at.at[i].hits, cpu_ns };
		if (!on[i])
			tell(m, i, window, cpu_ns);
	}
	/* Those that cannot be off now are the next time. */
	if (anchor_counters_set(&m->counters, on, NULL) < 0)
		anchor_meters_check(m);
}
