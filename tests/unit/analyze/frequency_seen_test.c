/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_seen.h"

#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/function_code.h"
#include "base/mem.h"

#define BEGIN 0x1000

/* A loop of blocks 0 to 2, of which 1 is left out now and then, and a return:
 * cmp %rax, %rbx; je 1f; nop; 1: dec %rcx; jne 0b; ret. */
static const uint8_t code[] = { 0x48, 0x39, 0xc3, 0x74, 0x01, 0x90,
				0x48, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };

/* How often the middle of each range is; half of it, and twice, are the ends. */
static const double times[] = { 100, 10, 100, 1 };

static double times_of_way(const struct procedure_way *w)
{
	static const struct {
		uint32_t from, to;
		double times;
	} ways[] = {
		{ PROCEDURE_OUTSIDE, 0, 1 },
		{ 0, 1, 10 },
		{ 0, 2, 90 },
		{ 1, 2, 10 },
		{ 2, 0, 99 },
		{ 2, 3, 1 },
		{ 3, PROCEDURE_OUTSIDE, 1 },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i].from == w->from && ways[i].to == w->to)
			return ways[i].times;
	fail_msg("there is no way from %u to %u", w->from, w->to);
	return 0;
}

static void make(struct function_code *c)
{
	struct procedure_range range = { BEGIN, code, sizeof(code) };
	struct procedure_options o = {
		.machine = EM_X86_64, .ranges = &range, .n_ranges = 1, .entry = BEGIN
	};

	*c = (struct function_code){ .is_estimated = true };
	assert_int_equal(procedure_new(&o, &c->procedure, NULL), 0);
	assert_int_equal(c->procedure->n_blocks, 4);
	c->steps = xcalloc(c->procedure->n_steps + 1, sizeof(*c->steps));
	c->blocks = xcalloc(5, sizeof(*c->blocks));
	c->ways = xcalloc(c->procedure->n_ways + 1, sizeof(*c->ways));
	for (uint32_t i = 0; i < 4; i++)
		c->blocks[i] = (struct function_code_block){ .times = times[i],
							     .times_low = times[i] / 2,
							     .times_high = times[i] * 2 };
	for (uint32_t i = 0; i < c->procedure->n_ways; i++) {
		double n = times_of_way(&c->procedure->ways[i]);

		c->ways[i] = (struct function_code_way){ .times = n,
							 .times_low = n / 2,
							 .times_high = n * 2 };
	}
}

static struct function_code_way *way(const struct function_code *c, uint32_t from,
				     uint32_t to)
{
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		if (c->procedure->ways[i].from == from && c->procedure->ways[i].to == to)
			return &c->ways[i];
	fail_msg("there is no way from %u to %u", from, to);
	return NULL;
}

static void check_low(double have, double want)
{
	if (fabs(have - want) > 1e-9)
		fail_msg("%g, not %g", have, want);
}

/* Samples in block 2 alone: it was come to from 1 or from 0, in 50 cases at least; from 1
 * in 20 at most.  It is left to the return twice at most. */
static void what_nobody_saw_has_what_others_leave(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	make(&c);
	c.blocks[2].samples = 5;
	frequency_seen_begin(&c);
	check_low(c.blocks[2].times_low, 50);
	check_low(c.blocks[1].times_low, 0);
	check_low(c.blocks[3].times_low, 0);
	check_low(way(&c, PROCEDURE_OUTSIDE, 0)->times_low, 0);
	check_low(way(&c, 0, 1)->times_low, 0);
	check_low(way(&c, 1, 2)->times_low, 0);
	check_low(way(&c, 0, 2)->times_low, 30);
	check_low(way(&c, 2, 0)->times_low, 48);
	check_low(way(&c, 2, 3)->times_low, 0);
	check_low(way(&c, 3, PROCEDURE_OUTSIDE)->times_low, 0);
	check_low(c.blocks[0].times_low, 48);
}

/* Block 1 has no other way in than from 0, and no other out than to 2. */
static void who_was_there_came_by_the_only_way(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	make(&c);
	c.blocks[1].samples = 5;
	frequency_seen_begin(&c);
	for (uint32_t i = 0; i < 3; i++)
		check_low(c.blocks[i].times_low, times[i] / 2);
	check_low(way(&c, 0, 1)->times_low, 5);
	check_low(way(&c, 1, 2)->times_low, 5);
	check_low(c.blocks[3].times_low, 0);
}

static void where_a_branch_was_seen_to_go_is_seen(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	make(&c);
	c.blocks[2].samples = 5;
	way(&c, 2, 3)->told = 1;
	frequency_seen_begin(&c);
	check_low(way(&c, 2, 3)->times_low, 0.5);
	check_low(c.blocks[3].times_low, 0.5);
	check_low(way(&c, 3, PROCEDURE_OUTSIDE)->times_low, 0.5);
	check_low(c.blocks[1].times_low, 0);
}

/* Numbers and ends of ranges are as they were. */
static void nothing_but_begins_is_changed(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	make(&c);
	c.blocks[2].samples = 5;
	frequency_seen_begin(&c);
	for (uint32_t i = 0; i < 4; i++) {
		check_low(c.blocks[i].times, times[i]);
		check_low(c.blocks[i].times_high, times[i] * 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_saw_has_what_others_leave),
		cmocka_unit_test(who_was_there_came_by_the_only_way),
		cmocka_unit_test(where_a_branch_was_seen_to_go_is_seen),
		cmocka_unit_test(nothing_but_begins_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
