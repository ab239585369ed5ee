/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/function_ways.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/function_code.h"

/* A loop, which is come to from outside and turns, and a block behind it that returns. */
struct loop {
	struct procedure procedure;
	struct procedure_block blocks[2];
	struct procedure_way ways[4];
	struct function_code_block of_blocks[2];
	struct function_code_way of_ways[4];
	struct function_code code;
};

enum { TURN, BEHIND, RETURN, ENTRY };

static void set_up(struct loop *l)
{
	*l = (struct loop){
		.blocks = { { .first_out = 0, .n_out = 2, .n_in = 2, .is_entry = true },
			    { .first_out = 2, .n_out = 1, .n_in = 1 } },
		.ways = { [TURN] = { 0, 0, PROCEDURE_WAY_TAKEN },
			  [BEHIND] = { 0, 1, PROCEDURE_WAY_ON },
			  [RETURN] = { 1, PROCEDURE_OUTSIDE, PROCEDURE_WAY_LEAVE },
			  [ENTRY] = { PROCEDURE_OUTSIDE, 0, PROCEDURE_WAY_ENTRY } },
		.of_blocks = { { .times = 1000,
				 .times_low = 950,
				 .times_high = 1050,
				 .confidence = FREQUENCY_HIGH },
			       { .times = 10,
				 .times_low = 8,
				 .times_high = 12,
				 .confidence = FREQUENCY_MEDIUM } },
		.of_ways = { [ENTRY] = { .times = 11,
					 .times_low = 5,
					 .times_high = 22,
					 .confidence = FREQUENCY_LOW } },
	};
	l->procedure = (struct procedure){
		.blocks = l->blocks, .ways = l->ways, .n_blocks = 2, .n_ways = 4
	};
	l->code = (struct function_code){ .procedure = &l->procedure,
					  .blocks = l->of_blocks,
					  .ways = l->of_ways };
}

static void assert_entered(const struct loop *l, double times, double low, double high,
			   enum frequency_confidence confidence)
{
	assert_true(l->code.times == times);
	assert_true(l->code.times_low == low);
	assert_true(l->code.times_high == high);
	assert_int_equal(l->code.times_confidence, confidence);
}

static void the_only_way_of_a_block_is_as_often_and_as_sure(void **state)
{
	struct loop l;

	(void)state;
	set_up(&l);
	assert_true(function_ways_follow_block(&l.code, RETURN));
	assert_true(l.of_ways[RETURN].times == 10 && l.of_ways[RETURN].times_high == 12);
	assert_int_equal(l.of_ways[RETURN].confidence, FREQUENCY_MEDIUM);
	assert_false(function_ways_follow_block(&l.code, TURN));
	assert_false(function_ways_follow_block(&l.code, BEHIND));
	/* What turns comes there, too. */
	assert_false(function_ways_follow_block(&l.code, ENTRY));
	l.blocks[0].n_in = 1;
	assert_true(function_ways_follow_block(&l.code, ENTRY));
	assert_int_equal(l.of_ways[ENTRY].confidence, FREQUENCY_HIGH);
	l.blocks[0].has_unknown_ways_in = l.blocks[1].has_unknown_ways_out = true;
	assert_false(function_ways_follow_block(&l.code, ENTRY));
	assert_false(function_ways_follow_block(&l.code, RETURN));
}

static void whoever_leaves_has_entered(void **state)
{
	struct loop l;

	(void)state;
	set_up(&l);
	assert_true(function_ways_follow_block(&l.code, RETURN));
	function_ways_enter(&l.code);
	assert_entered(&l, 10, 8, 12, FREQUENCY_MEDIUM);
	/* Who may leave by other ways, too, is as often as is told of who comes. */
	l.blocks[0].has_unknown_ways_out = true;
	function_ways_enter(&l.code);
	assert_entered(&l, 11, 5, 22, FREQUENCY_LOW);
}

static void what_is_surer_tells_how_often_it_was_entered(void **state)
{
	struct loop l;

	(void)state;
	set_up(&l);
	l.blocks[0].n_in = 1;
	assert_true(function_ways_follow_block(&l.code, RETURN));
	assert_true(function_ways_follow_block(&l.code, ENTRY));
	function_ways_enter(&l.code);
	assert_entered(&l, 1000, 950, 1050, FREQUENCY_HIGH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_only_way_of_a_block_is_as_often_and_as_sure),
		cmocka_unit_test(whoever_leaves_has_entered),
		cmocka_unit_test(what_is_surer_tells_how_often_it_was_entered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
