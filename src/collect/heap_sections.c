/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_sections.h"

/* Sums, each of some 150 bytes, that ends by a timer may bring about: at first, for each
 * time, and in all, beyond which sections become longer as the process becomes older. */
#define TIMER_FIRST   20000
#define TIMER_EACH_NS UINT64_C(5000000)
#define TIMER_ALL     200000
#define TIMER_PART    8
/* Marks count until there are so many. */
#define MARKS_ALL UINT64_C(1000000)

void heap_sections_fini(struct heap_sections *s)
{
	vec_fini(&s->all);
	vec_fini(&s->sites);
	vec_fini(&s->given);
}

void heap_sections_begin(struct heap_sections *s, uint64_t from_ns)
{
	*vec_push(&s->all) = (struct heap_section){ .from_ns = from_ns };
}

static struct heap_section *last(struct heap_sections *s)
{
	return &s->all.at[s->all.n - 1];
}

static uint64_t since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

static bool is_worth_it(struct heap_sections *s, const struct gauges_cut *cut)
{
	uint64_t n = s->n_before + s->n_touched;
	uint64_t age_ns = since(cut->time_ns, s->all.at[0].from_ns);

	if (!cut->is_by_timer)
		return n < MARKS_ALL;
	if (n >= TIMER_ALL)
		return since(cut->time_ns, last(s)->from_ns) >= age_ns / TIMER_PART &&
		       n < MARKS_ALL;
	return n <= TIMER_FIRST + age_ns / TIMER_EACH_NS;
}

bool heap_sections_cut(struct heap_sections *s, const struct gauges_cut *cut,
		       struct heap_amount held)
{
	if (!s->all.n)
		return false;
	if (!s->n_touched && !last(s)->n_uncut) {
		/* As if it began then. */
		if (cut->time_ns > last(s)->from_ns)
			last(s)->from_ns = cut->time_ns;
		return false;
	}
	/* It was heard of when a later one had cut them already: no event would be told
	 * apart by another section. */
	if (cut->time_ns <= last(s)->from_ns)
		return false;
	if (!is_worth_it(s, cut)) {
		last(s)->n_uncut++;
		return false;
	}
	s->n_before += s->n_touched;
	s->n_touched = 0;
	*vec_push(&s->all) =
		(struct heap_section){ .from_ns = cut->time_ns, .held = held };
	return true;
}

static uint32_t now(const struct heap_sections *s)
{
	return s->all.n ? (uint32_t)s->all.n - 1 : 0;
}

void heap_sections_add_site(struct heap_sections *s)
{
	*vec_push(&s->sites) =
		(struct heap_section_site){ .born = now(s), .given_in = now(s) };
	s->n_touched++;
}

struct heap_given heap_sections_giving(const struct heap_sections *s, uint32_t site)
{
	const struct heap_section_site *x = &s->sites.at[site];

	return (struct heap_given){ site, x->given_in, x->given };
}

static void settle(struct heap_sections *s, uint32_t site)
{
	struct heap_section_site *x = &s->sites.at[site];

	if (x->given.blocks || x->given.bytes)
		*vec_push(&s->given) = heap_sections_giving(s, site);
	x->given = (struct heap_amount){ 0 };
}

/* The sum of the site in the section under way. */
static struct heap_amount *sum_of(struct heap_sections *s, uint32_t site)
{
	struct heap_section_site *x = &s->sites.at[site];

	if (x->given_in != now(s)) {
		settle(s, site);
		x->given_in = now(s);
		s->n_touched++;
	}
	return &x->given;
}

void heap_sections_give(struct heap_sections *s, uint32_t site, struct heap_amount amount)
{
	struct heap_amount *sum = sum_of(s, site);

	sum->blocks += amount.blocks;
	sum->bytes += amount.bytes;
}

void heap_sections_take_back(struct heap_sections *s, uint32_t site,
			     struct heap_amount amount)
{
	struct heap_amount *sum = sum_of(s, site);

	/* An interval may have ended meanwhile. */
	if (sum->blocks < amount.blocks || sum->bytes < amount.bytes)
		return;
	sum->blocks -= amount.blocks;
	sum->bytes -= amount.bytes;
}

uint64_t heap_sections_born_ns(const struct heap_sections *s, uint32_t site)
{
	return s->all.n ? s->all.at[s->sites.at[site].born].from_ns : 0;
}
