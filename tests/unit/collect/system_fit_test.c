/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A CPU with some registers, one of which counts cycles and nothing else. */
struct machine {
	size_t n_registers;
	bool has_cycles;
	size_t n_tries;
};

static bool fits(void *ctx, const struct system_event *const *events, size_t n)
{
	struct machine *m = ctx;
	size_t n_left = m->n_registers;
	bool has_cycles = m->has_cycles;

	m->n_tries++;
	for (size_t i = 0; i < n; i++) {
		if (has_cycles && strcmp(events[i]->counter->name, "cycles") == 0) {
			has_cycles = false;
			continue;
		}
		if (system_event_is_hardware(events[i]) && !n_left--)
			return false;
	}
	return true;
}

static size_t add(struct system_event *to, const char *const *names)
{
	size_t n = 0;

	for (; names[n]; n++)
		to[n] = (struct system_event){ counter_find(names[n], NULL), 1000 };
	return n;
}

static void what_fits_is_in_one_group(void **state)
{
	static const char *const names[] = { "cycles", "instructions", "branches", NULL };
	struct machine m = { .n_registers = 2, .has_cycles = true };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = add(events, names);

	(void)state;
	assert_int_equal(system_fit(events, n, 0, fits, &m, groups), 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(groups[i], 0);
}

static void what_does_not_fit_takes_turns(void **state)
{
	static const char *const names[] = { "instructions",  "branches", "cpu-clock",
					     "branch-misses", "cycles",	  "llc-misses",
					     "page-faults",   NULL };
	static const uint8_t want[] = { 0, 0, SYSTEM_FIT_ALWAYS, 1,
					0, 1, SYSTEM_FIT_ALWAYS };
	struct machine m = { .n_registers = 2, .has_cycles = true };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = add(events, names);

	(void)state;
	assert_int_equal(system_fit(events, n, 0, fits, &m, groups), 2);
	assert_memory_equal(groups, want, sizeof(want));
}

static void no_more_than_asked_for_are_together(void **state)
{
	static const char *const names[] = { "cpu-clock", "page-faults",  "task-clock",
					     "cycles",	  "instructions", NULL };
	static const uint8_t want[] = { 0, 0, 1, 1, 2 };
	struct machine m = { .n_registers = 4 };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = add(events, names);

	(void)state;
	assert_int_equal(system_fit(events, n, 2, fits, &m, groups), 3);
	assert_memory_equal(groups, want, sizeof(want));
}

static void what_never_fits_has_a_group_of_its_own(void **state)
{
	static const char *const names[] = { "cycles", "instructions", NULL };
	struct machine m = { 0 };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = add(events, names);

	(void)state;
	assert_int_equal(system_fit(events, n, 0, fits, &m, groups), 2);
	assert_int_equal(groups[0], 0);
	assert_int_equal(groups[1], 1);
}

static void events_of_the_kernel_are_not_tried(void **state)
{
	static const char *const names[] = { "cpu-clock", "page-faults", NULL };
	struct machine m = { 0 };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = add(events, names);

	(void)state;
	assert_int_equal(system_fit(events, n, 0, fits, &m, groups), 0);
	assert_int_equal(m.n_tries, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_in_one_group),
		cmocka_unit_test(what_does_not_fit_takes_turns),
		cmocka_unit_test(no_more_than_asked_for_are_together),
		cmocka_unit_test(what_never_fits_has_a_group_of_its_own),
		cmocka_unit_test(events_of_the_kernel_are_not_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
