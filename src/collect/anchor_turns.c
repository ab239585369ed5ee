/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_turns.h"

#include <math.h>

#define MOST_HIT_NS 50000.0
#define N_HALVINGS  40
#define LEAST_HITS  300 /* of each kind of turn, to tell what one costs */
/* Of the time, that at least is taken for the program's own. */
#define LEAST_PART 0.1

void anchor_turns_fini(struct anchor_turns *t)
{
	vec_fini(&t->sums);
}

void anchor_turns_clear(struct anchor_turns *t)
{
	vec_clear(&t->sums);
}

static struct anchor_turns_sum *find(struct anchor_turns *t,
				     const struct anchor_turns_sum *x)
{
	for (size_t i = t->sums.n; i-- > 0;) {
		struct anchor_turns_sum *s = &t->sums.at[i];

		if (s->window != x->window)
			return NULL; /* they come in order */
		if (s->addr == x->addr && s->is_all == x->is_all)
			return s;
	}
	return NULL;
}

void anchor_turns_add(struct anchor_turns *t, const struct anchor_turns_sum *x)
{
	struct anchor_turns_sum *s = find(t, x);

	if (!s) {
		*vec_push(&t->sums) = *x;
		return;
	}
	s->hits += x->hits;
	s->all_hits += x->all_hits;
	s->cpu_ns += x->cpu_ns;
}

static double native_ns(double cpu_ns, double all_hits, double hit_ns)
{
	return fmax(cpu_ns - all_hits * hit_ns, cpu_ns * LEAST_PART);
}

uint64_t anchor_turns_native_ns(const struct anchor_turns_sum *x, double hit_ns)
{
	return (uint64_t)native_ns((double)x->cpu_ns, (double)x->all_hits, hit_ns);
}

/* Of one place in both kinds of turns, [is_all]. */
struct both {
	double hits[2], all_hits[2], cpu_ns[2];
};

static struct both sum_of(const struct anchor_turns *t, uint64_t addr)
{
	struct both b = { 0 };

	vec_each(s, &t->sums) {
		if (s->addr != addr)
			continue;
		b.hits[s->is_all] += (double)s->hits;
		b.all_hits[s->is_all] += (double)s->all_hits;
		b.cpu_ns[s->is_all] += (double)s->cpu_ns;
	}
	return b;
}

/* By how much more often it came in turns with all, were this the cost: a logarithm. */
static double excess(const struct both *b, double hit_ns)
{
	double often[2];

	for (int i = 0; i < 2; i++)
		often[i] = b->hits[i] / native_ns(b->cpu_ns[i], b->all_hits[i], hit_ns);
	return log(often[1] / often[0]);
}

static bool is_first(const struct anchor_turns *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (t->sums.at[k].addr == t->sums.at[i].addr)
			return false;
	return true;
}

static double mean_excess(const struct anchor_turns *t, double hit_ns, double *ret_hits)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < t->sums.n; i++) {
		struct both b = sum_of(t, t->sums.at[i].addr);
		double hits = fmin(b.hits[0], b.hits[1]);

		if (!is_first(t, i) || hits < 1)
			continue;
		sum += hits * excess(&b, hit_ns);
		weight += hits;
	}
	*ret_hits = weight;
	return weight > 0 ? sum / weight : 0;
}

double anchor_turns_hit_ns(const struct anchor_turns *t, double guess_ns)
{
	double low = 0, high = MOST_HIT_NS, hits;

	mean_excess(t, guess_ns, &hits);
	if (hits < LEAST_HITS)
		return guess_ns;
	for (int i = 0; i < N_HALVINGS; i++) {
		double mid = (low + high) / 2;

		if (mean_excess(t, mid, &hits) < 0)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}
