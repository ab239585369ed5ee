/* SPDX-License-Identifier: Apache-2.0
 * A sample in code of this program, with branches that a processor might have kept. */
#include "collect/directions.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/tracker.h"
#include "host/clock.h"
#include "scratch_file.h"
#include "store/recording.h"

/* Never called: turns, which may be left in the middle. */
__asm__(".pushsection .text\n"
	"turn: test %rax, %rax\n"
	"leave: je end\n"
	"after: dec %rcx\n"
	"again: jne turn\n"
	"end: ret\n"
	".popsection\n");

extern const char turn[], leave[], after[], again[], end[];

#define AT(label) ((uint64_t)(uintptr_t)(label))
#define N_ROWS	  8

struct rows {
	struct model_direction at[N_ROWS];
	unsigned n;
};

static int take_row(void *ctx, const struct model_direction *d, struct err *e)
{
	struct rows *rows = ctx;

	(void)e;
	assert_true(rows->n < N_ROWS);
	rows->at[rows->n++] = *d;
	return 0;
}

static void record(const struct tracker_sample *s)
{
	own(tracker_freep) struct tracker *t = NULL;
	struct writer *w = NULL;
	struct err e = { 0 };

	if (writer_create(scratch_file_path, NULL, &w, &e) < 0)
		fail_msg("%s", e.text);
	writer_event(w, &(struct model_event){ .name = writer_string(w, "cycles"),
					       .flags = EVENT_SAMPLED,
					       .period = 1 });
	t = tracker_new(w);
	tracker_want_directions(t);
	if (tracker_snapshot(t, 1, (uint32_t)getpid(), &e) < 0)
		fail_msg("%s", e.text);
	tracker_sample(t, s);
	assert_int_equal(tracker_finish(t, true, &e), 0);
	if (writer_close(w, &e) < 0)
		fail_msg("%s", e.text);
}

static uint64_t offset_of(const struct recording *r, uint32_t location)
{
	return recording_locations(r)[location].offset;
}

static void branches_that_were_kept_are_the_directions(void **state)
{
	const struct perf_branch_entry kept[] = {
		{ .from = AT(again), .to = AT(turn), .mispred = 1 },
		{ .from = AT(again), .to = AT(turn), .predicted = 1 },
		{ .from = AT(again), .to = AT(turn), .predicted = 1 },
	};
	struct unwind_regs regs = { .arch = UNWIND_X86_64 };
	struct tracker_sample s = {
		.time_ns = clock_monotonic_ns(),
		.weight = 1,
		.count = 1,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.regs = &regs,
		.branches = { (const uint8_t *)kept, 3, AT(after) },
	};
	own(recording_freep) struct recording *r = NULL;
	struct rows rows = { .n = 0 };
	uint64_t base;

	(void)state;
	regs.r[UNWIND_X86_64_PC] = AT(after);
	record(&s);
	assert_int_equal(recording_open(scratch_file_path, &r, NULL), 0);
	assert_int_equal(recording_each_direction(r, take_row, &rows, NULL), 0);
	assert_int_equal(rows.n, 2);
	/* three times back, once before that and twice between it was not left */
	assert_int_equal(rows.at[0].times, 3);
	assert_int_equal(rows.at[0].samples, 1);
	assert_int_equal(rows.at[0].missed, 1);
	assert_int_equal(rows.at[0].foreseen, 2);
	assert_int_equal(rows.at[1].times, 3);
	assert_int_equal(rows.at[1].samples, 1);
	assert_int_equal(rows.at[1].missed + rows.at[1].foreseen, 0);
	base = AT(again) - offset_of(r, rows.at[0].location);
	assert_int_equal(offset_of(r, rows.at[0].to), AT(turn) - base);
	assert_int_equal(offset_of(r, rows.at[1].location), AT(leave) - base);
	assert_int_equal(offset_of(r, rows.at[1].to), AT(after) - base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			branches_that_were_kept_are_the_directions, scratch_file_make,
			scratch_file_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
