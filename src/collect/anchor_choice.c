/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_choice.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

/* A second. */
#define LEAST_RATE 100.0
#define GOOD_RATE  2000.0
#define MOST_RATE  10000.0
#define NEAR_BYTES 4096.0 /* as near as half */
#define N_HOT	   64

struct hot {
	uint64_t addr;
	double weight;
	double covered; /* by the best that was chosen */
};

static int by_weight(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
				      : (x->addr > y->addr) - (x->addr < y->addr);
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

/* Shares of all instructions; returns how many. */
static size_t find_hot(const struct anchor_choice_block *blocks, size_t n,
		       struct hot *ret)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct hot){ .addr = blocks[i].addr,
				       .weight = (double)blocks[i].times *
						 blocks[i].n_insns };
		sum += ret[i].weight;
	}
	for (size_t i = 0; i < n; i++)
		ret[i].weight /= sum > 0 ? sum : 1;
	qsort(ret, n, sizeof(*ret), by_weight);
	return n < N_HOT ? n : N_HOT;
}

static double goodness(const struct anchor_choice_block *b, uint64_t cpu_ns)
{
	double rate = (double)b->times * 1e9 / (double)(cpu_ns + 1);

	if (rate < LEAST_RATE || rate > MOST_RATE)
		return 0;
	return sqrt(fmin(1, rate / GOOD_RATE));
}

static double cover(const struct hot *h, uint64_t addr, double good)
{
	double away = (double)(h->addr > addr ? h->addr - addr : addr - h->addr);

	return good / (1 + away / NEAR_BYTES);
}

static double gain(const struct hot *hot, size_t n_hot, uint64_t addr, double good)
{
	double sum = 0;

	for (size_t i = 0; i < n_hot; i++)
		sum += hot[i].weight *
		       fmax(0, cover(&hot[i], addr, good) - hot[i].covered);
	return sum;
}

static void take(struct hot *hot, size_t n_hot, uint64_t addr, double good)
{
	for (size_t i = 0; i < n_hot; i++)
		hot[i].covered = fmax(hot[i].covered, cover(&hot[i], addr, good));
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

size_t anchor_choice_make(const struct anchor_choice_block *blocks, size_t n,
			  uint64_t cpu_ns, uint64_t ret[ANCHOR_CHOICE_MAX])
{
	own(freep) struct hot *hot = xcalloc(n + 1, sizeof(*hot));
	own(freep) double *good = xcalloc(n + 1, sizeof(*good));
	size_t n_hot = find_hot(blocks, n, hot), n_taken = 0;

	for (size_t i = 0; i < n; i++)
		good[i] = goodness(&blocks[i], cpu_ns);
	leave_common(blocks, n, good);
	while (n_taken < ANCHOR_CHOICE_MAX) {
		double best = 0;
		size_t at = n;

		for (size_t i = 0; i < n; i++) {
			double g = good[i] > 0 ? gain(hot, n_hot, blocks[i].addr, good[i])
					       : 0;

			if (g > best) {
				best = g;
				at = i;
			}
		}
		if (at == n)
			break;
		take(hot, n_hot, blocks[at].addr, good[at]);
		ret[n_taken++] = blocks[at].addr;
	}
	return n_taken;
}
