/* SPDX-License-Identifier: Apache-2.0 */
#include "host/core_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void each_kernel_says_what_it_is_and_has_code(void **state)
{
	(void)state;
	assert_true(core_kernel_count() > 10);
	for (size_t i = 0; i < core_kernel_count(); i++) {
		const struct core_kernel *k = core_kernel_at(i);

		assert_true(k->what[0]);
		assert_true(k->n && (size_t)(k->end - k->code) >= 2 * (size_t)k->n);
		for (size_t before = 0; before < i; before++)
			assert_string_not_equal(core_kernel_at(before)->what, k->what);
	}
}

/* They leave alone what a function has to keep, and write only where they may. */
static void kernels_come_back(void **state)
{
	_Alignas(64) void *memory[34] = { memory };

	(void)state;
	memory[32] = memory[33] = &memory[33];
	for (size_t i = 0; i < core_kernel_count(); i++) {
		core_kernel_at(i)->run(3, memory);
		assert_ptr_equal(memory[0], memory);
		assert_ptr_equal(memory[32], &memory[33]);
		assert_ptr_equal(memory[33], &memory[33]);
	}
}

static void all_are_measured_by_the_first(void **state)
{
	double cycles[64];

	(void)state;
	assert_true(core_kernel_count() <= 64);
	core_kernel_measure(cycles);
	assert_true(cycles[0] == 1);
	for (size_t i = 0; i < core_kernel_count(); i++)
		assert_true(cycles[i] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kernel_says_what_it_is_and_has_code),
		cmocka_unit_test(kernels_come_back),
		cmocka_unit_test(all_are_measured_by_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
