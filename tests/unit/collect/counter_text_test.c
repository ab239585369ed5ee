/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

static void what_names_a_counter_ends_before_its_rate(void **state)
{
	static const struct {
		const char *text, *rest;
	} t[] = {
		{ "cycles", "" },
		{ "cycles:1000", ":1000" },
		{ "cycles@100", "@100" },
		{ "cycles:u", "" },
		{ "cycles:ukpp:1000", ":1000" },
		{ "cycles:u@100", "@100" },
		{ "cycles:hi", ":hi" },
		{ "cycles:lo", ":lo" },
		{ "cycles:", ":" },
		{ "sched:sched_switch", ":sched_switch" },
		{ "r3c:u:7", ":7" },
		{ "cpu/event=0x3c,umask=1/", "" },
		{ "cpu/event=0x3c/u:1000", ":1000" },
		{ "cpu/event=0x3c/pp@100", "@100" },
		{ "cpu/event=0x3c", "" },
		{ "cpu/x/y", "y" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(t[i].text + counter_text_length(t[i].text),
				    t[i].rest);
}

static void modifiers_say_where_it_counts(void **state)
{
	static const struct {
		const char *text, *name;
		bool not_user, not_kernel;
		unsigned precise;
	} t[] = {
		{ "cycles", "cycles", false, false, 0 },
		{ "cycles:u", "cycles:u", false, true, 0 },
		{ "cpu-cycles:u", "cycles:u", false, true, 0 },
		{ "cycles:k", "cycles:k", true, false, 0 },
		{ "cycles:uk", "cycles:uk", false, false, 0 },
		{ "cycles:h", "cycles:h", true, true, 0 },
		{ "cycles:pp", "cycles:pp", false, false, 2 },
		{ "page-faults:u", "page-faults:u", false, true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct counter *c = counter_text_find(t[i].text, NULL);

		assert_non_null(c);
		assert_string_equal(c->name, t[i].name);
		assert_int_equal(c->not_user, t[i].not_user);
		assert_int_equal(c->not_kernel, t[i].not_kernel);
		assert_int_equal(c->precise, t[i].precise);
		assert_ptr_equal(counter_text_find(t[i].text, NULL), c);
	}
	assert_int_equal(counter_text_find("cycles:u", NULL)->config,
			 PERF_COUNT_HW_CPU_CYCLES);
}

static void numbers_of_the_manual_are_hexadecimal(void **state)
{
	const struct counter *c = counter_text_find("r1A8:u", NULL);

	(void)state;
	assert_non_null(c);
	assert_int_equal(c->type, PERF_TYPE_RAW);
	assert_int_equal(c->config, 0x1a8);
	assert_true(c->not_kernel);
	assert_string_equal(c->name, "r1A8:u");
}

static void what_is_no_counter_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} t[] = {
		{ "cycels", "did you mean 'cycles'" },
		{ "cycels:u", "did you mean 'cycles'" },
		{ "cycles:pppp", "three p at most" },
		{ "cycles:1000", "no event" },
		{ "r", "no counter" },
		{ "rx1", "no counter" },
		{ "r0x1", "no counter" },
		{ "r11112222333344445", "no counter" },
		{ "cpu/event=1", "slash is missing" },
		{ "/event=1/", "counts nothing" },
		{ "no-such-device/event=1/", "no device 'no-such-device'" },
		{ "", "no counter" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		assert_null(counter_text_find(t[i].text, &e));
		assert_non_null(strstr(e.text, t[i].reason));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_names_a_counter_ends_before_its_rate),
		cmocka_unit_test(modifiers_say_where_it_counts),
		cmocka_unit_test(numbers_of_the_manual_are_hexadecimal),
		cmocka_unit_test(what_is_no_counter_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
