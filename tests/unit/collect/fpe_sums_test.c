/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/fpe_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "wire/tracer.h"

static uint64_t of_type(const struct fpe_sums *s, uint32_t type)
{
	return s->of[EXPERIMENT_FPE_TYPES + __builtin_ctz(type)];
}

static void an_instruction_counts_once_and_once_for_each_type(void **state)
{
	struct fpe_sums s = { 0 };

	(void)state;
	fpe_sums_add(&s, WIRE_TRACER_FPE_DIVIDE);
	fpe_sums_add(&s, WIRE_TRACER_FPE_DIVIDE | WIRE_TRACER_FPE_INVALID);
	fpe_sums_add(&s, WIRE_TRACER_FPE_INTEGER);
	fpe_sums_add(&s, 0);
	assert_int_equal(s.of[EXPERIMENT_FPE_ALL], 3);
	assert_int_equal(of_type(&s, WIRE_TRACER_FPE_DIVIDE), 2);
	assert_int_equal(of_type(&s, WIRE_TRACER_FPE_INVALID), 1);
	assert_int_equal(of_type(&s, WIRE_TRACER_FPE_INTEGER), 1);
	assert_int_equal(of_type(&s, WIRE_TRACER_FPE_INEXACT), 0);
}

static void what_was_not_so_is_as_if_never_added(void **state)
{
	struct fpe_sums s = { 0 }, empty = { 0 };

	(void)state;
	for (uint32_t types = 0; types <= WIRE_TRACER_FPE_TYPES; types++) {
		fpe_sums_add(&s, types);
		fpe_sums_take_back(&s, types);
		assert_memory_equal(&s, &empty, sizeof(s));
	}
}

static void nothing_falls_below_zero_and_types_that_are_none_are_left_out(void **state)
{
	struct fpe_sums s = { 0 }, empty = { 0 };

	(void)state;
	fpe_sums_take_back(&s, WIRE_TRACER_FPE_TYPES);
	fpe_sums_add(&s, ~(uint32_t)WIRE_TRACER_FPE_TYPES);
	assert_memory_equal(&s, &empty, sizeof(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_counts_once_and_once_for_each_type),
		cmocka_unit_test(what_was_not_so_is_as_if_never_added),
		cmocka_unit_test(
			nothing_falls_below_zero_and_types_that_are_none_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
