/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* Functions in capitals are the kernel's, those with a _ the C library's and those with a
 * . another one's. */
static struct profile *profile_of(const struct fixture_stack *stacks, size_t n)
{
	struct profile *p = fixture_profile(stacks, n);

	vec_each(f, &p->functions) {
		if (f->name[0] >= 'A' && f->name[0] <= 'Z')
			f->kind = IMAGE_KERNEL;
		else if (f->name[0] == '[')
			f->kind = IMAGE_TRUNCATED;
		else if (strchr(f->name, '_'))
			f->image = "libc.so.6";
		else if (strchr(f->name, '.'))
			f->image = "libevent-2.1.so.7";
	}
	return p;
}

static void check_wait(const struct profile *p, const struct wait *w,
		       const char *function, const char *caller, uint64_t weight)
{
	assert_int_equal(w->function, fixture_function(p, function));
	assert_int_equal(w->caller, caller ? fixture_function(p, caller) : MODEL_NONE);
	assert_int_equal(w->weight, weight);
}

static void
a_wait_is_of_the_library_call_and_of_who_called_the_library(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "main;load;stdio_read;sys_read;SYSCALL;SCHEDULE", 3 },
		{ "main;load;sys_read;SYSCALL;PIPE;SCHEDULE", 4 },
		{ "main;idle;sys_poll;SYSCALL;SCHEDULE", 9 },
	};
	own(fixture_freep) struct profile *p = profile_of(stacks, N(stacks));
	own(freep) struct wait *waits = NULL;

	assert_int_equal(waits_find(p, 0, &waits), 3);
	check_wait(p, &waits[0], "sys_poll", "idle", 9);
	check_wait(p, &waits[1], "sys_read", "load", 4);
	check_wait(p, &waits[2], "stdio_read", "load", 3);
}

static void in_another_library_the_innermost_function_tells_where(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "main;ev.loop;ev.dispatch;FAULT;SCHEDULE", 5 },
		{ "main;ev.loop;ev.dispatch;sys_poll;sys_cancel;SYSCALL", 4 },
	};
	own(fixture_freep) struct profile *p = profile_of(stacks, N(stacks));
	own(freep) struct wait *waits = NULL;

	assert_int_equal(waits_find(p, 0, &waits), 2);
	check_wait(p, &waits[0], "ev.dispatch", "main", 5);
	check_wait(p, &waits[1], "sys_poll", "ev.dispatch", 4);
}

static void a_page_fault_is_of_the_function_itself(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;touch;FAULT;SCHEDULE",
							 5 } };
	own(fixture_freep) struct profile *p = profile_of(stacks, N(stacks));
	own(freep) struct wait *waits = NULL;

	assert_int_equal(waits_find(p, 0, &waits), 1);
	check_wait(p, &waits[0], "touch", NULL, 5);
}

static size_t layers(const struct profile *p, const char *const *names, size_t n)
{
	uint32_t functions[8];

	assert_true(n <= N(functions));
	for (size_t i = 0; i < n; i++)
		functions[i] = fixture_function(p, names[i]);
	return waits_layers(p, functions, n);
}

static void layers_of_the_library_are_those_below_what_was_called(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "start_thread;run;get_addresses;wait_common;futex_wait", 1 },
		{ "start_thread;run;__pthread_cond_wait;wait_common;futex_wait", 1 },
		{ "[truncated];__pthread_cond_wait;wait_common;futex_wait", 1 },
	};
	static const char *names[] = { "futex_wait", "wait_common", "get_addresses",
				       "run", "start_thread" };
	own(fixture_freep) struct profile *p = profile_of(stacks, N(stacks));

	assert_int_equal(layers(p, names, 5), 2);
	assert_int_equal(layers(p, names + 2, 3), 0);
	assert_int_equal(layers(p, names + 3, 2), 0);
	assert_int_equal(layers(p, names + 4, 1), 0); /* nobody else's is there */
	assert_int_equal(layers(p, names, 3), 0);
	assert_int_equal(layers(p, names, 0), 0);
	names[2] = "__pthread_cond_wait"; /* says no more than that it waits */
	assert_int_equal(layers(p, names, 5), 3);
	assert_int_equal(layers(p, names + 2, 3), 1);
	assert_int_equal(layers(p, names, 3), 0);
	names[3] = "[truncated]";
	assert_int_equal(layers(p, names, 4), 0);
}

static void what_has_no_place_outside_the_kernel_is_left_out(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "KTHREAD;SCHEDULE", 5 },
						       { "[truncated];SCHEDULE", 1 },
						       { "", 2 } };
	own(fixture_freep) struct profile *p = profile_of(stacks, N(stacks));
	own(freep) struct wait *waits = NULL;

	assert_int_equal(waits_find(p, 0, &waits), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_wait_is_of_the_library_call_and_of_who_called_the_library),
		cmocka_unit_test(in_another_library_the_innermost_function_tells_where),
		cmocka_unit_test(a_page_fault_is_of_the_function_itself),
		cmocka_unit_test(layers_of_the_library_are_those_below_what_was_called),
		cmocka_unit_test(what_has_no_place_outside_the_kernel_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
