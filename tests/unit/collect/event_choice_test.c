/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/event_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CLOCK_NS 192307

static void events_have_periods_and_frequencies(void **state)
{
	static const struct {
		const char *text, *column;
		uint64_t interval, hz;
	} t[] = {
		{ "page-faults", "page-faults", 101 },
		{ "page-faults@50", "page-faults", 101, 50 },
		{ "cycles:u@997", "cycles:u", 600011, 997 },
		{ "faults:7", "page-faults", 7 },
		{ "cpu-clock", "cpu-time", CLOCK_NS },
		{ "cpu-time", "cpu-time", CLOCK_NS },
		{ "cpu-clock@1000", "cpu-time", 1000000 },
		{ "task-clock:250us", "task-clock", 250000 },
		{ "task-clock:on", "task-clock", 10000000 },
		{ "cycles", "cycles", 600011 },
		{ "cycles:1000003", "cycles", 1000003 },
		{ "LLC-load-misses", "llc-misses", 10007 },
		{ "cycles:u", "cycles:u", 600011 },
		{ "cpu-cycles:kp:1000003", "cycles:kp", 1000003 },
		{ "task-clock:u:250us", "task-clock:u", 250000 },
		{ "cpu-clock:u@1000", "cpu-clock:u", 1000000 },
		{ "r3c:7", "r3c", 7 },
		{ "states", "user-cpu", CLOCK_NS },
		{ "states@2000", "user-cpu", 500000 },
		{ "states:hi", "user-cpu", 200000 },
		{ "syscalls", "syscall-time", 1 },
	};
	struct experiment_choice c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(
			event_choice_parse(t[i].text, CLOCK_NS, false, NULL, &c, NULL),
			0);
		assert_string_equal(c.experiment->events[0].name, t[i].column);
		assert_int_equal(c.interval, t[i].interval);
		assert_int_equal(c.hz, t[i].hz);
	}
}

static void what_is_no_event_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} t[] = {
		{ "page-fautls", "did you mean 'page-faults'" },
		{ "nonsense", "'dwell list'" },
		{ "", "no counter" },
		{ "page-faults:", "" },
		{ "page-faults:0", "not within" },
		{ "page-faults:1ms", "its interval is a number" },
		{ "page-faults@0", "not within" },
		{ "page-faults@100001", "not within" },
		{ "syscalls@100", "does not measure time" },
		{ "cpu-clock@0", "not within" },
		{ "cpu-clock@1000001", "not within" },
		{ "cpu-clock:1ns", "not within" },
		{ "cpu-clock@1ms", "" },
		{ "sched:sched_switch", "'trigger:sched:sched_switch'" },
		{ "syscalls:2", "records every one" },
	};
	struct experiment_choice c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(
			event_choice_parse(t[i].text, CLOCK_NS, false, NULL, &c, &e),
			ERR_USAGE);
		assert_true(e.text[0]);
		assert_non_null(strstr(e.text, t[i].reason));
	}
}

static void a_name_of_any_length_is_answered(void **state)
{
	char text[1000];
	struct experiment_choice c;
	struct err e = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(event_choice_parse(text, CLOCK_NS, false, NULL, &c, &e),
			 ERR_USAGE);
	assert_true(e.text[0]);
}

static void without_stacks_events_say_so(void **state)
{
	struct experiment_choice c;

	(void)state;
	assert_int_equal(event_choice_parse("cycles", CLOCK_NS, true, NULL, &c, NULL), 0);
	assert_true(c.experiment->is_pc_only);
	assert_int_equal(event_choice_parse("cpu-clock", CLOCK_NS, true, NULL, &c, NULL),
			 0);
	assert_true(c.experiment->is_pc_only);
	assert_int_equal(event_choice_parse("cycles", CLOCK_NS, false, NULL, &c, NULL),
			 0);
	assert_int_equal(event_choice_parse("states", CLOCK_NS, true, NULL, &c, NULL),
			 ERR_UNSUPPORTED);
	assert_int_equal(event_choice_parse("syscalls", CLOCK_NS, true, NULL, &c, NULL),
			 ERR_UNSUPPORTED);
	assert_false(c.experiment->is_pc_only);
}

static void experiments_and_events_may_say_how_often(void **state)
{
	static const struct {
		const char *text, *name;
		uint64_t interval;
		bool has_interval;
	} t[] = {
		{ "usertime", "usertime", 10000000, false },
		{ "usertime@1000", "usertime", 1000000, true },
		{ "fusertime", "fusertime", 1000000, false },
		{ "faults:100", "faults", 100, true },
		{ "page-faults", "page-faults", 101, false },
		{ "cs:3", "context-switches", 3, true },
	};
	struct experiment_choice c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		bool has_interval;

		assert_int_equal(
			event_choice_parse_any(t[i].text, NULL, &c, &has_interval, NULL),
			0);
		assert_string_equal(c.name, t[i].name);
		assert_int_equal(c.interval, t[i].interval);
		assert_int_equal(has_interval, t[i].has_interval);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_have_periods_and_frequencies),
		cmocka_unit_test(what_is_no_event_is_refused_with_a_reason),
		cmocka_unit_test(a_name_of_any_length_is_answered),
		cmocka_unit_test(without_stacks_events_say_so),
		cmocka_unit_test(experiments_and_events_may_say_how_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
