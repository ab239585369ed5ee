/* SPDX-License-Identifier: Apache-2.0 */
#include "recording_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "store/recording.h"
#include "scratch_file.h"

static const char *const path = scratch_file_path;

static struct recording *build(const char *text)
{
	struct recording *r = NULL;

	recording_builder_write(path, text);
	assert_int_equal(recording_open(path, &r, NULL), 0);
	return r;
}

static void a_line_of_frames_is_a_sample(void **state)
{
	(void)state;

	own(recording_freep) struct recording *r = build("main;work;inner 70\n"
							 "# a comment\n"
							 "main;idle 30 time=9\n"
							 "-\n");
	own(sample_block_fini) struct sample_block b = { 0 };

	assert_int_equal(recording_read_samples(r, 0, SAMPLE_ALL, &b, NULL), 0);
	assert_int_equal(b.n, 3);
	assert_int_equal(b.count[0], 70);
	assert_int_equal(b.weight[1], 30000000);
	assert_int_equal(b.time_ns[1], 9);
	assert_int_equal(b.stack[2], 0);
	assert_int_equal(recording_stacks(r)[b.stack[0]].parent, 2);
	assert_int_equal(recording_stacks(r)[b.stack[1]].parent, 1);
	assert_string_equal(recording_string(r, recording_event(r, 0)->name), "cpu-time");
	assert_int_equal(recording_process(r, 0)->pid, 1000);
}

static void functions_are_named_by_a_map_inside(void **state)
{
	(void)state;

	own(recording_freep) struct recording *r = build("main;f;libc.so.6!malloc\n"
							 "main;open_[k]\n");
	own(buf_fini) struct buf text = { 0 };

	assert_int_equal(recording_n_blobs(r), 3);
	assert_int_equal(recording_blob(r, 0)->kind, BLOB_JIT_MAP);
	assert_int_equal(recording_read_blob(r, 0, &text, NULL), 0);
	assert_string_equal(buf_str(&text), "100000 100 main\n100100 100 f\n");
	assert_int_equal(recording_blob(r, 2)->kind, BLOB_KALLSYMS);
	assert_int_equal(recording_read_blob(r, 2, &text, NULL), 0);
	assert_string_equal(buf_str(&text), "ffffffff81000000 T _stext\n"
					    "ffffffff81000100 T open\n"
					    "ffffffff81000200 T _etext\n");
	assert_string_equal(recording_string(r, recording_image(r, 1)->path),
			    "libc.so.6");
	assert_int_equal(recording_locations(r)[0].offset, 0x100020);
	assert_int_equal(recording_locations(r)[0].flags, LOCATION_RETURN);
}

static void everything_of_the_model_can_be_said(void **state)
{
	uint64_t value = 0;

	(void)state;

	own(recording_freep) struct recording *r =
		build("info command cc1 -O2\n"
		      "event faults unit=count period=1 flags=exact\n"
		      "process 10 cc1 exe=/usr/bin/cc1 \"cmdline=cc1 -O2\" exit=3 "
		      "cgroup=/system.slice/make.service host=ant epoch=7\n"
		      "thread 10 11 worker\n"
		      "image a /usr/bin/a build-id=abcd deleted\n"
		      "map 10 a 0x400000 0x500000 0x1000\n"
		      "a+0x10;a+0x20! 4 tid=11 cpu=2\n"
		      "[truncated:3];a+0x10\n"
		      "trace-type malloc bytes:bytes name:string\n"
		      "trace malloc a+0x10 bytes=100 name=hello\n"
		      "interval 0 1000 startup cause=timer\n"
		      "fact target wall-time 123 unit=ns pid=10\n"
		      "blob source a.c text=\"int x;\"\n");

	assert_null(recording_damage(r));
	assert_string_equal(recording_info(r, "command"), "cc1 -O2");
	assert_string_equal(recording_string(r, recording_process(r, 0)->cmdline),
			    "cc1 -O2");
	assert_int_equal(recording_process(r, 0)->exit_status, 3);
	assert_string_equal(recording_string(r, recording_process(r, 0)->cgroup),
			    "/system.slice/make.service");
	assert_string_equal(recording_string(r, recording_process(r, 0)->host), "ant");
	assert_string_equal(recording_string(r, recording_process(r, 0)->epoch), "7");
	assert_string_equal(recording_string(r, recording_thread(r, 1)->name), "worker");
	assert_int_equal(recording_image(r, 0)->flags, IMAGE_DELETED);
	assert_int_equal(recording_mapping(r, 0)->end, 0x500000);
	assert_int_equal(recording_image(r, 1)->kind, IMAGE_TRUNCATED);
	assert_int_equal(recording_n_trace_types(r), 1);
	assert_int_equal(recording_interval(r, 0)->to_ns, 1000);
	assert_true(
		recording_find_fact(r, FACT_TARGET, "wall-time", MODEL_NONE, 0, &value));
	assert_int_equal(value, 123);
	assert_int_equal(recording_n_blobs(r), 1);
}

static void an_unfinished_recording_says_so(void **state)
{
	(void)state;

	own(recording_freep) struct recording *r = build("main 1\nunfinished\n");

	assert_false(recording_is_complete(r));
	assert_non_null(strstr(recording_damage(r), "unfinished"));
	assert_int_equal(recording_n_sample_blocks(r), 1);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{ "main 1\nq 3x\n", "line 2: 'q' is neither a directive nor a sample" },
		{ "main 1 event=x\nmain 1 event=y\n", "line 2: no event is called 'y'" },
		{ "image a b kind=c\n", "line 1: no image kind is called 'c'" },
		{ "map 1 a 0 1 2\n", "line 1: no image is called 'a'" },
		{ "image a b build-id=xy\n", "line 1: 'xy' is no build-id" },
		{ "trace t\n", "line 1: no trace type is called 't'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(recording_builder_freep) struct recording_builder *b = NULL;
		struct err e = { 0 };

		assert_int_equal(recording_builder_create(path, NULL, &b, NULL), 0);
		assert_int_equal(recording_builder_text(b, t[i].text, &e), ERR_USAGE);
		assert_string_equal(e.text, t[i].want);
	}
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
	const struct CMUnitTest tests[] = {
		TEST(a_line_of_frames_is_a_sample),
		TEST(functions_are_named_by_a_map_inside),
		TEST(everything_of_the_model_can_be_said),
		TEST(an_unfinished_recording_says_so),
		TEST(what_is_wrong_is_told_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
