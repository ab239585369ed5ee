/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/own.h"
#include "collect/count_flow.h"

static const struct count_file_block blocks[] = {
	{ 0 },
	{ .addr = 0x1000, .target = 0x2000, .size_bytes = 16, .end = COUNT_END_CALL },
	{ .addr = 0x2000,
	  .target = 0x1000,
	  .size_bytes = 16,
	  .end = COUNT_END_CONDITIONAL },
	{ .addr = 0x2010, .size_bytes = 16, .end = COUNT_END_RETURN },
	{ .addr = 0x2000, .size_bytes = 16, .end = COUNT_END_JUMP_TO, .nest = 1 },
};
static const struct count_file_pair pairs[] = {
	{ .block = 4, .target = 0x2010 }, /* in the block's nest */
	{ .block = 9, .target = 0x1000 }, /* of no block */
};
static const struct count_file_extra extras[] = {
	{ .addr = 0x1000, .kind = COUNT_EXTRA_ENTER },
	{ .addr = 0x2004, .kind = COUNT_EXTRA_LEAVE, .block = 2 },
	{ .addr = 0x3000, .kind = COUNT_EXTRA_LEAVE },
};

static const struct count_flow_input in = { .blocks = blocks,
					    .pairs = pairs,
					    .extras = extras,
					    .n_blocks = 5,
					    .n_pairs = 2,
					    .n_extras = 3 };

static void an_address_of_a_nest_has_one_number(void **state)
{
	own(count_places_fini) struct count_places p = { 0 };

	(void)state;
	count_places_find(&p, &in);
	/* Outside of all code, four begins, where the pair leads, and the last extra. */
	assert_int_equal(p.n, 7);
	assert_int_equal(p.blocks[1].to, p.blocks[2].start);
	assert_int_equal(p.blocks[2].to, p.blocks[1].start);
	assert_int_equal(p.blocks[2].on, p.blocks[3].start);
	assert_int_not_equal(p.blocks[2].start, p.blocks[4].start);
	assert_int_equal(p.pairs[0], 5);
	assert_int_equal(p.extras[0], p.blocks[1].start);
	assert_int_equal(p.extras[2], 6);
}

static void what_leads_out_of_all_code_or_is_of_no_block_has_none(void **state)
{
	own(count_places_fini) struct count_places p = { 0 };

	(void)state;
	count_places_find(&p, &in);
	assert_int_equal(p.blocks[1].on, 0);
	assert_int_equal(p.blocks[3].to, 0);
	assert_int_equal(p.pairs[1], 0);
	assert_int_equal(p.extras[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_of_a_nest_has_one_number),
		cmocka_unit_test(what_leads_out_of_all_code_or_is_of_no_block_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
