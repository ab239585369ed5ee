/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_wishes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BLOCK		0x100u
#define WISH(pid, addr) ((uint64_t)(pid) << PERF_WISHES_PID_SHIFT | (addr) / BLOCK)

static void what_is_missed_once_is_no_wish(void **state)
{
	struct perf_wishes w = { 0 };
	uint32_t slot;

	(void)state;
	for (uint64_t i = 1; i < 1000; i++)
		assert_false(perf_wishes_miss(&w, 7, i * BLOCK, &slot));
	for (unsigned i = 0; i < PERF_WISHES_SLOTS; i++)
		assert_int_equal(w.slots[i], 0);
}

static void what_is_missed_again_gets_a_slot(void **state)
{
	struct perf_wishes w = { 0 };
	uint32_t slot = 99;

	(void)state;
	assert_false(perf_wishes_miss(&w, 7, 0x5012, &slot));
	assert_false(perf_wishes_miss(&w, 8, 0x5012, &slot)); /* of another process */
	assert_true(perf_wishes_miss(&w, 7, 0x50ff, &slot));
	assert_int_equal(slot, 0);
	assert_int_equal(w.slots[slot], WISH(7, 0x5000));
	/* it may be refused: that does not change */
	assert_false(perf_wishes_miss(&w, 7, 0x5080, &slot));
	assert_true(perf_wishes_miss(&w, 8, 0x5012, &slot));
	assert_int_equal(slot, 1);
	assert_int_equal(w.slots[slot], WISH(8, 0x5000));
}

static void the_oldest_wish_makes_room(void **state)
{
	struct perf_wishes w = { 0 };
	uint32_t slot = 99;

	(void)state;
	for (uint64_t i = 0; i <= PERF_WISHES_SLOTS; i++) {
		assert_false(perf_wishes_miss(&w, 7, (i + 1) * BLOCK, &slot));
		assert_true(perf_wishes_miss(&w, 7, (i + 1) * BLOCK, &slot));
		assert_int_equal(slot, i % PERF_WISHES_SLOTS);
	}
	assert_int_equal(w.slots[0], WISH(7, (PERF_WISHES_SLOTS + 1) * BLOCK));
	assert_int_equal(w.slots[1], WISH(7, 2 * BLOCK));
	/* the one that had to go was missed lately */
	assert_true(perf_wishes_miss(&w, 7, BLOCK, &slot));
	assert_int_equal(slot, 1);
}

static void the_kernels_memory_is_none_of_a_process(void **state)
{
	struct perf_wishes w = { 0 };
	uint32_t slot;

	(void)state;
	assert_false(perf_wishes_miss(&w, 7, UINT64_C(0xffff888000000000), &slot));
	assert_false(perf_wishes_miss(&w, 7, UINT64_C(0xffff888000000000), &slot));
	assert_false(perf_wishes_miss(&w, 1u << 24, 0x5000, &slot));
	assert_false(perf_wishes_miss(&w, 1u << 24, 0x5000, &slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missed_once_is_no_wish),
		cmocka_unit_test(what_is_missed_again_gets_a_slot),
		cmocka_unit_test(the_oldest_wish_makes_room),
		cmocka_unit_test(the_kernels_memory_is_none_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
