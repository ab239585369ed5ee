/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_steps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

#define LEAST_TIMES 10000 /* in a window: it is by no chance that so many steps fit */
#define MOST_STEP   4096
#define LEAST_GAPS  3
#define MOST_OFF    1.3 /* of the middle one's speed, or the inverse */
#define STACK_REG   4

void anchor_steps_fini(struct anchor_steps *s)
{
	vec_fini(&s->walks.all);
	vec_fini(&s->gaps);
}

void anchor_steps_forget(struct anchor_steps *s)
{
	vec_clear(&s->walks.all);
	vec_clear(&s->gaps);
	s->left = (struct count_stand){ 0 };
	s->are_there = s->has_window = false;
}

/* Walking. */

/* The step of so much in so many times, 0: none.  The window may begin and end within the
 * block, before or behind the instruction that takes it. */
static int64_t step_of(int64_t change, uint64_t times)
{
	int64_t n = (int64_t)times, step, rest;

	if (times < LEAST_TIMES || times > INT64_MAX / MOST_STEP)
		return 0;
	if (change > n * MOST_STEP || change < -n * MOST_STEP)
		return 0;
	step = (change + (change < 0 ? -n : n) / 2) / n;
	rest = change - step * n;
	return rest <= llabs(step) && rest >= -llabs(step) && step && change % step == 0
		       ? step
		       : 0;
}

static int64_t changed(const struct count_stand *from, const struct count_stand *to,
		       uint32_t reg)
{
	return (int64_t)(to->native.regs[reg] - from->native.regs[reg]);
}

static bool are_of_one(const struct count_stand *a, const struct count_stand *b)
{
	return a->tid && a->tid == b->tid &&
	       a->native.regs[STACK_REG] == b->native.regs[STACK_REG];
}

static bool had_walk(const struct anchor_steps *s, const struct anchor_steps_walk *walk)
{
	vec_each(x, &s->walks.all)
		if (x->addr == walk->addr && x->step == walk->step && x->reg == walk->reg)
			return true;
	return false;
}

/* What the register has become since the last window, as that walk. */
static void tell(struct anchor_steps *s, uint32_t window,
		 const struct anchor_steps_walk *walk, const struct count_stand *came,
		 uint64_t cpu_ns)
{
	int64_t change = changed(&s->left, came, walk->reg), times = change / walk->step;

	*vec_push(&s->gaps) = (struct anchor_steps_gap){
		.walk = *walk,
		.window = window,
		/* None: it was begun anew. */
		.times = times > 0 && change % walk->step == 0 ? (uint64_t)times : 0,
		.cpu_ns = cpu_ns,
	};
}

/* Of those that the register has as it had them before; others are executed as often. */
static const struct anchor_steps_walk *
lowest(const struct anchor_steps *s, const struct anchor_steps_walks *now, uint32_t reg)
{
	const struct anchor_steps_walk *ret = NULL;

	vec_each(x, &now->all)
		if (x->reg == reg && (!ret || x->addr < ret->addr) && had_walk(s, x))
			ret = x;
	return ret;
}

static void find_walks(const struct count_stand *came, const struct count_stand *left,
		       const struct anchor_choice_block *blocks, size_t n,
		       struct anchor_steps_walks *ret)
{
	for (uint32_t reg = 0; reg < ANCHOR_STEPS_REGS; reg++) {
		int64_t change = changed(came, left, reg);
		bool stands = change > -LEAST_TIMES && change < LEAST_TIMES;

		for (size_t i = 0; i < n && !stands && reg != STACK_REG; i++) {
			int64_t step = step_of(change, blocks[i].times);

			if (step)
				*vec_push(&ret->all) =
					(struct anchor_steps_walk){ blocks[i].addr, step,
								    reg };
		}
	}
}

void anchor_steps_window(struct anchor_steps *s, uint32_t window,
			 const struct count_stand *came, const struct count_stand *left,
			 uint64_t cpu_ns, const struct anchor_choice_block *blocks,
			 size_t n)
{
	struct anchor_steps_walks now = { 0 };
	bool follows = are_of_one(&s->left, came);

	if (are_of_one(came, left))
		find_walks(came, left, blocks, n, &now);
	/* Behind the first window, such as may go on. */
	s->are_there = !s->has_window && now.all.n;
	s->has_window = true;
	for (uint32_t reg = 0; follows && reg < ANCHOR_STEPS_REGS; reg++) {
		const struct anchor_steps_walk *walk = lowest(s, &now, reg);

		s->are_there |= walk != NULL;
		if (walk && cpu_ns)
			tell(s, window, walk, came, cpu_ns);
	}
	vec_fini(&s->walks.all);
	s->walks = now;
	s->left = *left;
}

/* Sifting. */

static double speed_of(const struct anchor_steps_gap *x)
{
	return (double)x->times / (double)x->cpu_ns;
}

static int by_speed(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool are_alike(const struct anchor_steps_walk *a,
		      const struct anchor_steps_walk *b)
{
	return a->reg == b->reg && a->step == b->step;
}

static bool is_steady(const struct anchor_steps *s, const struct anchor_steps_gap *of)
{
	own(freep) double *speeds = xcalloc(s->gaps.n, sizeof(*speeds));
	double middle;
	size_t n = 0;

	vec_each(x, &s->gaps)
		if (are_alike(&x->walk, &of->walk))
			speeds[n++] = speed_of(x);
	qsort(speeds, n, sizeof(*speeds), by_speed);
	middle = speeds[n / 2];
	return n >= LEAST_GAPS && speeds[0] * MOST_OFF >= middle &&
	       speeds[n - 1] <= middle * MOST_OFF && middle > 0;
}

/* By another register of the same loop. */
static bool is_told(const struct anchor_steps *s, size_t n,
		    const struct anchor_steps_gap *gap)
{
	for (size_t i = n; i-- && s->gaps.at[i].window == gap->window;)
		if (s->gaps.at[i].walk.addr == gap->walk.addr)
			return true;
	return false;
}

void anchor_steps_sift(struct anchor_steps *s)
{
	own(freep) bool *stays = xcalloc(s->gaps.n + 1, sizeof(*stays));
	size_t n = 0;

	for (size_t i = 0; i < s->gaps.n; i++)
		stays[i] = is_steady(s, &s->gaps.at[i]);
	for (size_t i = 0; i < s->gaps.n; i++)
		if (stays[i] && !is_told(s, n, &s->gaps.at[i]))
			s->gaps.at[n++] = s->gaps.at[i];
	s->gaps.n = n;
}
