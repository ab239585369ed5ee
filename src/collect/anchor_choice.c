/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_choice.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

#define LEAST_GAIN 0.02	  /* of all that is executed, by one more */
#define NEAR_BYTES 4096.0 /* as near as half */
#define N_HOT	   64
/* All of a program is as near as that to a counter: it tells time. */
#define FAR 0.2

struct hot {
	uint64_t addr;
	double weight;
	double covered; /* by the best that was chosen */
};

static bool is_hotter(const struct hot *a, const struct hot *b)
{
	return a->weight != b->weight ? a->weight > b->weight : a->addr < b->addr;
}

struct span {
	uint64_t addr, bytes;
	size_t block;
};

static int by_addr(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Among the n of those that come first, which are N_HOT at most. */
static size_t put(struct hot *hot, size_t n, const struct hot *x)
{
	size_t at = n < N_HOT ? n : N_HOT - 1;

	if (n == N_HOT && !is_hotter(x, &hot[at]))
		return n;
	for (; at && is_hotter(x, &hot[at - 1]); at--)
		hot[at] = hot[at - 1];
	hot[at] = *x;
	return n < N_HOT ? n + 1 : n;
}

/* Shares of all instructions; returns how many. */
static size_t find_hot(const struct anchor_choice_block *blocks, size_t n_blocks,
		       struct hot ret[N_HOT])
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_blocks; i++) {
		struct hot x = { .addr = blocks[i].addr,
				 .weight = (double)blocks[i].times * blocks[i].n_insns };

		sum += x.weight;
		n = put(ret, n, &x);
	}
	for (size_t i = 0; i < n; i++)
		ret[i].weight /= sum > 0 ? sum : 1;
	return n;
}

/* A second.  Above what is dear others are better. */
struct rates {
	double least, good, dear, most;
};

static const struct rates of_breakpoints = { 100, 2000, 10000, 10000 };
static const struct rates of_counters = { 3000, 50000, 1000000, 1000000 };
/* What these are is known within a factor of two by one window. */
static const struct rates of_moments = { 30000, 300000, 5000000, 40000000 };

static double rate_of(uint64_t times, uint64_t cpu_ns)
{
	return (double)times * 1e9 / (double)(cpu_ns + 1);
}

static double goodness(const struct rates *r, double rate)
{
	if (rate < r->least || rate > r->most)
		return 0;
	return sqrt(fmin(1, rate / r->good)) * fmin(1, r->dear / rate);
}

/* The code that is executed most, and how near all of it is at least. */
struct aims {
	struct hot *hot;
	size_t n;
	double least;
};

static double cover(const struct aims *a, const struct hot *h, uint64_t addr, double good)
{
	double away = (double)(h->addr > addr ? h->addr - addr : addr - h->addr);

	return good * fmax(a->least, 1 / (1 + away / NEAR_BYTES));
}

static double gain(const struct aims *a, uint64_t addr, double good)
{
	double sum = 0;

	for (size_t i = 0; i < a->n; i++)
		sum += a->hot[i].weight *
		       fmax(0, cover(a, &a->hot[i], addr, good) - a->hot[i].covered);
	return sum;
}

static void take(const struct aims *a, uint64_t addr, double good)
{
	for (size_t i = 0; i < a->n; i++)
		a->hot[i].covered =
			fmax(a->hot[i].covered, cover(a, &a->hot[i], addr, good));
}

/* Of code that blocks have in common each of them has a part of the times: none of these.
 */
static void leave_common(const struct anchor_choice_block *blocks, size_t n, double *good)
{
	own(freep) struct span *spans = xcalloc(n + 1, sizeof(*spans));
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++)
		spans[i] = (struct span){ blocks[i].addr, blocks[i].size_bytes, i };
	qsort(spans, n, sizeof(*spans), by_addr);
	for (size_t i = 0; i < n; i++) {
		if (spans[i].addr < end ||
		    (i + 1 < n && spans[i + 1].addr < spans[i].addr + spans[i].bytes))
			good[spans[i].block] = 0;
		if (spans[i].addr + spans[i].bytes > end)
			end = spans[i].addr + spans[i].bytes;
	}
}

/* What can be chosen. */
struct places {
	const uint64_t *addrs;
	const double *good; /* 0: it cannot */
	size_t n;
};

static size_t best_of(const struct places *p, const struct aims *a, double *ret_gain)
{
	size_t at = p->n;

	*ret_gain = 0;
	for (size_t i = 0; i < p->n; i++) {
		double g = p->good[i] > 0 ? gain(a, p->addrs[i], p->good[i]) : 0;

		if (g > *ret_gain) {
			*ret_gain = g;
			at = i;
		}
	}
	return at;
}

size_t anchor_choice_make(const struct anchor_choice_block *blocks, size_t n,
			  uint64_t cpu_ns, uint64_t ret[ANCHOR_CHOICE_MAX])
{
	own(freep) double *good = xcalloc(n + 1, sizeof(*good));
	own(freep) uint64_t *addrs = xcalloc(n + 1, sizeof(*addrs));
	struct places p = { addrs, good, n };
	struct hot hot[N_HOT];
	struct aims aims = { hot, find_hot(blocks, n, hot), 0 };
	size_t n_taken = 0;

	for (size_t i = 0; i < n; i++) {
		addrs[i] = blocks[i].addr;
		good[i] = goodness(&of_breakpoints, rate_of(blocks[i].times, cpu_ns));
	}
	leave_common(blocks, n, good);
	while (n_taken < ANCHOR_CHOICE_MAX) {
		double most;
		size_t at = best_of(&p, &aims, &most);

		if (at == n)
			break;
		take(&aims, addrs[at], good[at]);
		good[at] = 0; /* by rounding it might gain a little again */
		ret[n_taken++] = addrs[at];
	}
	return n_taken;
}

/* Those that are there cover what they are near; how often those come
 * that are on as these are to be. */
static double take_there(const struct anchor_choice_sites *s, struct places *p,
			 double *good, uint64_t cpu_ns, const struct aims *a)
{
	double rates = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (!s->is_there[i])
			continue;
		take(a, p->addrs[i], good[i]);
		good[i] = 0;
		if (s->is_on[i])
			rates += rate_of(s->at[i].times, cpu_ns);
	}
	return rates;
}

size_t anchor_choice_sites(const struct anchor_choice_block *blocks, size_t n,
			   uint64_t cpu_ns, const struct anchor_choice_sites *sites,
			   size_t ret[ANCHOR_CHOICE_SITES])
{
	own(freep) double *good = xcalloc(sites->n + 1, sizeof(*good));
	own(freep) uint64_t *addrs = xcalloc(sites->n + 1, sizeof(*addrs));
	struct places p = { addrs, good, sites->n };
	struct hot hot[N_HOT];
	struct aims aims = { hot, find_hot(blocks, n, hot), FAR };
	const struct rates *r = sites->is_for_moments ? &of_moments : &of_counters;
	size_t n_taken = 0;
	double rates;

	for (size_t i = 0; i < sites->n; i++) {
		addrs[i] = sites->at[i].addr;
		good[i] = goodness(r, rate_of(sites->at[i].times, cpu_ns));
	}
	rates = take_there(sites, &p, good, cpu_ns, &aims);
	while (n_taken < ANCHOR_CHOICE_SITES) {
		double most, rate;
		size_t at = best_of(&p, &aims, &most);

		if (at == sites->n || most < LEAST_GAIN)
			break;
		rate = rate_of(sites->at[at].times, cpu_ns);
		if (rates + rate <= sites->most_rate ||
		    (sites->is_for_moments && rates <= 0)) {
			rates += rate;
			take(&aims, addrs[at], good[at]);
			ret[n_taken++] = at;
		}
		good[at] = 0;
	}
	return n_taken;
}
