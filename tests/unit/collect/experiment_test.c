/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void f_and_s_name_faster_and_slower_variants(void **state)
{
	static const struct {
		const char *name, *base;
		uint64_t interval;
	} t[] = {
		{ "usertime", "usertime", 10000000 },
		{ "fusertime", "usertime", 1000000 },
		{ "fpcsamp", "pcsamp", 1000000 },
		{ "spcsamp", "pcsamp", 100000000 },
		{ "ftotaltime", "totaltime", 1000000 },
		{ "faults", "faults", 1 },
	};
	struct experiment_choice c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(experiment_find(t[i].name, &c, NULL), 0);
		assert_string_equal(c.experiment->name, t[i].base);
		assert_string_equal(c.name, t[i].name);
		assert_int_equal(c.interval, t[i].interval);
	}
}

static void an_unknown_name_gets_a_suggestion(void **state)
{
	struct experiment_choice c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(experiment_find("usertme", &c, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "did you mean 'usertime'?"));
	assert_int_equal(experiment_find("ffaults", &c, &e), ERR_USAGE);
	assert_int_equal(experiment_find("xyzzyplugh", &c, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "dwell list"));
	assert_int_equal(experiment_find("global", &c, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "need not be chosen"));
}

static void a_time_is_no_interval_of_events(void **state)
{
	struct experiment_choice c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(experiment_find("faults", &c, NULL), 0);
	assert_int_equal(experiment_set_interval(&c, "1ms", &e), ERR_USAGE);
	assert_string_equal(e.text,
			    "faults counts events: its interval is a number, not '1ms'");
	assert_int_equal(experiment_set_interval(&c, "-1", &e), ERR_USAGE);
	assert_string_equal(e.text, "interval of faults: '-1' is negative");
}

static void what_records_every_one_takes_no_interval(void **state)
{
	struct experiment_choice c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(experiment_find("heap", &c, NULL), 0);
	assert_int_equal(experiment_set_interval(&c, "99", &e), ERR_USAGE);
	assert_string_equal(e.text, "heap takes no interval: it records every one");
}

static void intervals_have_names_units_and_limits(void **state)
{
	static const struct {
		const char *name, *text;
		int rc;
		uint64_t interval;
	} t[] = {
		{ "usertime", "hi", 0, 1000000 },   { "usertime", "lo", 0, 100000000 },
		{ "usertime", "on", 0, 10000000 },  { "usertime", "500us", 0, 500000 },
		{ "usertime", "2", 0, 2000000 },    { "usertime", "1us", ERR_USAGE, 0 },
		{ "usertime", "1h", ERR_USAGE, 0 }, { "usertime", "x", ERR_USAGE, 0 },
		{ "faults", "1000", 0, 1000 },	    { "faults", "0", ERR_USAGE, 0 },
		{ "faults", "lo", 0, 100 },
	};
	struct experiment_choice c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(experiment_find(t[i].name, &c, NULL), 0);
		assert_int_equal(experiment_set_interval(&c, t[i].text, &e), t[i].rc);
		if (t[i].rc == 0)
			assert_int_equal(c.interval, t[i].interval);
		else
			assert_true(e.text[0]);
	}
}

static void a_frequency_is_an_interval_of_time_only(void **state)
{
	struct experiment_choice c;

	(void)state;
	assert_int_equal(experiment_find("usertime", &c, NULL), 0);
	assert_int_equal(experiment_set_frequency(&c, 997, NULL), 0);
	assert_int_equal(c.interval, 1003009);
	assert_int_equal(experiment_set_frequency(&c, 1000000, NULL), ERR_USAGE);
	assert_int_equal(experiment_find("faults", &c, NULL), 0);
	assert_int_equal(experiment_set_frequency(&c, 100, NULL), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f_and_s_name_faster_and_slower_variants),
		cmocka_unit_test(an_unknown_name_gets_a_suggestion),
		cmocka_unit_test(a_time_is_no_interval_of_events),
		cmocka_unit_test(what_records_every_one_takes_no_interval),
		cmocka_unit_test(intervals_have_names_units_and_limits),
		cmocka_unit_test(a_frequency_is_an_interval_of_time_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
