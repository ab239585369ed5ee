/* SPDX-License-Identifier: Apache-2.0 */
#include "host/unix_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define LINE "0000000000000001: 00000002 00000000 00000000 0002 01 4242 "

static void only_plain_names_that_begin_so_are_told(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: none */
	} t[] = {
		{ LINE "@dwell-a.1\n", "dwell-a.1" },
		{ LINE "@dwell-a.1", "dwell-a.1" },
		{ LINE "@other-a.1\n", NULL },
		{ LINE "/run/@dwell-a.1\n", NULL },
		{ LINE "@dwell-a@@@\n", NULL },
		{ LINE "@dwell-\x1b[31m\n", NULL },
		{ LINE "\n" LINE "@dwell-b\n", "dwell-b" },
		{ LINE "@dwell\n-c\n", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *at = t[i].text;
		char name[UNIX_NAMES_MAX] = "";
		bool is_there = unix_names_next(&at, at + strlen(at), "dwell-", name);

		assert_int_equal(is_there, t[i].want != NULL);
		assert_string_equal(name, t[i].want ? t[i].want : "");
	}
}

static void compare(void *ctx, const char *name)
{
	const char **want = ctx;

	if (*want && strcmp(name, *want) == 0)
		*want = NULL;
}

static void a_socket_is_found_by_its_name_until_it_is_closed(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "dwell-unit-test.%d",
			 getpid());
	const char *want = a.sun_path + 1;

	(void)state;
	assert_int_equal(
		bind(fd, (struct sockaddr *)&a,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
		0);
	assert_int_equal(unix_names_each("dwell-unit-test.", SIZE_MAX, compare,
					 (void *)&want, NULL),
			 0);
	assert_null(want);
	close(fd);
	want = a.sun_path + 1;
	assert_int_equal(unix_names_each("dwell-unit-test.", SIZE_MAX, compare,
					 (void *)&want, NULL),
			 0);
	assert_non_null(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_plain_names_that_begin_so_are_told),
		cmocka_unit_test(a_socket_is_found_by_its_name_until_it_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
