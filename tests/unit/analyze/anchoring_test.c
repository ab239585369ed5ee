/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchoring.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "anchored_loop.h"
#include "base/buf.h"
#include "recording_builder.h"

#define SECOND 1000000000
#define LATE_S 100

static char path[64], other_path[64];

static int make_path(void **state unused)
{
	snprintf(path, sizeof(path), "/tmp/dwell-anchoring-%d.dwell", getpid());
	snprintf(other_path, sizeof(other_path), "/tmp/dwell-anchoring-%d-2.dwell",
		 getpid());
	return 0;
}

static int remove_path(void **state unused)
{
	unlink(path);
	unlink(other_path);
	return 0;
}

/* A second of native time and a window, again and again.  In each window the loop makes
 * turns[i] turns, of a thousand for each return but for what is told; returns are watched
 * for a tenth of the native time, and come a thousand times a second. */
struct case_of {
	unsigned n_windows;
	unsigned returns[2];   /* in each window, by turns */
	unsigned turns;	       /* for each return */
	unsigned sampled_s;    /* 0: all of the time */
	unsigned due_s;	       /* in which as many samples were due; 0: not known */
	unsigned n_throttled;  /* times, in which the clock of samples stood */
	unsigned late_ms;      /* sampled much later than the rest */
	bool has_other;	       /* another place that comes twice as often natively as in
				* windows */
	bool has_slow_moments; /* a counter that the loop goes with; but near windows the
				* program is slower than elsewhere, not always as much */
	bool has_meter; /* a counter: each other window there is no loop, and that comes
			 * three times as often natively; five times as much of it is
			 * in the windows with the loop, for these took longer */
	unsigned counted_ms; /* that each window took, where no place is watched */
};

static void write_meter(struct buf *text, unsigned window)
{
	bool is_other = window % 2;

	buf_printf(text,
		   "anchor %u 200000 a+0x900 cpu=%u\n"
		   "anchor %u %u a+0x900 size=4\n"
		   "anchor %u %u a+0xa00 size=8\n"
		   "anchor %u %u a+0x900 cpu=%u near=1\n",
		   window, SECOND, window, is_other ? 600 : 1000, window,
		   is_other ? 4000 : 0, window, is_other ? 6000 : 2000, SECOND / 50);
}

/* 50 times for each return; natively 110,000 times a second, and fewer near windows. */
static void write_slow_moment(struct buf *text, unsigned window, unsigned returns)
{
	buf_printf(text,
		   "anchor %u 110000 a+0x900 cpu=%u\n"
		   "anchor %u %u a+0x900 size=4\n"
		   "anchor %u %u a+0x900 cpu=%u near=1\n",
		   window, SECOND, window, 50 * returns, window, window % 3 ? 2000 : 1700,
		   SECOND / 50);
}

static void write_recording(const struct case_of *x)
{
	own(buf_fini) struct buf text = { 0 };
	unsigned seconds = x->sampled_s ? x->sampled_s : x->n_windows;

	buf_printf(&text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
		   "a+0x100 %u\n",
		   seconds * 1000 - x->late_ms);
	if (x->late_ms)
		buf_printf(&text, "a+0x100 %u time=%u000000000\n", x->late_ms, LATE_S);
	if (x->due_s)
		buf_printf(&text,
			   "fact rate requested-period 1000000 unit=ns event=cpu-time\n"
			   "fact rate counted %u000000000 unit=ns event=cpu-time\n"
			   "fact rate delivered %u event=cpu-time\n",
			   x->due_s, seconds * 1000);
	if (x->n_throttled)
		buf_printf(&text, "fact loss throttled %u\n", x->n_throttled);
	for (unsigned i = 0; i < x->n_windows; i++) {
		unsigned n = x->returns[i % 2];

		buf_printf(&text, "anchor %u 0 cpu=%u\n", i, SECOND);
		if (i && !x->has_meter && !x->has_slow_moments && !x->counted_ms)
			buf_printf(&text, "anchor %u 100 a+0x108 cpu=%u\n", i,
				   SECOND / 10);
		buf_printf(&text,
			   "anchor %u %u a+0x100 size=8 cpu=%u\nanchor %u %u a+0x108 "
			   "size=1\n",
			   i, n * x->turns, x->counted_ms * 1000000, i, n);
		if (x->has_other && i)
			buf_printf(&text, "anchor %u 200 a+0x900 cpu=%u\n", i,
				   SECOND / 10);
		if (x->has_other)
			buf_printf(&text, "anchor %u %u a+0x900 size=4\n", i, n);
		if (x->has_meter)
			write_meter(&text, i);
		if (x->has_slow_moments)
			write_slow_moment(&text, i, n);
	}
	recording_builder_write(path, buf_str(&text));
}

/* False: nothing is told. */
static bool find(const struct case_of *x, struct anchoring_block ret[2])
{
	uint32_t n;

	write_recording(x);
	n = anchored_loop_find(path, ret);
	assert_true(n == 0 || n == x->n_windows);
	return n;
}

static void what_is_steady_is_told_exactly(void **state unused)
{
	struct anchoring_block b[2];

	assert_true(find(&(struct case_of){ 40, { 20, 20 }, 1000 }, b));
	/* A thousand a second of native time, and what there was in windows. */
	assert_float_equal(b[1].times, 40 * 1000 + 40 * 20, 1);
	assert_float_equal(b[0].times, 1000 * b[1].times, 1000);
	assert_true(b[0].off > 0.01 && b[0].off < 0.1);
	/* How much of the program's work a window is does not matter. */
	assert_true(find(&(struct case_of){ 40, { 10, 70 }, 1000 }, b));
	assert_float_equal(b[0].times, 1000 * (40 * 1000 + 40 * 40), 1000);
	assert_true(b[0].off < 0.1);
}

static void windows_stand_for_the_time_around_them(void **state unused)
{
	struct anchoring_block b[2];

	/* In half of the time the loop is met twenty times in 10 ms. */
	assert_true(find(&(struct case_of){ 40, { 20, 0 }, 1000, .has_meter = true }, b));
	/* But for the first window, which may be of both. */
	assert_float_equal(b[1].times, 20 * 2000 + 20 * 20, 1500);
	assert_float_equal(b[0].times, 1000 * b[1].times, 1000);
	/* What windows have is one thing or the other. */
	assert_true(b[1].off > 0.2 && b[1].off < 0.5);
}

/* All windows are of 10 ms.  In each a counter is chosen that came three times as often
 * there as it does elsewhere. */
static void write_choices(void)
{
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
			  "a+0x100 8000\n");
	for (unsigned i = 0; i < 8; i++) {
		buf_printf(
			&text,
			"anchor %u 0 cpu=%u\n"
			"anchor %u 20000 a+0x100 size=8\nanchor %u 20 a+0x108 size=1\n",
			i, SECOND, i, i);
		for (unsigned k = 0; k < 8; k++)
			buf_printf(&text, "anchor %u %u a+0x%x size=4\n", i,
				   k == i ? 300 : 100, 0x900 + 16 * k);
		for (unsigned k = 0; k <= i; k++)
			buf_printf(&text, "anchor %u 200 a+0x%x cpu=%u near=1\n", i,
				   0x900 + 16 * k, SECOND / 50);
	}
	recording_builder_write(path, buf_str(&text));
}

static void counters_tell_nothing_of_windows_that_they_were_chosen_by(void **state unused)
{
	struct anchoring_block b[2];

	write_choices();
	assert_int_equal(anchored_loop_find(path, b), 8);
	assert_float_equal(b[1].times, 8 * 2000 + 8 * 20, 10);
}

/* As of another program, or of a run that was too short. */
static void a_recording_without_windows_has_chosen_no_counter(void **state unused)
{
	const char *paths[] = { path, other_path };
	struct anchoring_block b[2];

	write_choices();
	recording_builder_write(other_path,
				"event cpu-time unit=ns period=1000000 flags=sampled\n"
				"process 20 b\nimage b /bin/b\n"
				"use pid=20 event=cpu-time\nb+0x100 10\n");
	assert_int_equal(anchored_loop_find_in(paths, 2, b), 8);
	/* Of the other one it is not known that it has not the loop. */
	assert_float_equal(b[1].times, 8 * 2000 + 8 * 20, 30);
}

/* The program does three things for a third of the time each, of which each has a
 * counter; the loop is in two of them, and so goes with none.  Half of the windows have
 * the third, by chance. */
static void windows_have_what_counters_have_natively(void **state unused)
{
	own(buf_fini) struct buf text = { 0 };
	struct anchoring_block b[2];

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
			  "a+0x100 40000\n");
	for (unsigned i = 0; i < 40; i++) {
		unsigned is_done = i % 4 < 2 ? 0 : i % 4 - 1;

		buf_printf(&text, "anchor %u 0 cpu=%u\n", i, SECOND);
		for (unsigned k = 0; k < 3; k++) {
			bool is_here = k == is_done;

			buf_printf(&text,
				   "anchor %u 30000 a+0x%x cpu=%u\n"
				   "anchor %u %u a+0x%x size=4\n"
				   "anchor %u %u a+0x%x cpu=%u near=1\n",
				   i, 0x900 + 16 * k, SECOND, i, is_here ? 900 : 0,
				   0x900 + 16 * k, i, is_here ? 1800 : 0, 0x900 + 16 * k,
				   SECOND / 50);
		}
		buf_printf(&text, "anchor %u 20000 a+0x%x size=8\n", i,
			   is_done ? 0x100 : 0xa00);
		if (is_done)
			buf_printf(&text, "anchor %u 20 a+0x108 size=1\n", i);
	}
	recording_builder_write(path, buf_str(&text));
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, 40 * 2000 * 2 / 3 + 20 * 20, 6000);
}

static void what_goes_with_a_counter_is_told_by_all_that_it_has(void **state unused)
{
	struct case_of x = { 40, { 20, 60 }, 1000, .has_slow_moments = true };
	struct anchoring_block b[2];

	assert_true(find(&x, b));
	assert_float_equal(b[1].times, 40 * 110000 / 50 + 40 * 40, 100);
}

static void nothing_is_told_of_a_part_or_of_little(void **state unused)
{
	static const struct case_of cases[] = {
		{ 1, { 20, 20 }, 1000 },
		{ 40, { 20, 20 }, 1000, .sampled_s = 80 },
		{ 40, { 20, 20 }, 1000, .sampled_s = 20 },
		{ 40, { 20, 20 }, 1000, .sampled_s = 35 },
		/* The clock stood as well. */
		{ 40, { 20, 20 }, 1000, .sampled_s = 20, .due_s = 20 },
		{ 40, { 0, 0 }, 1000 },
	};
	struct anchoring_block b[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(find(&cases[i], b));
}

/* Lost, or throttled by the kernel, milliseconds each time: windows and places know
 * nothing of that. */
static void samples_that_did_not_come_are_time_all_the_same(void **state unused)
{
	static const struct case_of cases[] = {
		{ 40, { 20, 20 }, 1000, .sampled_s = 20, .due_s = 40 },
		{ 40,
		  { 20, 20 },
		  1000,
		  .sampled_s = 20,
		  .due_s = 20,
		  .n_throttled = 5000 },
	};
	struct anchoring_block b[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(find(&cases[i], b));
		assert_float_equal(b[1].times, 40 * 1000 + 40 * 20, 1);
	}
}

/* A thousand returns a second of native time, of which a window has as much as it took
 * divided by how many times as long that takes. */
static void without_a_place_the_time_of_windows_is_what_there_is(void **state unused)
{
	static const double slowdowns[] = { 1, 1.2, 1.6, 2.2 };
	struct anchoring_block b[2];

	for (size_t i = 0; i < sizeof(slowdowns) / sizeof(slowdowns[0]); i++) {
		struct case_of c = { 40, { 20, 20 }, 1000 };

		c.counted_ms = (unsigned)(20 * slowdowns[i]);
		assert_true(find(&c, b));
		assert_true(fabs(log(b[1].times / (40 * 1000))) < b[1].off);
		assert_float_equal(b[0].times / b[1].times, 1000, 1);
		assert_true(b[0].off > 0.4 && b[0].off < 0.7);
	}
}

static void few_windows_are_sure_of_less(void **state unused)
{
	struct anchoring_block few[2], many[2], b[2];

	assert_true(find(&(struct case_of){ 6, { 20, 20 }, 1000 }, few));
	assert_true(find(&(struct case_of){ 40, { 20, 20 }, 1000 }, many));
	assert_true(few[0].off > 2 * many[0].off);
	assert_true(find(&(struct case_of){ 3, { 20, 20 }, 1000 }, b));
	assert_true(b[0].off > few[0].off);
}

/* A counter that comes 50,000 times a second, 500 of them in the window, with the loop.
 */
/* Of a program that does one thing, with a place that tells beside each window. */
static void write_few(unsigned n)
{
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
		   "a+0x100 %u\n",
		   n * 1000);
	for (unsigned i = 0; i < n; i++)
		buf_printf(&text,
			   "anchor %u 0 cpu=%u\n"
			   "anchor %u 1000000 a+0x100 size=8\n"
			   "anchor %u 1000 a+0x108 size=1\n"
			   "anchor %u 500 a+0x900 size=4\n"
			   "anchor %u 1000 a+0x900 cpu=%u near=1\n"
			   "anchor-way %u 999000 a+0x108 a+0x100\n"
			   "anchor-way %u 1000 a+0x108 a+0x104\n",
			   i, SECOND, i, i, i, i, SECOND / 50, i, i);
	recording_builder_write(path, buf_str(&text));
}

static void one_window_tells_with_a_wide_range(void **state unused)
{
	double before = INFINITY;

	for (unsigned n = 1; n <= 3; n++) {
		struct anchoring_block b[2];
		double truth = n * (1e8 + 1e6);

		write_few(n);
		assert_int_equal(anchored_loop_find(path, b), n);
		assert_true(fabs(log(b[0].times / truth)) < 0.02);
		assert_true(b[0].off < before);
		assert_true(n > 2 || b[0].off > 0.5);
		before = b[0].off;
	}
}

static void places_that_disagree_are_further_off_than_they_tell(void **state unused)
{
	struct anchoring_block b[2];

	assert_true(
		find(&(struct case_of){ 40, { 20, 20 }, 1000, .has_other = true }, b));
	assert_true(b[0].off > 0.5 && b[0].off < log(2) + 0.1);
}

static void write_time(struct buf *text, unsigned window, unsigned pid,
		       unsigned told_each)
{
	buf_printf(text, "anchor %u 0 cpu=%u pid=%u\n", window, SECOND / 2, pid);
	if (window % told_each == told_each - 1)
		buf_printf(text, "anchor %u %u a+0x900 cpu=%u pid=%u\n", window,
			   41250 * told_each, SECOND / 2 * told_each, pid);
}

/* Half of them at the begin, half much later. */
static void write_halves(struct buf *text, unsigned pid, unsigned ms)
{
	buf_printf(text,
		   "use pid=%u event=cpu-time\n"
		   "a+0x100 %u time=%u\na+0x100 %u time=%u000000000\n",
		   pid, ms / 2, SECOND, ms / 2, LATE_S);
}

/* Two processes of one program, each for half of a second before each window, which is of
 * one and the other by turns; a counter that comes 110,000 times a second, or half as
 * often beside something else, 50 times for each return, told each so many windows.
 * sampled_ms: of each.  more: processes and their samples. */
static void write_sampled_two(unsigned n_windows, unsigned told_each, bool has_meter,
			      unsigned sampled_ms, const char *more)
{
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nprocess 11 a\nimage a /bin/a\n");
	for (unsigned pid = 10; pid < 12; pid++)
		write_halves(&text, pid, sampled_ms);
	buf_puts(&text, more);
	for (unsigned i = 0; i < n_windows; i++) {
		unsigned pid = 10 + i % 2, part = 1 + i % 4 / 2;

		for (unsigned k = 10; k < 12; k++)
			write_time(&text, i, k, told_each);
		buf_printf(&text,
			   "anchor %u %u a+0x100 size=8 pid=%u\n"
			   "anchor %u %u a+0x108 size=1 pid=%u\n"
			   "anchor %u %u a+0x900 size=4 pid=%u\n"
			   "anchor %u %u a+0xa00 size=2 pid=%u\n",
			   i, 20000 / part, pid, i, 20 / part, pid, i, 1000 / part, pid,
			   i, 41005 * (part - 1), pid);
		if (has_meter)
			buf_printf(&text, "anchor %u %u a+0x900 cpu=%u near=1 pid=%u\n",
				   i, 2200 / part, SECOND / 50, pid);
	}
	recording_builder_write(path, buf_str(&text));
}

static void write_two(unsigned n_windows, unsigned told_each, bool has_meter,
		      const char *more)
{
	write_sampled_two(n_windows, told_each, has_meter, n_windows * 500, more);
}

#define ALL_RETURNS (40 * 82500 / 50 + 40 * 15)

/* All of the time, but what it was is told before each fourth window. */
static void what_was_watched_is_of_all_windows_since_it_was_told(void **state unused)
{
	struct anchoring_block b[2];

	write_two(40, 4, true, "");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, ALL_RETURNS, 100);
}

/* A loop that tells its turns by a register from window to window, a million each, is
 * left half way; another thing is done from then on. */
static void what_tells_while_it_runs_is_of_that_time(void **state unused)
{
	own(buf_fini) struct buf text = { 0 };
	struct anchoring_block b[2];

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
			  "a+0x100 20000\na+0x900 20000\n");
	for (unsigned i = 0; i < 40; i++) {
		buf_printf(&text, "anchor %u 0 cpu=%u\nanchor %u 20000 a+%s size=8\n", i,
			   SECOND, i, i < 20 ? "0x100" : "0x900");
		if (i && i < 20)
			buf_printf(&text, "anchor %u 1000000 a+0x100 cpu=%u\n", i,
				   SECOND);
	}
	recording_builder_write(path, buf_str(&text));
	assert_int_equal(anchored_loop_find(path, b), 40);
	/* And what is in windows; that it was left in the middle of a gap is half.  Of
	 * the twenty behind that, in whose windows it is not, gaps tell a twentieth of
	 * one. */
	assert_float_equal(b[0].times, 20.525 * 1000000 + 20 * 20000, 25000);
	assert_true(b[0].off < 0.1);
}

static void processes_of_a_program_are_one(void **state unused)
{
	struct anchoring_block b[2];

	write_two(40, 1, true, "");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, ALL_RETURNS, 100);
	assert_float_equal(b[0].times, 1000 * b[1].times, 1000);
	assert_true(b[0].off < 0.1);
	/* A place may have been watched in one only: what windows stand for must be
	 * known.
	 */
	write_two(40, 1, false, "");
	assert_int_equal(anchored_loop_find(path, b), 0);
}

static void a_process_that_ended_too_soon_is_as_the_others(void **state unused)
{
	struct anchoring_block b[2];

	write_two(40, 1, true,
		  "process 12 a\nuse pid=12 event=cpu-time\na+0x100 20000\n");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, 1.5 * ALL_RETURNS, 100);
}

/* Of all processes half. */
static void samples_that_were_lost_are_of_those_that_ended_too(void **state unused)
{
	struct anchoring_block b[2];

	write_sampled_two(40, 1, true, 10000,
			  "process 12 a\nuse pid=12 event=cpu-time\na+0x100 10000\n"
			  "fact rate requested-period 1000000 unit=ns event=cpu-time\n"
			  "fact rate counted 60000000000 unit=ns event=cpu-time\n"
			  "fact rate delivered 30000 event=cpu-time\n");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, 1.5 * ALL_RETURNS, 100);
}

/* The windows of two are of all of the time: that what nobody looked at has as many
 * samples as were left out of theirs does not make them of the half that was chosen. */
static void windows_are_of_what_a_filter_left_out_too(void **state unused)
{
	struct anchoring_block b[2];

	write_two(40, 1, true,
		  "process 12 a\nuse pid=12 event=cpu-time\na+0x100 60000 "
		  "time=2000000000\n");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_int_equal(anchored_loop_find_chosen(path, "time in 0..200s", b), 40);
	assert_float_equal(b[1].times, 2.5 * ALL_RETURNS, 100);
	assert_int_equal(anchored_loop_find_chosen(path, "time in 0..50s", b), 0);
	/* Whose samples are left out all is not there, nor are its windows. */
	write_two(40, 1, true, "");
	assert_int_equal(anchored_loop_find_chosen(path, "pid != 11", b), 20);
}

static void what_a_filter_leaves_out_makes_it_less_sure(void **state unused)
{
	struct anchoring_block all[2], b[2];

	write_recording(&(struct case_of){ 40, { 20, 20 }, 1000 });
	assert_int_equal(anchored_loop_find(path, all), 40);
	write_recording(&(struct case_of){ 40, { 20, 20 }, 1000, .late_ms = 2000 });
	assert_int_equal(anchored_loop_find_chosen(path, "time in 0..50s", b), 40);
	assert_float_equal(b[0].times, all[0].times, 1);
	assert_float_equal(b[0].off, all[0].off + log(40 / 38.0), 0.001);
	write_recording(&(struct case_of){ 40, { 20, 20 }, 1000, .late_ms = 6000 });
	assert_int_equal(anchored_loop_find_chosen(path, "time in 0..50s", b), 0);
}

static void another_program_makes_the_same_code_less_sure(void **state unused)
{
	struct anchoring_block b[2];

	write_two(40, 1, true,
		  "process 12 b\nuse pid=12 event=cpu-time\na+0x100 20000\n");
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_float_equal(b[1].times, 1.5 * ALL_RETURNS, 100);
	assert_true(b[1].off > log(1.5) && b[1].off < log(1.5) + 0.1);
	/* Most of it. */
	write_two(40, 1, true,
		  "process 12 b\nuse pid=12 event=cpu-time\na+0x100 60000\n");
	assert_int_equal(anchored_loop_find(path, b), 0);
}

/* In each window: how often the loop was gone through, and of that, back to its begin. */
static void write_shares(const unsigned turns[], const unsigned again[], unsigned n,
			 bool has_ways)
{
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
		   "a+0x100 %u\n",
		   40 * 1000);
	for (unsigned i = 0; i < 40; i++) {
		buf_printf(&text, "anchor %u 0 cpu=%u\n", i, SECOND);
		if (i)
			buf_printf(&text, "anchor %u 100 a+0x900 cpu=%u\n", i,
				   SECOND / 10);
		buf_printf(&text,
			   "anchor %u 20 a+0x900 size=4\n"
			   "anchor %u %u a+0x100 size=8\n",
			   i, i, turns[i % n]);
		if (has_ways)
			buf_printf(&text,
				   "anchor-way %u %u a+0x108 a+0x100\n"
				   "anchor-way %u 7 a+0x108 a+0x104\n"
				   "anchor-way %u 9 a+0x104 a+0x100\n",
				   i, again[i % n], i, i);
	}
	recording_builder_write(path, buf_str(&text));
}

static void ways_have_the_part_that_they_had_in_windows(void **state unused)
{
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct anchoring_way w[ANCHORED_LOOP_WAYS];

	/* What leads elsewhere is none of those that are known, but of what leaves. */
	write_shares((unsigned[]){ 1000, 2000 }, (unsigned[]){ 600, 1200 }, 2, true);
	assert_int_equal(anchored_loop_find_ways(path, b, w), 40);
	assert_true(w[ANCHORED_LOOP_AGAIN].is_told && w[ANCHORED_LOOP_ON].is_told);
	assert_float_equal(w[ANCHORED_LOOP_AGAIN].share, 0.6, 0.001);
	assert_float_equal(w[ANCHORED_LOOP_ON].share, 0.4 - 14 / 3000.0, 0.001);
	assert_true(w[ANCHORED_LOOP_AGAIN].off > 0.001 &&
		    w[ANCHORED_LOOP_AGAIN].off < 0.02);
	assert_false(w[ANCHORED_LOOP_WAYS - 1].is_told);
	/* By how much there is of it, not by windows; and sure of less where they differ.
	 */
	write_shares((unsigned[]){ 1000, 3000 }, (unsigned[]){ 900, 300 }, 2, true);
	assert_int_equal(anchored_loop_find_ways(path, b, w), 40);
	assert_float_equal(w[ANCHORED_LOOP_AGAIN].share, 0.3, 0.001);
	assert_true(w[ANCHORED_LOOP_AGAIN].off > 0.3);
}

/* It is of one moment, in which a way may be gone that is gone half of the time. */
static void a_single_window_tells_no_ways(void **state unused)
{
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct anchoring_way w[ANCHORED_LOOP_WAYS];

	for (unsigned n = 1; n <= 3; n++) {
		write_few(n);
		assert_int_equal(anchored_loop_find_ways(path, b, w), n);
		assert_true(b[0].times > 0);
		assert_int_equal(w[ANCHORED_LOOP_AGAIN].is_told, n > 1);
	}
}

/* Two programs have the loop; in the second it is left each time. */
static void a_way_that_one_program_goes_is_told_by_that(void **state unused)
{
	own(buf_fini) struct buf text = { 0 };
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct anchoring_way w[ANCHORED_LOOP_WAYS];

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "image a /bin/a\n");
	for (unsigned k = 0; k < 2; k++) {
		buf_printf(&text,
			   "process %u %c\nuse pid=%u event=cpu-time\n"
			   "a+0x100 40000\n",
			   10 + k, "ab"[k], 10 + k);
		for (unsigned i = k; i < 80; i += 2)
			buf_printf(&text,
				   "anchor %u 0 cpu=%u\n"
				   "anchor %u 100 a+0x900 cpu=%u\n"
				   "anchor %u 20 a+0x900 size=4\n"
				   "anchor %u %u a+0x100 size=8\n"
				   "anchor-way %u %u a+0x108 a+0x10%c\n",
				   i, SECOND, i, SECOND / 10, i, i, k ? 10 : 1000, i,
				   k ? 10 : 600, "04"[k]);
	}
	recording_builder_write(path, buf_str(&text));
	assert_int_equal(anchored_loop_find_ways(path, b, w), 80);
	assert_float_equal(w[ANCHORED_LOOP_AGAIN].share, 600 / 1010.0, 0.001);
	assert_true(w[ANCHORED_LOOP_AGAIN].off < 0.05);
}

/* Forty windows of 10 ms, the loop a fifth of the time there and around.  Between the
 * first of them it is all of it for 0.4 s each time.  A turn takes 10 ns. */
static bool is_in_the_loop(unsigned ms, unsigned n_long)
{
	bool is_near = ms % 1000 < 300 || ms % 1000 >= 700;

	return is_near || ms / 1000 >= n_long ? ms % 5 == 0 : true;
}

/* Returns turns while nothing was counted. */
static double write_long(unsigned n_long)
{
	own(buf_fini) struct buf text = { 0 };
	unsigned n_ms = 0;

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nimage a jit kind=jit pid=10\n"
			  "function a loop 0x100 9\nfunction a rest 0x900 64\n"
			  "use pid=10 event=cpu-time\n");
	for (unsigned ms = 0; ms < 40 * 1000; ms++) {
		bool is_loop = is_in_the_loop(ms, n_long);

		buf_printf(&text, "a+0x%u\n", is_loop ? 100 : 900);
		n_ms += is_loop;
	}
	for (unsigned i = 0; i < 40; i++) {
		unsigned ms = i % 2 ? 9 : 11;

		buf_printf(&text,
			   "anchor %u 0 cpu=%u\n"
			   "anchor %u 1000000 a+0x910 cpu=%u\n"
			   "anchor %u %u a+0x100 size=8\nanchor %u %u a+0x108 size=1\n"
			   "anchor %u %u a+0x910 size=4\n"
			   "anchor %u 40000 a+0x910 cpu=%u near=1\n",
			   i, SECOND, i, SECOND, i, ms * 20000, i, ms * 20, i, ms * 1000,
			   i, SECOND / 25);
	}
	recording_builder_write(path, buf_str(&text));
	return n_ms * 1e5;
}

static void what_windows_did_not_meet_is_told_by_its_time(void **state unused)
{
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];

	for (unsigned n_long = 0; n_long <= 20; n_long += 10) {
		double truth = write_long(n_long) + 40 * 10 * 20000;

		assert_int_equal(anchored_loop_find(path, b), 40);
		assert_float_equal(b[0].times / truth, 1, 0.15);
		assert_true(fabs(log(b[0].times / truth)) < b[0].off);
		assert_true(n_long || b[0].off < 0.1);
	}
}

/* What is in one window alone, with a counter that is there alone, too. */
static void a_window_that_has_all_agrees_with_itself_only(void **state unused)
{
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			  "process 10 a\nimage a /bin/a\nuse pid=10 event=cpu-time\n"
			  "a+0x100 40000\n");
	for (unsigned i = 0; i < 40; i++) {
		bool has_loop = i == 20;

		buf_printf(&text,
			   "anchor %u 0 cpu=%u\n"
			   "anchor %u 1000000 a+0x910 cpu=%u\n"
			   "anchor %u 10000 a+0x910 size=4\n"
			   "anchor %u 40000 a+0x910 cpu=%u near=1\n"
			   "anchor %u %u a+0x960 cpu=%u\n"
			   "anchor %u %u a+0x960 size=4\n",
			   i, SECOND, i, SECOND, i, i, SECOND / 25, i,
			   has_loop ? 100000 : 0, SECOND, i, has_loop ? 1000 : 0);
	}
	buf_printf(&text, "anchor 20 200000 a+0x100 size=8\n"
			  "anchor 20 200 a+0x108 size=1\n");
	recording_builder_write(path, buf_str(&text));
	assert_int_equal(anchored_loop_find(path, b), 40);
	assert_true(b[ANCHORED_LOOP_TURN].off > 0.5);
}

static void without_ways_in_windows_none_are_told(void **state unused)
{
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct anchoring_way w[ANCHORED_LOOP_WAYS];

	write_shares((unsigned[]){ 1000 }, (unsigned[]){ 600 }, 1, false);
	assert_int_equal(anchored_loop_find_ways(path, b, w), 40);
	for (int i = 0; i < ANCHORED_LOOP_WAYS; i++)
		assert_false(w[i].is_told);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)
	const struct CMUnitTest tests[] = {
		TEST(what_is_steady_is_told_exactly),
		TEST(windows_stand_for_the_time_around_them),
		TEST(counters_tell_nothing_of_windows_that_they_were_chosen_by),
		TEST(a_recording_without_windows_has_chosen_no_counter),
		TEST(windows_have_what_counters_have_natively),
		TEST(what_goes_with_a_counter_is_told_by_all_that_it_has),
		TEST(nothing_is_told_of_a_part_or_of_little),
		TEST(samples_that_did_not_come_are_time_all_the_same),
		TEST(without_a_place_the_time_of_windows_is_what_there_is),
		TEST(few_windows_are_sure_of_less),
		TEST(one_window_tells_with_a_wide_range),
		TEST(places_that_disagree_are_further_off_than_they_tell),
		TEST(what_tells_while_it_runs_is_of_that_time),
		TEST(what_was_watched_is_of_all_windows_since_it_was_told),
		TEST(processes_of_a_program_are_one),
		TEST(a_process_that_ended_too_soon_is_as_the_others),
		TEST(samples_that_were_lost_are_of_those_that_ended_too),
		TEST(windows_are_of_what_a_filter_left_out_too),
		TEST(what_a_filter_leaves_out_makes_it_less_sure),
		TEST(another_program_makes_the_same_code_less_sure),
		TEST(a_window_that_has_all_agrees_with_itself_only),
		TEST(what_windows_did_not_meet_is_told_by_its_time),
		TEST(ways_have_the_part_that_they_had_in_windows),
		TEST(a_single_window_tells_no_ways),
		TEST(a_way_that_one_program_goes_is_told_by_that),
		TEST(without_ways_in_windows_none_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
