/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_insns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

/* push %rbp; mov %rsp,%rbp; xor %eax,%eax; syscall */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x0f, 0x05 };

static const struct count_file_block blocks[] = {
	{ 0 },
	{ .addr = 0x1000, .size_bytes = 8, .n_insns = 4, .end = COUNT_END_SYSCALL },
	{ .addr = 0x2000, .size_bytes = 8, .n_insns = 4, .end = COUNT_END_SYSCALL },
};

struct told {
	uint32_t off[8];
	uint64_t n[8];
	unsigned n_insns;
};

static void take(void *ctx, uint32_t off, uint64_t n)
{
	struct told *told = ctx;

	told->off[told->n_insns] = off;
	told->n[told->n_insns++] = n;
}

static bool each(const struct count_file_extra *extras, size_t n_extras,
		 const uint8_t *bytes, struct told *ret)
{
	const struct count_flow_input in = {
		.blocks = blocks, .extras = extras, .n_blocks = 3, .n_extras = n_extras
	};
	own(count_insns_fini) struct count_insns c = { 0 };

	*ret = (struct told){ 0 };
	count_insns_init(&c, &in);
	return count_insns_each(&c, 1, &blocks[1], 10, bytes, take, ret);
}

static void check(const struct told *told, const uint64_t n[4])
{
	static const uint32_t offs[4] = { 0, 1, 4, 6 };

	assert_int_equal(told->n_insns, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(told->off[i], offs[i]);
		assert_int_equal(told->n[i], n[i]);
	}
}

static void each_instruction_is_executed_as_often_as_its_block(void **state)
{
	struct told told;

	(void)state;
	assert_true(each(NULL, 0, code, &told));
	check(&told, (uint64_t[]){ 10, 10, 10, 10 });
}

static void what_leaves_a_block_executed_only_what_is_before(void **state)
{
	static const struct count_file_extra extras[] = {
		{ .addr = 0x2000, .block = 2, .kind = COUNT_EXTRA_LEAVE, .n = 3 },
		{ .addr = 0x1008, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 2 },
		{ .addr = 0x1006, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 1 },
		{ .addr = 0x1001, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 4 },
		{ .addr = 0x1000, .kind = COUNT_EXTRA_ENTER, .n = 9 },
		{ .addr = 0x1001, .block = 77, .kind = COUNT_EXTRA_LEAVE, .n = 4 },
	};
	struct told told;

	(void)state;
	assert_true(each(extras, 6, code, &told));
	check(&told, (uint64_t[]){ 10, 6, 6, 5 });
}

static void what_leaves_at_once_has_not_begun(void **state)
{
	static const struct count_file_block two[2] = {
		[1] = { .addr = 0x1000, .size_bytes = 8, .n_insns = 4 }
	};
	static const struct count_file_extra extras[] = {
		{ .addr = 0x1000, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 3 },
		{ .addr = 0x1006, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 2 },
	};
	const struct count_flow_input in = {
		.blocks = two, .extras = extras, .n_blocks = 2, .n_extras = 2
	};
	own(count_insns_fini) struct count_insns insns = { 0 };

	(void)state;
	count_insns_init(&insns, &in);
	assert_int_equal(count_insns_begun(&insns, 1, 10), 7);
	assert_int_equal(count_insns_begun(&insns, 0, 5), 5);
}

static void without_its_bytes_the_first_stands_for_all(void **state)
{
	static const struct count_file_extra leaves[] = {
		{ .addr = 0x1006, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 1 },
		{ .addr = 0x1000, .block = 1, .kind = COUNT_EXTRA_LEAVE, .n = 2 },
	};
	static const uint8_t others[] = {
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90
	};
	static const uint8_t cut[] = { 0x55, 0x55, 0x55, 0x48, 0xb8, 0, 0, 0 };
	const uint8_t *const codes[] = { NULL, others, cut };
	struct told told;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_false(each(leaves, 2, codes[i], &told));
		assert_int_equal(told.n[0], 31);
		assert_false(each(leaves, 1, codes[i], &told));
		assert_int_equal(told.n_insns, 1);
		assert_int_equal(told.off[0], 0);
		assert_int_equal(told.n[0], 39);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_is_executed_as_often_as_its_block),
		cmocka_unit_test(what_leaves_at_once_has_not_begun),
		cmocka_unit_test(what_leaves_a_block_executed_only_what_is_before),
		cmocka_unit_test(without_its_bytes_the_first_stands_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
