/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"
#include "memory_of_others.h"

#define LOOP 0x1000
#define REST 0x2000
/* ns */
#define GAP   100000000
#define ROUND 40 /* in a window */

enum { RAX, RBX = 3, RSP, R12 = 12 };

/* Variables of the program, which is this one, on its stack; nothing else is near. */
static struct {
	uint64_t below[64];
	uint64_t total;
	uint32_t rounds[2];
	uint64_t rest[1024];
} memory;

/* A program whose loop is executed so often in a window, and so often before it. */
struct program {
	struct anchor_steps steps;
	struct count_stand now;
	uint32_t n_windows;
};

static void begin(struct program *p)
{
	*p = (struct program){ .now = { .tid = getpid() } };
	p->now.native.regs[RSP] = (uint64_t)&memory.total;
	p->now.native.regs[RBX] = 1000;
	p->now.native.regs[R12] = 0x5000;
}

static void finish(struct program *p)
{
	anchor_steps_fini(&p->steps);
}

static void walk(struct program *p, int64_t times)
{
	p->now.native.regs[RBX] += (uint64_t)times;
	p->now.native.regs[R12] -= (uint64_t)times * 8;
	p->now.native.regs[RAX] = p->now.native.regs[RAX] * 6364136223846793005 + 1;
}

/* In memory only. */
static void walk_in_memory(struct program *p, int64_t times)
{
	memory.total += (uint64_t)times * 2;
	memory.rounds[1] -= (uint32_t)times * 100;
	p->now.native.regs[RAX] = p->now.native.regs[RAX] * 6364136223846793005 + 1;
}

/* Windows may begin and end within the block. */
static void look_by(struct program *p, void (*by)(struct program *, int64_t), int64_t gap,
		    int64_t window, uint64_t ns)
{
	uint64_t n = (uint64_t)window;
	struct anchor_choice_block blocks[] = { { LOOP + 16, n - 1, 1, 4 },
						{ LOOP, n, 3, 12 },
						{ REST, n / 3 + 7, 3, 12 } };
	struct anchor_steps_window w = { .number = p->n_windows++,
					 .gap_ns = ns,
					 .cpu_ns = ROUND * n,
					 .blocks = blocks,
					 .n = 3 };

	by(p, gap);
	anchor_steps_begin(&p->steps);
	anchor_steps_look(&p->steps, &p->now, false);
	by(p, window);
	anchor_steps_look(&p->steps, &p->now, true);
	anchor_steps_end(&p->steps, &w);
}

static void look(struct program *p, int64_t gap, int64_t window, uint64_t ns)
{
	look_by(p, walk, gap, window, ns);
}

static void they_tell_what_happens_between_windows(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 5; i++)
		look(&p, 1000000 + i, 20000 * i, GAP);
	assert_true(p.steps.are_there);
	/* By two registers, of which one is enough. */
	assert_int_equal(p.steps.gaps.n, 2 * 4);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 4);
	vec_each(x, &p.steps.gaps) {
		assert_int_equal(x->times, 1000001 + x->window);
		assert_int_equal(x->cpu_ns, GAP);
		assert_int_equal(x->walk.addr, LOOP);
		assert_int_equal(x->walk.step, 1);
	}
}

static void a_gap_in_which_a_loop_began_anew_is_left_out(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 6; i++)
		look(&p, i == 3 ? -50000 : 1000000, 20000 * i, GAP);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 4);
	vec_each(x, &p.steps.gaps)
		assert_int_equal(x->times, 1000000);
}

static void a_loop_that_often_begins_anew_tells_nothing(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 7; i++)
		look(&p, i % 3 == 0 ? -50000 : 1000000, 20000 * i, GAP);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 0);
}

static void what_is_of_many_speeds_tells_nothing(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 7; i++)
		look(&p, i % 3 ? 1000000 : 1500000, 20000 * i, GAP);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 0);
}

static void gaps_that_were_disturbed_are_left_out(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 6; i++)
		look(&p, 1000000, 20000 * i, i == 3 ? 0 : GAP);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 4);
}

static void another_stack_is_another_walk(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 6; i++) {
		look(&p, 1000000, 20000 * i, GAP);
		p.now.native.regs[RSP] -= 64;
	}
	assert_false(p.steps.are_there);
	assert_int_equal(p.steps.gaps.n, 0);
}

static void words_of_memory_walk_as_registers_do(void **state)
{
	own(finish) struct program p;
	uint64_t total = (uint64_t)&memory.total, rounds = (uint64_t)&memory.rounds[1];
	size_t n_narrow = 0;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	begin(&p);
	for (int64_t i = 1; i <= 5; i++)
		look_by(&p, walk_in_memory, 1000000 + i, 20000 * i, GAP);
	vec_each(x, &p.steps.gaps) {
		assert_int_equal(x->times, 1000001 + x->window);
		assert_true(x->walk.place == total || x->walk.place == rounds);
		n_narrow += x->walk.place == rounds;
	}
	/* Of half a word, and a whole one that was as well. */
	assert_int_equal(n_narrow, 4);
	assert_int_equal(p.steps.gaps.n, 3 * 4);
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 4);
}

/* In the last ones it did something else for most of the time, or for all of it, or was
 * begun anew.  How many of them tell. */
static size_t count_told(bool is_named)
{
	static const int64_t gaps[] = { 1000000, 1000000, 1000000, 1000000, 1000000,
					1000000, 1000000, 1000000, 1000000, 1000000,
					400000,	 0,	  -700000 };
	own(finish) struct program p;

	begin(&p);
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		if (is_named)
			*vec_push(&p.steps.named.at) = (uint64_t)&memory.total;
		look_by(&p, walk_in_memory, gaps[i], 20000 * (int64_t)(i + 1), GAP);
	}
	anchor_steps_sift(&p.steps);
	vec_each(x, &p.steps.gaps)
		assert_int_equal(x->times, gaps[x->window]);
	return p.steps.gaps.n;
}

static void a_static_variable_tells_of_gaps_that_have_less(void **state)
{
	(void)state;
	if (!memory_of_others_is_there())
		skip();
	assert_int_equal(count_told(false), 9);
	assert_int_equal(count_told(true), 9 + 2);
}

/* Each time another function's variable, perhaps. */
static void memory_that_has_been_left_tells_nothing(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 6; i++) {
		look_by(&p, walk_in_memory, 1000000 * i, 20000 * i, (uint64_t)i * GAP);
		memory.total = memory.rounds[1] = 7;
	}
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 0);
}

/* Wherever the end of the stack is by then. */
static void memory_is_the_same_in_all_calls(void **state)
{
	own(finish) struct program p;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	begin(&p);
	for (int64_t i = 1; i <= 5; i++) {
		look_by(&p, walk_in_memory, 1000000, 20000 * i, GAP);
		p.now.native.regs[RSP] += 16;
	}
	anchor_steps_sift(&p.steps);
	assert_int_equal(p.steps.gaps.n, 4);
}

/* A hundred for each of ten thousand million times. */
static void what_may_have_come_round_tells_nothing(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 5; i++)
		look_by(&p, walk_in_memory, 1000000, 20000 * i, 100ULL * GAP);
	vec_each(x, &p.steps.gaps)
		assert_int_equal(x->walk.place, (uint64_t)&memory.total);
}

static void few_steps_are_chance(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 6; i++)
		look(&p, 1000000, 100 * i, GAP);
	assert_int_equal(p.steps.gaps.n, 0);
}

static void another_program_has_walked_nowhere(void **state)
{
	own(finish) struct program p;

	(void)state;
	begin(&p);
	for (int64_t i = 1; i <= 3; i++)
		look(&p, 1000000, 20000 * i, GAP);
	anchor_steps_forget(&p.steps);
	assert_false(p.steps.are_there);
	look(&p, 1000000, 20000, GAP);
	assert_int_equal(p.steps.gaps.n, 0);
	/* It may tell of the next gap. */
	assert_true(p.steps.are_there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_tell_what_happens_between_windows),
		cmocka_unit_test(a_gap_in_which_a_loop_began_anew_is_left_out),
		cmocka_unit_test(a_loop_that_often_begins_anew_tells_nothing),
		cmocka_unit_test(what_is_of_many_speeds_tells_nothing),
		cmocka_unit_test(gaps_that_were_disturbed_are_left_out),
		cmocka_unit_test(another_stack_is_another_walk),
		cmocka_unit_test(words_of_memory_walk_as_registers_do),
		cmocka_unit_test(a_static_variable_tells_of_gaps_that_have_less),
		cmocka_unit_test(memory_that_has_been_left_tells_nothing),
		cmocka_unit_test(memory_is_the_same_in_all_calls),
		cmocka_unit_test(what_may_have_come_round_tells_nothing),
		cmocka_unit_test(few_steps_are_chance),
		cmocka_unit_test(another_program_has_walked_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
