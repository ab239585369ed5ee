/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "collect/io_files.h"

static void set_path(struct io_record_file *r, const char *parts, size_t n)
{
	memcpy(r->file.path, parts, n);
	r->file.path_bytes = (uint32_t)n;
}

static void files_have_their_paths(void **state)
{
	struct io_record_file r = { .mode = S_IFREG | 0644 };
	char text[100];

	(void)state;
	set_path(&r, "passwd\0etc\0", 11);
	io_files_text(&r, text, sizeof(text));
	assert_string_equal(text, "/etc/passwd");
}

static void a_path_that_is_too_long_is_cut(void **state)
{
	struct io_record_file r = { .mode = S_IFREG };
	char text[8];

	(void)state;
	set_path(&r, "passwd\0etc\0", 11);
	io_files_text(&r, text, sizeof(text));
	assert_string_equal(text, "/etc/pa");
}

static void what_is_in_no_folder_has_a_name(void **state)
{
	static const struct {
		uint32_t mode;
		const char *name, *want;
		size_t n;
	} t[] = {
		{ S_IFIFO | 0600, "", "pipe:[77]", 1 },
		{ S_IFREG, "[eventfd]", "[eventfd]", 10 },
		{ S_IFREG, "memfd:x", "memfd:x", 8 },
		{ S_IFDIR, "/", "/", 2 },
		{ S_IFREG, "", "inode:[77]", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct io_record_file r = { .mode = t[i].mode,
					    .is_bare = 1,
					    .file.inode = 77 };
		char text[100];

		set_path(&r, t[i].name, t[i].n);
		io_files_text(&r, text, sizeof(text));
		assert_string_equal(text, t[i].want);
	}
}

static void sockets_have_both_ends(void **state)
{
	static const struct {
		int family, type;
		const char *local, *remote;
		uint16_t local_port, remote_port;
		const char *want;
	} t[] = {
		{ AF_INET, SOCK_STREAM, "10.0.0.1", "10.0.0.2", 4000, 80,
		  "TCP 10.0.0.1:4000->10.0.0.2:80" },
		{ AF_INET, SOCK_DGRAM, "0.0.0.0", "0.0.0.0", 53, 0, "UDP 0.0.0.0:53" },
		{ AF_INET, SOCK_STREAM, "0.0.0.0", "0.0.0.0", 0, 0, "TCP socket" },
		{ AF_INET6, SOCK_STREAM, "::1", "::1", 4000, 80,
		  "TCP [::1]:4000->[::1]:80" },
		{ AF_INET6, SOCK_STREAM, "::ffff:10.0.0.1", "::ffff:10.0.0.2", 80, 9,
		  "TCP 10.0.0.1:80->10.0.0.2:9" },
		{ AF_NETLINK, SOCK_RAW, NULL, NULL, 0, 0, "socket:[77]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct io_record_file r = { .mode = S_IFSOCK,
					    .family = (uint16_t)t[i].family,
					    .type = (uint16_t)t[i].type,
					    .local_port = t[i].local_port,
					    .remote_port = t[i].remote_port,
					    .file.inode = 77 };
		char text[100];

		if (t[i].local) {
			assert_int_equal(inet_pton(t[i].family, t[i].local, r.local), 1);
			assert_int_equal(inet_pton(t[i].family, t[i].remote, r.remote),
					 1);
		}
		io_files_text(&r, text, sizeof(text));
		assert_string_equal(text, t[i].want);
	}
}

static void local_sockets_have_the_name_that_was_bound(void **state)
{
	static const struct {
		const char *name, *want;
		size_t n;
	} t[] = {
		{ "/run/x.sock", "UNIX /run/x.sock", 12 },
		{ "\0hidden", "UNIX @hidden", 7 },
		{ "", "UNIX socket:[77]", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct io_record_file r = { .mode = S_IFSOCK,
					    .family = AF_UNIX,
					    .file.inode = 77 };
		char text[100];

		set_path(&r, t[i].name, t[i].n);
		io_files_text(&r, text, sizeof(text));
		assert_string_equal(text, t[i].want);
	}
}

static void numbers_that_nobody_told_of_have_a_name_too(void **state)
{
	own(io_files_freep) struct io_files *f = io_files_new();
	struct io_record_file r = { .number = 9, .mode = S_IFREG };

	(void)state;
	assert_string_equal(io_files_name(f, IO_RECORD_NO_FILE), "[no file]");
	assert_string_equal(io_files_name(f, 9), "[file not told]");
	set_path(&r, "a\0", 2);
	io_files_meet(f, &r);
	assert_string_equal(io_files_name(f, 9), "/a");
	assert_string_equal(io_files_name(f, 8), "[file not told]");
	r.number = UINT32_MAX;
	io_files_meet(f, &r);
	assert_string_equal(io_files_name(f, UINT32_MAX), "[file not told]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_have_their_paths),
		cmocka_unit_test(a_path_that_is_too_long_is_cut),
		cmocka_unit_test(what_is_in_no_folder_has_a_name),
		cmocka_unit_test(sockets_have_both_ends),
		cmocka_unit_test(local_sockets_have_the_name_that_was_bound),
		cmocka_unit_test(numbers_that_nobody_told_of_have_a_name_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
