/* SPDX-License-Identifier: Apache-2.0 */
#include "host/tracepoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char format[] =
	"name: block_rq_issue\n"
	"ID: 1100\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:short prio;\toffset:24;\tsize:2;\tsigned:1;\n"
	"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
	"\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:void * place;\toffset:64;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"%d,%d field:x;\", REC->dev\n";

static void fields_have_their_place_size_and_sign(void **state)
{
	static const struct {
		const char *name;
		struct tracepoint_field want;
	} t[] = {
		{ "dev", { 8, 4, false } },
		{ "sector", { 16, 8, false } },
		{ "prio", { 24, 2, true } },
		{ "place", { 64, 8, false } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tracepoint_field f = { 0 };

		assert_int_equal(tracepoint_parse_field(format, t[i].name, &f, NULL), 0);
		assert_int_equal(f.offset, t[i].want.offset);
		assert_int_equal(f.size, t[i].want.size);
		assert_int_equal(f.is_signed, t[i].want.is_signed);
	}
}

static void what_is_no_number_is_refused_with_what_is(void **state)
{
	static const char *const names[] = {
		"rwbs", "cmd", "common_pid", "x", "", "sec"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tracepoint_field f;
		struct err e = { 0 };

		assert_int_equal(tracepoint_parse_field(format, names[i], &f, &e),
				 ERR_USAGE);
		assert_non_null(strstr(e.text, "dev, sector, prio, place"));
	}
}

static void broken_formats_have_no_fields(void **state)
{
	static const char *const texts[] = {
		"",
		"field:",
		"field:;",
		"\tfield:int a;",
		"\tfield:int a;\toffset:x;\tsize:4;\tsigned:0;",
		"\tfield:int a;\toffset:0;\tsize:3;\tsigned:0;",
		"\tfield:int a;\toffset:0;\tsize:4;",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tracepoint_field f;

		assert_int_equal(tracepoint_parse_field(texts[i], "a", &f, NULL),
				 ERR_USAGE);
	}
}

static void write_file(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_directory(const char *root, const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

static void unknown_tracepoints_are_refused_with_the_nearest(void **state)
{
	static const struct {
		const char *group, *name, *near;
	} t[] = {
		{ "block", "block_rq_isue", "did you mean 'block:block_rq_issue'?" },
		{ "blok", "block_rq_issue", "did you mean 'block:block_rq_issue'?" },
		{ "entirely", "other", "/events has all" },
		{ "..", "block", "no name" },
		{ "block", "a/b", "no name" },
		{ "block", "", "no name" },
	};
	char root[] = "/tmp/tracepoint_test.XXXXXX", command[64];
	struct tracepoint_field f = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	make_directory(root, "/events");
	make_directory(root, "/events/block");
	make_directory(root, "/events/block/block_rq_issue");
	write_file(root, "/events/block/block_rq_issue/format", format);
	assert_int_equal(tracepoint_check(root, "block", "block_rq_issue", &e), 0);
	assert_int_equal(
		tracepoint_find_field(root, "block", "block_rq_issue", "sector", &f, &e),
		0);
	assert_int_equal(f.offset, 16);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		e = (struct err){ 0 };
		assert_int_equal(tracepoint_check(root, t[i].group, t[i].name, &e),
				 ERR_USAGE);
		assert_non_null(strstr(e.text, t[i].near));
	}
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void without_tracefs_that_is_said(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tracepoint_check("/nowhere", "sched", "sched_switch", &e),
			 ERR_OS);
	assert_non_null(strstr(e.text, "/nowhere/events"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_their_place_size_and_sign),
		cmocka_unit_test(what_is_no_number_is_refused_with_what_is),
		cmocka_unit_test(broken_formats_have_no_fields),
		cmocka_unit_test(unknown_tracepoints_are_refused_with_the_nearest),
		cmocka_unit_test(without_tracefs_that_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
