/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/io_rows.h"
#include "recording_builder.h"

#define PATH "io_rows_test.dwell"

#define EVENT(name) "event " name " unit=count period=1 experiment=io flags=exact\n"

static const char head[] = EVENT("io-time") EVENT("io-calls") EVENT("read-bytes")
	EVENT("io-sizes") EVENT("unfinished-io-time")
		EVENT("io-errors") "event read-bytes-of-another unit=bytes period=1 "
				   "experiment=test\n"
				   "process 10 a\nthread 10 11 other\n"
				   "image read \"[syscall read]\" kind=label\n"
				   "image file /data/x kind=label\n"
				   "image device /dev/x kind=label\n"
				   "image few \"[from 16 bytes]\" kind=label\n"
				   "image more \"[from 65536 bytes]\" kind=label\n"
				   "image strange \"[from here]\" kind=label\n"
				   "image eio \"[EIO]\" kind=label\n"
				   "image before \"[begun before]\" kind=label\n";

static void make(const char *samples, enum io_rows_by by, struct profile **p,
		 struct io_rows *ret)
{
	static const struct profile_options options = { 0 };
	const char *paths[] = { PATH };
	char text[4096];
	struct err e = { 0 };

	snprintf(text, sizeof(text), "%s%s", head, samples);
	recording_builder_write(PATH, text);
	*ret = (struct io_rows){ 0 };
	assert_int_equal(profile_load(paths, 1, &options, p, &e), 0);
	assert_int_equal(io_rows_make(*p, by, ret, &e), 0);
	unlink(PATH);
}

static void rows_sum_what_their_file_had(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make("use pid=10 event=io-calls\n"
	     "main;read+0;file+0 3\n"
	     "main;other;read+0;file+0 4\n"
	     "main;read+0;device+0 5\n"
	     "use pid=10 event=io-errors\n"
	     "main;read+0;file+0;eio+0 2\n"
	     "use pid=10 event=read-bytes\n"
	     "main;read+0;file+0 100\n"
	     "use pid=10 event=io-sizes\n"
	     "main;read+0;file+0;few+0 2\n"
	     "main;read+0;file+0;strange+0 9\n",
	     IO_ROWS_BY_FILE, &p, &r);
	assert_int_equal(r.rows.n, 2);
	assert_string_equal(r.rows.at[0].name, "/data/x");
	assert_int_equal(r.rows.at[0].sums.calls, 7);
	assert_int_equal(r.rows.at[0].sums.errors, 2);
	assert_int_equal(r.rows.at[0].sums.read_bytes, 100);
	assert_int_equal(r.rows.at[0].sums.sizes.n[5], 2);
	assert_int_equal(r.rows.at[0].sums.sizes.sum, 2);
	assert_int_equal(r.rows.at[1].sums.calls, 5);
	assert_int_equal(r.total.sums.calls, 12);
	io_rows_fini(&r);
}

static void stacks_are_those_of_code(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make("use pid=10 event=io-calls\n"
	     "main;read+0;file+0 3\n"
	     "main;read+0;device+0 4\n"
	     "main;other;read+0;file+0 5\n"
	     "read+0;file+0 1\n"
	     "file+0 1\n",
	     IO_ROWS_BY_STACK, &p, &r);
	assert_int_equal(r.rows.n, 3);
	assert_string_equal(r.rows.at[0].name, "main");
	assert_int_equal(r.rows.at[0].sums.calls, 7);
	assert_string_equal(r.rows.at[1].name, "other");
	assert_int_equal(r.rows.at[1].n_frames, 2);
	assert_string_equal(profile_function(p, r.rows.at[1].frames[1])->name, "main");
	assert_string_equal(r.rows.at[2].name, "[no stack]");
	io_rows_fini(&r);
}

static void threads_are_told_apart(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make("use pid=10 event=io-calls\nmain;read+0;file+0 3\n"
	     "use pid=10 tid=11 event=io-calls\nmain;read+0;file+0 4\n",
	     IO_ROWS_BY_THREAD, &p, &r);
	assert_int_equal(r.rows.n, 2);
	assert_string_equal(r.rows.at[1].name, "other (11)");
	assert_int_equal(r.rows.at[1].sums.calls, 4);
	io_rows_fini(&r);
}

static void calls_that_have_not_returned_are_no_sums(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	const struct io_rows_unfinished *u;
	struct io_rows r;

	(void)state;
	make("use pid=10 tid=10 event=io-time time=2000\n"
	     "main;read+0;file+0 500\n"
	     "use pid=10 tid=10 event=unfinished-io-time time=3000 step=0\n"
	     "main;read+0;file+0 1 weight=500\n"
	     "use pid=10 tid=11 event=unfinished-io-time time=3000 step=0\n"
	     "read+0;device+0;before+0 1 weight=900\n"
	     "main;read+0;file+0 3 weight=600\n"
	     "file+0 1 weight=7\n",
	     IO_ROWS_BY_FILE, &p, &r);
	assert_int_equal(r.rows.n, 1);
	assert_int_equal(r.total.sums.ns, 500);
	assert_int_equal(r.total.sums.calls, 0);
	assert_int_equal(r.pairs.n, 1);
	assert_int_equal(r.unfinished.n, 3);
	u = r.unfinished.at;
	assert_string_equal(u->thread, "other (11)");
	assert_string_equal(profile_function(p, u->file)->name, "/dev/x");
	assert_int_equal(u->n_frames, 0);
	assert_int_equal(u->ns, 900);
	assert_true(u->since_ns == UINT64_MAX);
	u++;
	assert_int_equal(u->n, 3);
	assert_true(u->since_ns == UINT64_MAX);
	u++;
	assert_int_equal(u->tid, 10);
	assert_int_equal(u->ns, 500);
	assert_int_equal(u->n, 1);
	assert_true(u->since_ns != UINT64_MAX);
	assert_string_equal(profile_function(p, u->call)->name, "[syscall read]");
	assert_string_equal(profile_function(p, u->frames[0])->name, "main");
	assert_int_equal(u->n_frames, 1);
	io_rows_fini(&r);
}

/* Of a thread that has ended it is told when sums are fetched next. */
static void calls_have_been_under_way_since_before_their_thread_ended(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make("thread 10 12 gone end=2500\n"
	     "use pid=10 tid=10 event=io-time time=1000\n"
	     "main;read+0;file+0 1\n"
	     "use pid=10 tid=10 event=unfinished-io-time time=3000 step=0\n"
	     "main;read+0;file+0 1 weight=500\n"
	     "use pid=10 tid=12 event=unfinished-io-time time=3000 step=0\n"
	     "main;read+0;file+0 1 weight=400\n",
	     IO_ROWS_BY_FILE, &p, &r);
	assert_int_equal(r.unfinished.n, 2);
	assert_int_equal(r.unfinished.at[0].since_ns,
			 r.unfinished.at[1].since_ns + (3000 - 500) - (2500 - 400));
	io_rows_fini(&r);
}

static void small_calls_are_named_where_few_would_do(void **state)
{
	static const struct {
		const char *samples;
		uint64_t want;
	} t[] = {
		{ "event=read-bytes\nmain;read+0;file+0 192000\n"
		  "use pid=10 event=io-sizes\nmain;read+0;file+0;few+0 12000\n",
		  3 },
		/* A device gives what it has. */
		{ "event=read-bytes\nmain;read+0;device+0 192000\n"
		  "use pid=10 event=io-sizes\nmain;read+0;device+0;few+0 12000\n",
		  0 },
		/* Not many. */
		{ "event=read-bytes\nmain;read+0;file+0 192000\n"
		  "use pid=10 event=io-sizes\nmain;read+0;file+0;few+0 999\n",
		  0 },
		/* Others are large. */
		{ "event=read-bytes\nmain;read+0;file+0 192000\n"
		  "use pid=10 event=io-sizes\nmain;read+0;file+0;few+0 12000\n"
		  "main;read+0;file+0;more+0 2000\n",
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(profile_freep) struct profile *p = NULL;
		struct io_rows r;
		char text[1000];

		snprintf(text, sizeof(text), "use pid=10 %s", t[i].samples);
		make(text, IO_ROWS_BY_FILE, &p, &r);
		assert_int_equal(r.pairs.n, 1);
		assert_int_equal(io_rows_blocks_instead(p, &r.pairs.at[0]), t[i].want);
		io_rows_fini(&r);
	}
}

static void what_is_no_io_is_none(void **state)
{
	static const struct profile_options options = { 0 };
	own(profile_freep) struct profile *p = NULL;
	const char *paths[] = { PATH };
	struct io_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	recording_builder_write(PATH, "main 5\n");
	assert_int_equal(profile_load(paths, 1, &options, &p, &e), 0);
	assert_int_equal(io_rows_make(p, IO_ROWS_BY_CALL, &r, &e), 0);
	unlink(PATH);
	assert_false(r.has_io);
	assert_int_equal(r.rows.n, 0);
	io_rows_fini(&r);
}

static void calls_are_called_as_programs_do(void **state)
{
	char name[20];

	(void)state;
	io_rows_call_name("[syscall read]", name, sizeof(name));
	assert_string_equal(name, "read");
	io_rows_call_name("[io_uring read]", name, sizeof(name));
	assert_string_equal(name, "io_uring read");
	io_rows_call_name("[other read]", name, sizeof(name));
	assert_string_equal(name, "[other read]");
	io_rows_call_name("[syscall ]", name, sizeof(name));
	assert_string_equal(name, "[syscall ]");
}

/* Three connections to a server, whose side is here as well, with another host's two and
 * a third one's one; what is bound, or alone, stays as it is. */
#define PEER(id, name) "image " id " \"" name "\" kind=label\n"
#define CALL(id, n)    "main;read+0;" id "+0 " n "\n"

static const char connections[] = PEER("c1", "TCP 10.0.0.1:4001->10.0.0.2:80") PEER(
	"c2", "TCP 10.0.0.1:4002->10.0.0.2:80") PEER("c3",
						     "TCP 10.0.0.1:4003->10.0.0.2:80")
	PEER("s1", "TCP 10.0.0.2:80->10.0.0.1:4001") PEER(
		"s2",
		"TCP 10.0.0.2:80->10.0.0.1:4002") PEER("s3",
						       "TCP 10.0.0.2:80->10.0.0.1:4003")
		PEER("s4", "TCP 10.0.0.2:80->10.0.0.9:7001") PEER(
			"v6",
			"UDP "
			"[::1]:53->[fe80:"
			":1]:999") PEER("v7",
					"UDP [::1]:53->[fe80::1]:998") PEER("bound",
									    "TCP "
									    "10.0.0.2:80")
			PEER("alone", "TCP 10.0.0.1:4009->10.0.0.7:443") PEER(
				"path",
				"/tmp/a->b") "use pid=10 event=io-calls\n" CALL("c1", "1")
				CALL("s1", "10") CALL("c2", "2") CALL("s2", "20") CALL(
					"c3", "3") CALL("s3", "30") CALL("s4", "40")
					CALL("v6", "5") CALL("v7", "6") CALL(
						"bound", "7") CALL("alone", "8")
						CALL("path",
						     "9") "use pid=10 event=io-sizes\n"
							  "main;read+0;c1+0;few+0 "
							  "2\nmain;read+0;c3+0;few+0 4\n";

static void connections_of_a_server_are_one_row(void **state)
{
	static const struct {
		const char *name;
		uint64_t calls;
		uint32_t n;
	} t[] = {
		{ "TCP *->10.0.0.2:80", 6, 3 },
		{ "TCP 10.0.0.2:80->10.0.0.1:*", 60, 3 },
		{ "TCP 10.0.0.2:80->10.0.0.9:7001", 40, 0 },
		{ "UDP [::1]:53->[fe80::1]:*", 11, 2 },
		{ "TCP 10.0.0.2:80", 7, 0 },
		{ "TCP 10.0.0.1:4009->10.0.0.7:443", 8, 0 },
		{ "/tmp/a->b", 9, 0 },
	};
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make(connections, IO_ROWS_BY_FILE, &p, &r);
	assert_int_equal(r.rows.n, sizeof(t) / sizeof(t[0]));
	assert_int_equal(r.n_joined, 3);
	for (size_t i = 0; i < r.rows.n; i++) {
		assert_string_equal(r.rows.at[i].name, t[i].name);
		assert_int_equal(r.rows.at[i].sums.calls, t[i].calls);
		assert_int_equal(r.rows.at[i].n_connections, t[i].n);
	}
	assert_int_equal(r.rows.at[0].sums.sizes.sum, 6);
	io_rows_fini(&r);
}

static void each_connection_has_a_row_when_asked_for(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	struct io_rows r;

	(void)state;
	make(connections, IO_ROWS_BY_CONNECTION, &p, &r);
	assert_int_equal(r.rows.n, 12);
	assert_int_equal(r.n_joined, 0);
	assert_string_equal(r.rows.at[0].name, "TCP 10.0.0.1:4001->10.0.0.2:80");
	io_rows_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_sum_what_their_file_had),
		cmocka_unit_test(stacks_are_those_of_code),
		cmocka_unit_test(threads_are_told_apart),
		cmocka_unit_test(calls_that_have_not_returned_are_no_sums),
		cmocka_unit_test(
			calls_have_been_under_way_since_before_their_thread_ended),
		cmocka_unit_test(small_calls_are_named_where_few_would_do),
		cmocka_unit_test(what_is_no_io_is_none),
		cmocka_unit_test(calls_are_called_as_programs_do),
		cmocka_unit_test(connections_of_a_server_are_one_row),
		cmocka_unit_test(each_connection_has_a_row_when_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
