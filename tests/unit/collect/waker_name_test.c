/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/waker_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_waker_is_called_after_its_process(void **state)
{
	static const struct {
		const char *comm;
		uint8_t n_user;
		const char *want;
	} t[] = {
		{ "server", 3, "[woken by server]" },
		{ "a/b", 3, "[woken by a/b]" },
		/* Of the kernel's, one for each CPU. */
		{ "kworker/0:1-eve", 0, "[woken by kworker]" },
		{ "kthreadd", 0, "[woken by kthreadd]" },
		{ "0123456789abcde", 1, "[woken by 0123456789abcde]" },
	};
	char name[WAKER_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct stack_record r = { .state = STATE_RECORD_WAKER,
					  .n_user = t[i].n_user };

		strcpy(r.comm, t[i].comm);
		waker_name(NULL, &r, name);
		assert_string_equal(name, t[i].want);
	}
}

static void an_interrupt_is_called_after_what_is_done_in_it(void **state)
{
	struct stack_record r = { .state = STATE_RECORD_INTERRUPT,
				  .comm = "whoever",
				  .n_kernel = 3,
				  .frames = { 10, 150, 30 } };
	struct state_code code = { .kinds = { { 100, 200 }, { 0, 0 } } };
	char name[WAKER_NAME_MAX];

	(void)state;
	waker_name(&code, &r, name);
	assert_string_equal(name, "[woken by interrupt: timer]");
	r.n_kernel = 1;
	waker_name(&code, &r, name);
	assert_string_equal(name, "[woken by interrupt]");
	waker_name(NULL, &r, name);
	assert_string_equal(name, "[woken by interrupt]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waker_is_called_after_its_process),
		cmocka_unit_test(an_interrupt_is_called_after_what_is_done_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
