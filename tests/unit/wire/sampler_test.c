/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Every pause is 100 ns long, and the second one is told twice. */
static void time_stands_still_in_pauses(void **state)
{
	static const struct {
		uint64_t now_ns;
		enum { PAUSE, RESUME, LOOK } what;
		uint64_t observed_ns;
	} steps[] = {
		{ 1000, LOOK, 1000 },	{ 1100, PAUSE, 1100 }, { 1150, LOOK, 1100 },
		{ 1200, RESUME, 1100 }, { 1250, LOOK, 1150 },  { 1300, PAUSE, 1200 },
		{ 1350, PAUSE, 1200 },	{ 1390, LOOK, 1200 },  { 1400, RESUME, 1200 },
		{ 1450, RESUME, 1250 }, { 2000, LOOK, 1800 },
	};
	uint64_t pauses = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].what != LOOK)
			pauses = wire_sampler_pause(pauses, steps[i].now_ns,
						    steps[i].what == PAUSE);
		assert_int_equal(wire_sampler_observed(&pauses, steps[i].now_ns),
				 steps[i].observed_ns);
	}
}

static void a_recording_may_begin_in_a_pause(void **state)
{
	uint64_t pauses = wire_sampler_pause(0, 5000, 1);

	(void)state;
	assert_int_equal(wire_sampler_observed(&pauses, 6000), 5000);
	pauses = wire_sampler_pause(pauses, 7000, 0);
	assert_int_equal(wire_sampler_observed(&pauses, 8000), 6000);
}

/* The clock was read before the pause began, or ended, and the word behind. */
static void a_time_of_before_is_no_far_one(void **state)
{
	uint64_t pauses = wire_sampler_pause(0, 5000, 1);

	(void)state;
	assert_int_equal(wire_sampler_observed(&pauses, 4990), 5000);
	pauses = wire_sampler_pause(pauses, 7000, 0);
	assert_int_equal(wire_sampler_observed(&pauses, 6990), 4990);
	assert_int_equal(wire_sampler_observed(&pauses, 10), 0);
}

/* What a reader gets is of before or of behind: there are no halves. */
static void it_is_one_word(void **state)
{
	const struct wire_sampler_control c = { 0 };

	(void)state;
	assert_int_equal(sizeof(c.pauses), sizeof(uint64_t));
	assert_int_equal(offsetof(struct wire_sampler_control, pauses) % sizeof(uint64_t),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_stands_still_in_pauses),
		cmocka_unit_test(a_recording_may_begin_in_a_pause),
		cmocka_unit_test(a_time_of_before_is_no_far_one),
		cmocka_unit_test(it_is_one_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
