/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/heap_between.h"
#include "recording_builder.h"

#define PATH "heap_between_test.dwell"

/* Four intervals; of the first of process 20 sums were not cut. */
static void find(const char *process_20, const char *text, int want, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	struct heap_rows rows = { 0 };
	struct heap_between b;
	char lines[2000];

	snprintf(lines, sizeof(lines),
		 "process 10 a start=100 end=500\n"
		 "process 20 b %s\n"
		 "interval 100 200 \"\" cause=timer\n"
		 "interval 200 300 first cause=program\n"
		 "interval 300 400 second cause=program\n"
		 "interval 400 500 \"\" cause=end\n"
		 "event leaked-bytes unit=bytes period=0 experiment=heap flags=exact\n"
		 "trace-type cuts event=leaked-bytes held-then:bytes "
		 "held-blocks-then:u64 uncut:u64\n"
		 "trace cuts - pid=10 tid=10 time=100\n"
		 "trace cuts - pid=10 tid=10 time=300\n"
		 "trace cuts - pid=10 tid=10 time=400\n"
		 "trace cuts - pid=20 tid=20 time=150 uncut=1\n",
		 process_20);
	recording_builder_write(PATH, lines);
	assert_int_equal(recording_open(PATH, &r, e), 0);
	unlink(PATH);
	assert_int_equal(heap_rows_load(&rows, r, e), 0);
	assert_int_equal(heap_between_find(r, &rows, text, &b, e), want);
	heap_rows_fini(&rows);
}

static void who_has_ended_needs_no_more_cuts(void **state)
{
	struct err e = { 0 };

	(void)state;
	find("start=120 end=250", "first,second", 0, &e);
	find("start=120 end=300", "first,end", 0, &e);
	find("start=120 end=301", "first,second", ERR_UNSUPPORTED, &e);
	assert_non_null(strstr(e.text, "end of interval 2: take 0 or 3"));
}

static void what_was_not_cut_while_it_ran_is_refused(void **state)
{
	struct err e = { 0 };

	(void)state;
	find("start=120 end=250", "1,second", ERR_UNSUPPORTED, &e);
	assert_non_null(strstr(e.text, "end of interval 1: take 0 or 2"));
	/* It may have gone on. */
	find("start=120", "first,second", ERR_UNSUPPORTED, &e);
	assert_non_null(strstr(e.text, "end of interval 2: take 0 or 4"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_ended_needs_no_more_cuts),
		cmocka_unit_test(what_was_not_cut_while_it_ran_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
