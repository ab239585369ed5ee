/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/steady_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS   UINT64_C(1000000)
#define AT   UINT64_C(0x5000)
#define PAGE 4096
#define SIZE (40 * PAGE)

/* Of a process: bytes from AT on. */
static uint8_t memory[SIZE];
static unsigned n_looks;

static size_t look(pid_t pid, uint64_t addr, void *to, size_t size)
{
	n_looks++;
	if (pid != 7 || addr < AT || addr - AT > SIZE - size)
		return 0;
	memcpy(to, memory + (addr - AT), size);
	return size;
}

static int begin(void **state)
{
	memset(memory, 0x11, sizeof(memory));
	n_looks = 0;
	*state = steady_memory_new(look);
	return 0;
}

static int end(void **state)
{
	steady_memory_free(*state);
	return 0;
}

/* What is told at a time of what was there a millisecond before; -1: nothing. */
static int told(struct steady_memory *m, uint64_t now_ns, uint64_t addr)
{
	uint8_t byte;

	steady_memory_begin(m, now_ns - MS, now_ns);
	return steady_memory_read(m, 1, 7, addr, &byte, 1) ? byte : -1;
}

static void what_stays_the_same_is_believed_after_a_while(void **state)
{
	assert_int_equal(told(*state, 100 * MS, AT), -1);
	assert_int_equal(told(*state, 110 * MS, AT), -1);
	assert_int_equal(told(*state, 121 * MS, AT), 0x11);
	assert_int_equal(told(*state, 122 * MS, AT + PAGE - 1), 0x11);
	assert_int_equal(told(*state, 122 * MS, AT + PAGE), -1);
}

static void what_is_believed_is_seldom_looked_at(void **state)
{
	for (uint64_t t = 100; t < 140; t++)
		told(*state, t * MS, AT);
	n_looks = 0;
	for (uint64_t t = 140; t < 240; t++)
		assert_int_equal(told(*state, t * MS, AT), 0x11);
	assert_in_range(n_looks, 9, 11);
}

static void what_has_changed_is_believed_later(void **state)
{
	for (uint64_t t = 100; t < 140; t++)
		told(*state, t * MS, AT);
	memory[5] = 0x22;
	assert_int_equal(told(*state, 150 * MS, AT + 5), -1);
	assert_int_equal(told(*state, 200 * MS, AT + 5), -1);
	assert_int_equal(told(*state, 200 * MS, AT + 8), 0x11); /* another word */
	assert_int_equal(told(*state, 231 * MS, AT + 5), 0x22);
	memory[6] = 0x33;
	assert_int_equal(told(*state, 242 * MS, AT + 5), -1);
	assert_int_equal(told(*state, 400 * MS, AT + 5), -1);
	assert_int_equal(told(*state, 563 * MS, AT + 6), 0x33);
}

static void what_was_before_it_was_looked_at_is_not_told(void **state)
{
	uint8_t byte;

	told(*state, 100 * MS, AT);
	steady_memory_begin(*state, 99 * MS, 130 * MS);
	assert_false(steady_memory_read(*state, 1, 7, AT, &byte, 1));
	steady_memory_begin(*state, 101 * MS, 130 * MS);
	assert_true(steady_memory_read(*state, 1, 7, AT, &byte, 1));
}

static void numbers_may_be_in_two_pages(void **state)
{
	uint64_t word = 0;

	memory[PAGE - 1] = 0x44;
	for (uint64_t t = 100; t < 160; t++) {
		steady_memory_begin(*state, t * MS - 1, t * MS);
		steady_memory_read(*state, 1, 7, AT + PAGE - 4, &word, 8);
	}
	assert_int_equal(word, 0x1111111144111111);
}

static void another_program_has_other_memory(void **state)
{
	uint8_t byte;

	for (uint64_t t = 100; t < 140; t++)
		told(*state, t * MS, AT);
	steady_memory_begin(*state, 140 * MS - 1, 140 * MS);
	assert_false(steady_memory_read(*state, 2, 7, AT, &byte, 1));
}

static void what_is_not_there_is_not_told(void **state)
{
	for (uint64_t t = 100; t < 140; t++) {
		assert_int_equal(told(*state, t * MS, AT - 1), -1);
		assert_int_equal(told(*state, t * MS, AT + SIZE), -1);
	}
}

static void a_sample_costs_no_more_than_some_looks(void **state)
{
	uint8_t byte;

	steady_memory_begin(*state, 100 * MS, 100 * MS);
	for (uint64_t i = 0; i < SIZE; i += PAGE)
		assert_false(steady_memory_read(*state, 1, 7, AT + i, &byte, 1));
	assert_in_range(n_looks, 1, 16);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_stays_the_same_is_believed_after_a_while),
		TEST(what_is_believed_is_seldom_looked_at),
		TEST(what_has_changed_is_believed_later),
		TEST(what_was_before_it_was_looked_at_is_not_told),
		TEST(numbers_may_be_in_two_pages),
		TEST(another_program_has_other_memory),
		TEST(what_is_not_there_is_not_told),
		TEST(a_sample_costs_no_more_than_some_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
