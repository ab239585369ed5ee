/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_length.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US	1000ULL
#define STEP_US 100ULL

#define CPU_US	4000ULL
#define WALL_US 100000ULL

/* A process that runs run_us of each 1000, and since phase_us before a tick: the wall
 * time when it is over. */
static uint64_t end_us(uint64_t tick_us, uint64_t phase_us, uint64_t run_us)
{
	const struct anchor_length l = { CPU_US * US, WALL_US * US, tick_us * US };

	for (uint64_t at = 0;; at += STEP_US) {
		uint64_t cpu = at / 1000 * run_us, in = at % 1000, told = cpu;

		cpu += in < run_us ? in : run_us;
		/* While it runs what is told is as of the last tick. */
		if (run_us == 1000)
			told = at < phase_us ? 0 : at - (at - phase_us) % tick_us;
		else
			told = cpu;
		if (anchor_length_is_over(&l, told * US, at * US))
			return at;
	}
}

static void who_runs_is_counted_for_as_long_as_told_whatever_the_tick_is(void **state)
{
	static const uint64_t ticks_us[] = { 1000, 4000, 10000 };

	(void)state;
	for (size_t i = 0; i < sizeof(ticks_us) / sizeof(ticks_us[0]); i++) {
		uint64_t sum = 0, n = 0;

		for (uint64_t phase = 0; phase < ticks_us[i]; phase += STEP_US, n++) {
			uint64_t end = end_us(ticks_us[i], phase, 1000);

			assert_in_range(end, CPU_US, CPU_US + ticks_us[i] / 2);
			sum += end;
		}
		assert_in_range(sum / n, CPU_US, CPU_US + ticks_us[i] / 4);
	}
}

static void who_waits_is_counted_until_it_has_run(void **state)
{
	(void)state;
	assert_in_range(end_us(1000, 0, 100), 34000, 40000);
	assert_int_equal(end_us(1000, 0, 10), WALL_US);
}

static void the_kernels_tick_is_known(void **state)
{
	struct anchor_length l = anchor_length_of(1, 2);

	(void)state;
	assert_int_equal(l.cpu_ns, 1);
	assert_int_equal(l.wall_ns, 2);
	assert_in_range(l.tick_ns, 900 * US, 10000 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			who_runs_is_counted_for_as_long_as_told_whatever_the_tick_is),
		cmocka_unit_test(who_waits_is_counted_until_it_has_run),
		cmocka_unit_test(the_kernels_tick_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
