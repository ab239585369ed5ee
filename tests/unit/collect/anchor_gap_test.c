/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_gap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 0x2000

static uint64_t find(const char *maps, uint64_t addr)
{
	return anchor_gap_find(maps, strlen(maps), addr, BYTES);
}

static void it_is_the_nearest_room_below(void **state)
{
	static const char maps[] =
		"550000000000-550000100000 r-xp 00000000 fe:00 7 /bin/prog\n"
		"550000100000-550000200000 rw-p 00000000 00:00 0 [heap]\n"
		"7f0000000000-7f0000100000 r-xp 00000000 fe:00 8 /lib/a.so\n"
		"7f0010000000-7f0010100000 r-xp 00000000 fe:00 9 /lib/b.so\n"
		"7f0010101000-7f0010200000 r-xp 00000000 fe:00 9 /lib/c.so\n";
	static const struct {
		uint64_t addr, below;
	} cases[] = {
		{ 0x550000050000, 0x550000000000 },
		{ 0x7f0000000000, 0x7f0000000000 },
		{ 0x7f0010050000, 0x7f0010000000 },
		/* Between b and c there is too little. */
		{ 0x7f0010180000, 0x7f0010000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t at = find(maps, cases[i].addr);

		assert_true(at && at % 4096 == 0);
		assert_true(at + BYTES < cases[i].below);
		assert_true(cases[i].below - at < 0x200000);
	}
}

static void what_is_too_far_is_none(void **state)
{
	static const char full[] =
		"000000010000-0000f0000000 r-xp 00000000 fe:00 7 /bin/big\n";

	(void)state;
	assert_int_equal(find(full, 0xe0000000), 0);
	assert_int_equal(find("", 0x400000), 0);
}

static void programs_at_fixed_addresses_have_room_below(void **state)
{
	static const char maps[] =
		"000000400000-000000500000 r-xp 00000000 fe:00 7 /bin/old\n";
	uint64_t at = find(maps, 0x400100);

	(void)state;
	assert_true(at >= 0x10000 && at + BYTES < 0x400000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_nearest_room_below),
		cmocka_unit_test(what_is_too_far_is_none),
		cmocka_unit_test(programs_at_fixed_addresses_have_room_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
