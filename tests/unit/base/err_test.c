/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_error_has_a_code_and_a_text(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, ERR_FORMAT, "damaged at byte %d", 12), ERR_FORMAT);
	assert_int_equal(e.code, ERR_FORMAT);
	assert_int_equal(e.os, 0);
	assert_string_equal(e.text, "damaged at byte 12");
}

static void a_failed_call_names_its_errno(void **state)
{
	struct err e = { 0 };

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_os(&e, "cannot open '%s'", "x"), ERR_OS);
	assert_int_equal(e.os, ENOENT);
	assert_string_equal(e.text, "cannot open 'x': No such file or directory");
}

static void callers_prefix_and_keep_the_code(void **state)
{
	struct err e = { 0 };
	int rc = err_set(&e, ERR_LIMIT, "too many stacks");

	(void)state;
	assert_int_equal(err_in(&e, rc, "a.dwell"), ERR_LIMIT);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_string_equal(e.text, "a.dwell: too many stacks");
}

static void nobody_has_to_listen(void **state)
{
	(void)state;
	errno = EACCES;
	assert_int_equal(err_set(NULL, ERR_USAGE, "x"), ERR_USAGE);
	assert_int_equal(err_os(NULL, "x"), ERR_OS);
	assert_int_equal(err_in(NULL, ERR_LIMIT, "x"), ERR_LIMIT);
}

static void a_long_text_is_cut_and_terminated(void **state)
{
	char name[2000];
	struct err e = { 0 };

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	err_set(&e, ERR_FORMAT, "%s", name);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	err_in(&e, ERR_FORMAT, "file");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "file: nnn", 9);
	err_in(&e, ERR_FORMAT, name);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	errno = EIO;
	err_os(&e, "%s", name);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_a_code_and_a_text),
		cmocka_unit_test(a_failed_call_names_its_errno),
		cmocka_unit_test(callers_prefix_and_keep_the_code),
		cmocka_unit_test(nobody_has_to_listen),
		cmocka_unit_test(a_long_text_is_cut_and_terminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
