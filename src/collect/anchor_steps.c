/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_steps.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "base/own.h"
#include "decode/x86_op.h"

#define LEAST_TIMES 10000 /* in a window: it is by no chance that so many steps fit */
#define MOST_STEP   4096
#define LEAST_GAPS  3
#define MOST_OFF    1.3	 /* of the middle one's speed, or the inverse ... */
#define LEAST_PART  0.75 /* ... are so many of the gaps */
/* So many times as fast as in a window, which begins slowly, a program is at most. */
#define MOST_FASTER 8.0
#define MOST_TOLD   32 /* places, of a window */
#define CODE_BYTES  4096u

static void view_clear(struct anchor_steps_view *v)
{
	v->stand = (struct count_stand){ 0 };
	anchor_words_clear(&v->words);
}

void anchor_steps_fini(struct anchor_steps *s)
{
	vec_fini(&s->walks.all);
	vec_fini(&s->gaps);
	vec_fini(&s->named.at);
	anchor_words_fini(&s->before.words);
	anchor_words_fini(&s->came.words);
	anchor_words_fini(&s->left.words);
}

void anchor_steps_forget(struct anchor_steps *s)
{
	vec_clear(&s->walks.all);
	vec_clear(&s->gaps);
	vec_clear(&s->named.at);
	view_clear(&s->before);
	s->are_there = s->has_window = false;
}

/* Looking. */

void anchor_steps_begin(struct anchor_steps *s)
{
	view_clear(&s->came);
	view_clear(&s->left);
}

void anchor_steps_look(void *steps, const struct count_stand *stand, bool is_left)
{
	struct anchor_steps *s = steps;
	struct anchor_steps_view *v = is_left ? &s->left : &s->came;

	v->stand = *stand;
	if (is_left)
		anchor_words_take_as(&v->words, &s->came.words, stand->tid);
	else
		anchor_words_take(&v->words, stand, &s->named);
}

static bool are_of_one(const struct anchor_steps_view *a,
		       const struct anchor_steps_view *b)
{
	return a->stand.tid && a->stand.tid == b->stand.tid;
}

/* A place of so many bytes, as a view has it.  Whose registers these are the stack tells;
 * memory is the same whoever asks. */
static bool value_of(const struct anchor_steps_view *v, uint64_t place, uint64_t *ret)
{
	if (place >= ANCHOR_STEPS_REGS)
		return anchor_words_find(&v->words, place - place % sizeof(uint64_t),
					 ret);
	*ret = v->stand.native.regs[place];
	return true;
}

static int64_t difference(uint64_t from, uint64_t to, uint64_t place, uint32_t bytes)
{
	uint32_t shift = place < ANCHOR_STEPS_REGS ? 0 : place % sizeof(uint64_t) * 8;

	if (bytes == sizeof(uint64_t))
		return (int64_t)(to - from);
	return (int32_t)((uint32_t)(to >> shift) - (uint32_t)(from >> shift));
}

static bool changed(const struct anchor_steps_view *from,
		    const struct anchor_steps_view *to, uint64_t place, uint32_t bytes,
		    int64_t *ret)
{
	uint64_t a, b;

	if (!are_of_one(from, to) || !value_of(from, place, &a) ||
	    !value_of(to, place, &b))
		return false;
	if (place < ANCHOR_STEPS_REGS &&
	    from->stand.native.regs[X86_OP_RSP] != to->stand.native.regs[X86_OP_RSP])
		return false;
	*ret = difference(a, b, place, bytes);
	return true;
}

/* Walking. */

/* The step of so much in so many times, 0: none.  The window may begin and end within the
 * block, before or behind the instruction that takes it. */
static int32_t step_of(int64_t change, uint64_t times)
{
	int64_t n = (int64_t)times, step, rest;

	if (times < LEAST_TIMES || times > INT64_MAX / MOST_STEP)
		return 0;
	if (change > n * MOST_STEP || change < -n * MOST_STEP)
		return 0;
	step = (change + (change < 0 ? -n : n) / 2) / n;
	rest = change - step * n;
	return rest <= llabs(step) && rest >= -llabs(step) && step && change % step == 0
		       ? (int32_t)step
		       : 0;
}

static void find_walks(const struct anchor_steps *s, uint64_t place, uint32_t bytes,
		       const struct anchor_steps_window *w,
		       struct anchor_steps_walks *ret)
{
	int64_t change;

	if (!changed(&s->came, &s->left, place, bytes, &change))
		return;
	if (change > -LEAST_TIMES && change < LEAST_TIMES)
		return; /* it stands */
	for (size_t i = 0; i < w->n; i++) {
		int32_t step = step_of(change, w->blocks[i].times);

		if (step)
			*vec_push(&ret->all) =
				(struct anchor_steps_walk){ place, bytes, step,
							    w->blocks[i].addr };
	}
}

/* w: of blocks that are executed often, by their addresses. */
static void find_all_walks(const struct anchor_steps *s,
			   const struct anchor_steps_window *w,
			   struct anchor_steps_walks *ret)
{
	for (uint64_t reg = 0; reg < ANCHOR_STEPS_REGS; reg++)
		if (reg != X86_OP_RSP)
			find_walks(s, reg, sizeof(uint64_t), w, ret);
	vec_each(area, &s->came.words.areas)
		for (size_t i = 0; i < area->n; i++) {
			uint64_t place = area->addr + i * sizeof(uint64_t);

			find_walks(s, place, sizeof(uint64_t), w, ret);
			find_walks(s, place, sizeof(uint32_t), w, ret);
			find_walks(s, place + sizeof(uint32_t), sizeof(uint32_t), w, ret);
		}
}

static int by_place(const void *a, const void *b)
{
	const struct anchor_steps_walk *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

static int by_place_and_block(const void *a, const void *b)
{
	const struct anchor_steps_walk *x = a, *y = b;
	int rc = by_place(a, b);

	return rc ? rc : (x->addr > y->addr) - (x->addr < y->addr);
}

static void sort(struct anchor_steps_walks *w)
{
	if (w->all.n)
		qsort(w->all.at, w->all.n, sizeof(*w->all.at), by_place_and_block);
}

static bool had_walk(const struct anchor_steps *s, const struct anchor_steps_walk *walk)
{
	return s->walks.all.n && bsearch(walk, s->walks.all.at, s->walks.all.n,
					 sizeof(*walk), by_place_and_block);
}

/* By its speed in the window, which is slow. */
static bool may_be_round(const struct anchor_steps *s,
			 const struct anchor_steps_walk *walk,
			 const struct anchor_steps_window *w)
{
	int64_t change = 0;

	return !changed(&s->came, &s->left, walk->place, walk->bytes, &change) ||
	       (double)llabs(change) * (double)w->gap_ns * MOST_FASTER >
		       0x1p32 * (double)w->cpu_ns;
}

static bool is_named(const struct anchor_steps *s, uint64_t place)
{
	vec_each(x, &s->named.at)
		if (*x == place)
			return true;
	return false;
}

/* What the place has become since the last window, as that walk. */
static void tell(struct anchor_steps *s, const struct anchor_steps_walk *walk,
		 int64_t change, const struct anchor_steps_window *w)
{
	bool is_narrow = walk->bytes == sizeof(uint32_t);
	int64_t times;
	bool is_anew;

	if (is_narrow && may_be_round(s, walk, w))
		return;
	if (is_narrow) /* its sign is nobody's */
		change = walk->step > 0 ? (int64_t)(uint32_t)change
					: -(int64_t)(uint32_t)-change;
	times = change / walk->step;
	is_anew = times < 0 || change % walk->step;
	*vec_push(&s->gaps) = (struct anchor_steps_gap){
		.walk = *walk,
		.window = w->number,
		.times = is_anew ? 0 : (uint64_t)times,
		.cpu_ns = w->gap_ns,
		.is_anew = is_anew,
		.is_named = is_named(s, walk->place),
	};
}

/* Of each place that walks as it did before, by the lowest of those blocks: others are
 * executed as often. */
static void tell_all(struct anchor_steps *s, const struct anchor_steps_walks *now,
		     const struct anchor_steps_window *w)
{
	const struct anchor_steps_walk *last = NULL;
	size_t n_told = 0;

	vec_each(x, &now->all) {
		int64_t change;

		if ((last && by_place(last, x) == 0) || !had_walk(s, x) ||
		    !changed(&s->before, &s->came, x->place, x->bytes, &change))
			continue;
		s->are_there = true;
		last = x;
		if (w->gap_ns && n_told++ < MOST_TOLD)
			tell(s, x, change, w);
	}
}

/* Windows. */

static int by_addr(const void *a, const void *b)
{
	const struct anchor_choice_block *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Those that are executed often, by address; the caller frees them. */
static struct anchor_choice_block *often(const struct anchor_steps_window *w, size_t *ret)
{
	struct anchor_choice_block *all = xcalloc(w->n + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->blocks[i].times >= LEAST_TIMES)
			all[n++] = w->blocks[i];
	qsort(all, n, sizeof(*all), by_addr);
	*ret = n;
	return all;
}

/* For the next window. */
static void name_words(struct anchor_steps *s, const struct anchor_choice_block *blocks,
		       size_t n)
{
	uint8_t code[CODE_BYTES];

	vec_clear(&s->named.at);
	for (size_t i = 0; i < n; i++) {
		size_t bytes = blocks[i].size_bytes < CODE_BYTES ? blocks[i].size_bytes
								 : CODE_BYTES;
		struct iovec here = { code, bytes },
			     there = { (void *)blocks[i].addr, bytes };

		if (process_vm_readv(s->left.stand.tid, &here, 1, &there, 1, 0) ==
		    (ssize_t)bytes)
			anchor_words_name(&s->named, code, bytes, blocks[i].addr);
	}
}

static void keep_left(struct anchor_steps *s)
{
	struct anchor_steps_view before = s->before;

	s->before = s->left;
	s->left = before;
}

void anchor_steps_end(struct anchor_steps *s, const struct anchor_steps_window *w)
{
	struct anchor_steps_window hot = *w;
	own(freep) struct anchor_choice_block *blocks = often(w, &hot.n);
	struct anchor_steps_walks now = { 0 };

	hot.blocks = blocks;
	find_all_walks(s, &hot, &now);
	sort(&now);
	/* Behind the first window, such as may go on. */
	s->are_there = !s->has_window && now.all.n;
	s->has_window = true;
	tell_all(s, &now, &hot);
	if (s->left.stand.tid)
		name_words(s, hot.blocks, hot.n);
	vec_fini(&s->walks.all);
	s->walks = now;
	keep_left(s);
}

/* Sifting. */

static int by_speed(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double speed_of(const struct anchor_steps_gap *x)
{
	return (double)x->times / (double)x->cpu_ns;
}

static double usual_speed(const struct anchor_steps_gap *gaps, size_t n)
{
	own(freep) double *speeds = xcalloc(n, sizeof(*speeds));

	for (size_t i = 0; i < n; i++)
		speeds[i] = speed_of(&gaps[i]);
	qsort(speeds, n, sizeof(*speeds), by_speed);
	return speeds[n / 2];
}

static bool is_steady(const struct anchor_steps_gap *x, double usual)
{
	return speed_of(x) * MOST_OFF >= usual && speed_of(x) <= usual * MOST_OFF;
}

/* The loop was left for a part of the gap.  Half a word may have come round instead. */
static bool is_part(const struct anchor_steps_gap *x, double usual)
{
	return x->is_named && !x->is_anew && x->walk.bytes == sizeof(uint64_t) &&
	       speed_of(x) < usual;
}

/* Puts those that are to be believed first: their number, 0: too few are of about the
 * usual speed. */
static size_t take_believed(struct anchor_steps_gap *gaps, size_t n)
{
	double usual = usual_speed(gaps, n);
	size_t n_steady = 0, ret = 0;

	for (size_t i = 0; i < n && usual > 0; i++)
		n_steady += is_steady(&gaps[i], usual);
	if (n_steady < LEAST_GAPS || (double)n_steady < LEAST_PART * (double)n)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (is_steady(&gaps[i], usual) || is_part(&gaps[i], usual))
			gaps[ret++] = gaps[i];
	return ret;
}

static int gaps_by_place(const void *a, const void *b)
{
	const struct anchor_steps_gap *x = a, *y = b;
	int rc = by_place(&x->walk, &y->walk);

	return rc ? rc : (x->window > y->window) - (x->window < y->window);
}

static int gaps_by_window(const void *a, const void *b)
{
	const struct anchor_steps_gap *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	if (x->walk.addr != y->walk.addr)
		return x->walk.addr < y->walk.addr ? -1 : 1;
	return by_place(&x->walk, &y->walk);
}

/* Of places that are believed. */
static void keep_believed(struct anchor_steps *s)
{
	size_t n = 0, next, n_believed;

	for (size_t i = 0; i < s->gaps.n; i = next) {
		struct anchor_steps_gap *of = &s->gaps.at[i];

		next = i;
		while (next < s->gaps.n &&
		       by_place(&s->gaps.at[next].walk, &of->walk) == 0)
			next++;
		n_believed = take_believed(of, next - i);
		for (size_t k = 0; k < n_believed; k++)
			s->gaps.at[n++] = of[k];
	}
	s->gaps.n = n;
}

/* The same loop is told by one place. */
static void drop_told(struct anchor_steps *s)
{
	size_t n = 0;

	vec_each(x, &s->gaps) {
		const struct anchor_steps_gap *last = n ? &s->gaps.at[n - 1] : NULL;

		if (!last || last->window != x->window || last->walk.addr != x->walk.addr)
			s->gaps.at[n++] = *x;
	}
	s->gaps.n = n;
}

void anchor_steps_sift(struct anchor_steps *s)
{
	if (!s->gaps.n)
		return;
	qsort(s->gaps.at, s->gaps.n, sizeof(*s->gaps.at), gaps_by_place);
	keep_believed(s);
	if (s->gaps.n)
		qsort(s->gaps.at, s->gaps.n, sizeof(*s->gaps.at), gaps_by_window);
	drop_told(s);
}
