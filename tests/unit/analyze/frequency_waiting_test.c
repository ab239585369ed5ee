/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_waiting.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "waiting_loop.h"

static void a_loop_that_is_little_more_than_a_load_may_be_all_wait(void **state)
{
	static const struct {
		const char *body;
		size_t size;
		bool may;
	} t[] = {
		/* mov (%rax), %rax; two more go round. */
		{ WAITING_LOOP_CODE("\x48\x8b\x00"), true },
		/* add %rax, %rax: it waits for no memory. */
		{ WAITING_LOOP_CODE("\x48\x01\xc0"), false },
		/* Eight additions are behind the load: guesses have these. */
		{ WAITING_LOOP_CODE("\x48\x8b\x00\x48\x01\xd2\x48\x01\xd2\x48\x01\xd2"
				    "\x48\x01\xd2\x48\x01\xd2\x48\x01\xd2\x48\x01\xd2"
				    "\x48\x01\xd2"),
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c = { 0 };
		double of_block[] = { 2, 2 / WAITING_LOOP_TIMES };
		double waited, least;

		waiting_loop_make(&c, t[i].body, t[i].size, 0);
		waited = c.steps[0].cycles + c.blocks[0].arrival;
		least = frequency_waiting_least(&c, of_block);
		assert_int_equal(least > 0, t[i].may);
		/* A thousand cycles each time. */
		assert_true(!t[i].may || fabs(least * 2 * 1000 / waited - 1) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_is_little_more_than_a_load_may_be_all_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
