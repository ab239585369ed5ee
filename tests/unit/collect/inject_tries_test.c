/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_tries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host/clock.h"

static unsigned n_tries(uint64_t until_ns)
{
	struct inject_tries t = inject_tries_until(until_ns);

	while (inject_tries_next(&t))
		;
	return t.n;
}

static void what_does_not_end_is_tried_so_often(void **state)
{
	(void)state;
	assert_int_equal(n_tries(UINT64_MAX), INJECT_TRIES_MAX);
}

static void when_time_is_over_it_is_tried_once(void **state)
{
	(void)state;
	assert_int_equal(n_tries(0), 1);
	assert_int_equal(n_tries(clock_monotonic_ns()), 1);
	/* A try later that is so. */
	assert_in_range(n_tries(clock_monotonic_ns() + 1000000), 1, 2);
}

static void no_stop_takes_longer_than_there_is_time(void **state)
{
	const uint64_t least_ns = 100000000, most_ns = 2000000000;
	struct inject_tries t = inject_tries_until(UINT64_MAX);

	(void)state;
	assert_int_equal(inject_tries_stop_ns(&t), most_ns);
	t = inject_tries_until(0);
	assert_int_equal(inject_tries_stop_ns(&t), least_ns);
	t = inject_tries_until(clock_monotonic_ns() + 1000000000);
	assert_in_range(inject_tries_stop_ns(&t), least_ns, 1000000000);
}

static void for_how_long_it_was_tried_is_told(void **state)
{
	static const struct {
		int rc, code;
		uint64_t until_ns;
		const char *text; /* before the reason */
	} cases[] = {
		{ ERR_LIMIT, ERR_UNSUPPORTED, UINT64_MAX, "given up after " },
		{ ERR_LIMIT, ERR_UNSUPPORTED, 0, "tried only once, as others" },
		{ ERR_OS, ERR_OS, UINT64_MAX, "reason" },
		{ 0, 0, 0, "reason" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct inject_tries t = inject_tries_until(cases[i].until_ns);
		struct err e = { .text = "reason" };

		assert_int_equal(inject_tries_give_up(&t, cases[i].rc, &e),
				 cases[i].code);
		assert_ptr_equal(strstr(e.text, cases[i].text), e.text);
		assert_string_equal(e.text + strlen(e.text) - strlen("reason"), "reason");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_end_is_tried_so_often),
		cmocka_unit_test(when_time_is_over_it_is_tried_once),
		cmocka_unit_test(no_stop_takes_longer_than_there_is_time),
		cmocka_unit_test(for_how_long_it_was_tried_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
