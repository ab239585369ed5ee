/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/stat.h>

#include "collect/io_traced_file.h"

static void files_are_called_as_the_kernel_calls_them(void **state)
{
	static const struct {
		struct wire_tracer_io_file file;
		const char *name, *want;
	} t[] = {
		{ { .mode = S_IFREG }, "/etc/passwd", "/etc/passwd" },
		{ { .mode = S_IFREG }, "/a (deleted)", "/a (deleted)" },
		{ { .mode = S_IFREG, .flags = WIRE_TRACER_IO_IS_GONE },
		  "/a (deleted)",
		  "/a" },
		{ { .mode = S_IFREG, .flags = WIRE_TRACER_IO_IS_GONE },
		  "/memfd:x (deleted)",
		  "memfd:x" },
		{ { .mode = S_IFREG }, "/memfd:x", "/memfd:x" },
		{ { .mode = 0600 }, "anon_inode:[eventfd]", "[eventfd]" },
		{ { .mode = 0600 }, "anon_inode:inotify", "inotify" },
		{ { .mode = S_IFIFO }, "pipe:[12]", "pipe:[12]" },
		{ { .mode = S_IFIFO, .inode = 12 }, "", "pipe:[12]" },
		{ { .mode = S_IFREG, .inode = 12 }, "", "inode:[12]" },
		{ { .flags = WIRE_TRACER_IO_IS_PATH }, "no-such", "no-such" },
		{ { .mode = S_IFSOCK, .inode = 7 }, "", "socket:[7]" },
		{ { .mode = S_IFSOCK, .family = AF_UNIX, .inode = 7 },
		  "",
		  "UNIX socket:[7]" },
		{ { .mode = S_IFSOCK, .family = AF_UNIX }, "/run/x", "UNIX /run/x" },
		{ { .mode = S_IFSOCK, .family = AF_UNIX }, "@x", "UNIX @x" },
		{ { .mode = S_IFSOCK,
		    .family = AF_INET,
		    .type = SOCK_STREAM,
		    .local_port = 4000,
		    .remote_port = 80,
		    .local = { 10, 0, 0, 1 },
		    .remote = { 10, 0, 0, 2 } },
		  "",
		  "TCP 10.0.0.1:4000->10.0.0.2:80" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		io_traced_file_text(&t[i].file, t[i].name, text, sizeof(text));
		assert_string_equal(text, t[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_called_as_the_kernel_calls_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
