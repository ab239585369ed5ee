/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that do one thing and another, each for as long as chance has it, with a few
 * windows: does the range that is told have the truth as often as is said?
 */
#include "analyze/anchoring.h"

#include <elf.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "anchored_loop.h"
#include "base/buf.h"
#include "elf_builder.h"
#include "recording_builder.h"

#define N_PROGRAMS  200
#define SLICE_MS    50
#define N_SLICES    20 /* between windows */
#define N_KINDS	    3  /* of what is done */
#define WINDOW_MS   10 /* natively, about */
#define NEAR_MS	    20
#define NS_OF_MS    1000000
#define CODE_RATE   1e6 /* each millisecond, where all code is one loop */
#define SAMPLES_ROW 10

/* Many are watched, and none of them goes with the loop but as all of the time does: one
 * does in a few windows, by chance. */
enum { LOOP, RETURN, METERS, N_PLACES = METERS + 16 };

/* Each millisecond, about. */
static const double usual_rate[] = { [LOOP] = 1e5, [RETURN] = 300, [METERS] = 1000 };

static double rate_of(unsigned place)
{
	return usual_rate[place < METERS ? place : METERS];
}

static unsigned offset_of(unsigned place)
{
	return place < METERS ? 0x100 + 8 * place : 0x900 + 16 * place;
}

static unsigned size_of(unsigned place)
{
	return place == LOOP ? 8 : 1;
}

#define N_RUNS 20 /* at most */

static char image_path[64], paths[N_RUNS][64];
static uint64_t seed;
static unsigned n_programs = N_PROGRAMS;

/* With the loop, and what is beside it. */
static void write_image(void)
{
	static const uint8_t text[0x1000] = { 0 };
	static const char names[] = "\0loop\0rest";
	static const uint8_t id[] = { 0xaa, 0xbb };
	const Elf64_Sym symbols[] = {
		{ 0 },
		{ .st_name = 1,
		  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		  .st_shndx = 1,
		  .st_value = 0x100,
		  .st_size = 9 },
		{ .st_name = 6,
		  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		  .st_shndx = 1,
		  .st_value = 0x900,
		  .st_size = 400 },
	};
	own(elf_builder_fini) struct elf_builder b = { 0 };
	own(buf_fini) struct buf bytes = { 0 };
	FILE *f = fopen(image_path, "wb");

	elf_builder_add(&b,
			&(struct elf_builder_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .data = text,
						       .size = sizeof(text) });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".symtab",
							   .type = SHT_SYMTAB,
							   .link = 3,
							   .data = symbols,
							   .size = sizeof(symbols) });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".strtab",
							   .type = SHT_STRTAB,
							   .data = names,
							   .size = sizeof(names) });
	elf_builder_add_build_id(&b, id, sizeof(id));
	elf_builder_write(&b, &bytes);
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
	fclose(f);
}

static int set_up(void **state)
{
	(void)state;
	seed = 1;
	snprintf(image_path, sizeof(image_path), "/tmp/dwell-chance-%d.elf", getpid());
	write_image();
	for (int i = 0; i < N_RUNS; i++)
		snprintf(paths[i], sizeof(paths[i]), "/tmp/dwell-chance-%d-%d.dwell",
			 getpid(), i);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(image_path);
	for (int i = 0; i < N_RUNS; i++)
		unlink(paths[i]);
	return 0;
}

/* Of 0 to 1: Marsaglia's xorshift. */
static double chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (1ull << 53);
}

/* Around 1; its logarithm has this deviation. */
static double around(double deviation)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += chance();
	return exp(deviation * sum);
}

struct program {
	double rates[N_KINDS][N_PLACES];
	double stay; /* the chance that a slice does what the one before did */
	unsigned kind;
	bool has_meters; /* counters of all of the time; else returns are watched for a
			  * tenth of it */
	/* The loop is as often as it takes time, of which it has these parts, and samples
	 * tell when; else they are all of the loop. */
	bool has_shares, has_samples;
	double shares[N_KINDS];
	double truth[N_PLACES];
	const char *build_id;
	double sampled; /* of the time */
	struct buf text;
};

static void begin(struct program *p, bool has_meters)
{
	double apart = 0.6 * chance();

	*p = (struct program){ .has_meters = has_meters,
			       .build_id = "aabb",
			       .sampled = 1,
			       .stay = 1 - 1 / pow(40, chance()) };
	for (int i = 0; i < N_KINDS; i++)
		for (unsigned k = 0; k < N_PLACES; k++)
			p->rates[i][k] = rate_of(k) * around(apart);
}

static void begin_shares(struct program *p, bool has_samples)
{
	p->has_shares = true;
	p->has_samples = has_samples;
	for (int i = 0; i < N_KINDS; i++) {
		p->shares[i] = fmin(0.9, 0.15 * around(1));
		p->rates[i][LOOP] = CODE_RATE * p->shares[i] * around(0.1);
		p->rates[i][RETURN] = p->rates[i][LOOP] / 300;
	}
}

static void next_slice(struct program *p)
{
	if (chance() >= p->stay)
		p->kind = (unsigned)(chance() * N_KINDS);
}

/* In so many milliseconds of what is done now. */
static double executed(const struct program *p, unsigned place, double ms)
{
	return floor(p->rates[p->kind][place] * ms * around(0.2) + chance());
}

/* A millisecond each. */
static void write_samples(struct program *p)
{
	for (int i = 0; i < SLICE_MS; i += SAMPLES_ROW) {
		int n = 0;

		for (int k = 0; k < SAMPLES_ROW; k++)
			n += chance() < p->shares[p->kind];
		if (n && p->has_samples)
			buf_printf(&p->text, "a+0x100 %d\n", n);
		if (n < SAMPLES_ROW && p->has_samples)
			buf_printf(&p->text, "a+0x900 %d\n", SAMPLES_ROW - n);
	}
}

/* A place is watched in all slices, or in two. */
static void write_between(struct program *p, unsigned window, unsigned n_slices)
{
	double hits[N_PLACES] = { 0 }, watched = 0;
	unsigned first = (unsigned)(chance() * (n_slices - 1));

	for (unsigned i = 0; i < n_slices; i++) {
		next_slice(p);
		if (p->has_shares)
			write_samples(p);
		for (unsigned k = 0; k < N_PLACES; k++) {
			double times = executed(p, k, SLICE_MS);

			hits[k] += times;
			if (k == RETURN && i - first < 2)
				watched += times;
			p->truth[k] += times;
		}
	}
	buf_printf(&p->text, "anchor %u 0 cpu=%u\n", window,
		   n_slices * SLICE_MS * NS_OF_MS);
	if (!p->has_meters && window)
		buf_printf(&p->text, "anchor %u %.0f a+0x%x cpu=%u\n", window, watched,
			   offset_of(RETURN), 2 * SLICE_MS * NS_OF_MS);
	for (unsigned k = METERS; k < N_PLACES && p->has_meters; k++)
		buf_printf(&p->text, "anchor %u %.0f a+0x%x cpu=%u\n", window, hits[k],
			   offset_of(k), n_slices * SLICE_MS * NS_OF_MS);
}

/* Natively it would have been slower or faster than usual, and near it it is slower. */
static void write_window(struct program *p, unsigned window)
{
	double ms = WINDOW_MS * around(0.3), slow = 0.98 * around(0.03);

	if (p->has_shares)
		buf_printf(&p->text, "anchor %u %.0f a+0xa80 size=8\n", window,
			   CODE_RATE * (1 - p->shares[p->kind]) * ms);
	for (unsigned k = 0; k < N_PLACES; k++) {
		double times = executed(p, k, ms);

		p->truth[k] += times;
		if (times > 0)
			buf_printf(&p->text, "anchor %u %.0f a+0x%x size=%u\n", window,
				   times, offset_of(k), size_of(k));
		if (k >= METERS && p->has_meters)
			buf_printf(&p->text, "anchor %u %.0f a+0x%x cpu=%u near=1\n",
				   window, slow * executed(p, k, NEAR_MS), offset_of(k),
				   NEAR_MS * NS_OF_MS);
	}
}

/* A run of it. */
static void write_run(struct program *p, unsigned run, unsigned n_windows)
{
	p->text.size = 0;
	buf_printf(&p->text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a exe=%s\nimage a %s build-id=%s\n"
		   "use pid=10 event=cpu-time\n",
		   image_path, image_path, p->build_id);
	if (!p->has_samples)
		buf_printf(
			&p->text, "a+0x100 %u\n",
			(unsigned)(p->sampled * (n_windows * N_SLICES + N_SLICES / 2.0) *
				   SLICE_MS));
	for (unsigned i = 0; i < n_windows; i++) {
		write_between(p, i, N_SLICES);
		write_window(p, i);
	}
	write_between(p, n_windows, N_SLICES / 2);
	recording_builder_write(paths[run], buf_str(&p->text));
}

struct verdict {
	unsigned n, n_right;
	double off, error; /* of all: the mean */
};

enum sampling { ALL_LOOP, SHARES, SHARES_SAMPLED };

/* Of one run all, or of several about as many in each. */
static uint32_t find_in_runs(struct program *p, unsigned n_runs, unsigned n_windows,
			     struct anchoring_block *ret)
{
	const char *all[N_RUNS];

	for (unsigned i = 0; i < n_runs; i++) {
		all[i] = paths[i];
		write_run(p, i, (i + 1) * n_windows / n_runs - i * n_windows / n_runs);
	}
	return anchored_loop_find_in(all, n_runs, ret);
}

static struct verdict judge(unsigned n_runs, unsigned n_windows, bool has_meters,
			    enum sampling sampling)
{
	struct verdict v = { 0 };

	for (unsigned i = 0; i < n_programs; i++) {
		struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
		struct program p;

		begin(&p, has_meters);
		if (sampling != ALL_LOOP)
			begin_shares(&p, sampling == SHARES_SAMPLED);
		if (find_in_runs(&p, n_runs, n_windows, b) == n_windows) {
			double error =
				fabs(log(b[ANCHORED_LOOP_TURN].times / p.truth[LOOP]));

			v.n++;
			v.n_right += error <= b[ANCHORED_LOOP_TURN].off;
			v.error += error;
			v.off += b[ANCHORED_LOOP_TURN].off;
		}
		buf_fini(&p.text);
	}
	v.off /= v.n;
	v.error /= v.n;
	return v;
}

static void check_ranges(const unsigned *n_windows, size_t n, bool has_meters)
{
	double before = INFINITY;

	for (size_t i = 0; i < n; i++) {
		struct verdict v = judge(1, n_windows[i], has_meters, ALL_LOOP);

		print_message("# %u windows: %u of %u in ranges of %.0f %%\n",
			      n_windows[i], v.n_right, v.n, 100 * v.off);
		assert_true(v.n > 0.9 * N_PROGRAMS && v.n_right > 0.9 * v.n);
		assert_true(v.off < before);
		before = v.off;
	}
}

#define N_LENGTHS 5
static const unsigned lengths[N_LENGTHS] = { 3, 4, 6, 12, 24 };

static void ranges_have_the_truth_where_all_is_counted(void **state)
{
	(void)state;
	check_ranges(lengths, N_LENGTHS, true);
}

/* They do not tell how much windows differ. */
static void ranges_have_the_truth_of_one_window_and_of_two(void **state)
{
	static const unsigned few[] = { 1, 2, 3 };

	(void)state;
	check_ranges(few, 3, true);
}

static void ranges_have_the_truth_where_a_place_is_watched_in_turns(void **state)
{
	(void)state;
	check_ranges(lengths, N_LENGTHS, false);
}

static void check_runs(unsigned n_runs, unsigned n_windows, bool has_meters,
		       enum sampling sampling)
{
	struct verdict one, v;

	n_programs = N_PROGRAMS / 2; /* recordings are many */
	seed = 1;
	one = judge(1, n_windows, has_meters, sampling);
	seed = 1;
	v = judge(n_runs, n_windows, has_meters, sampling);
	print_message("# %u windows in %u runs: off by %.3f, in one %.3f; %u of %u in "
		      "ranges of %.0f %%, %.0f %%\n",
		      n_windows, n_runs, v.error, one.error, v.n_right, v.n, 100 * v.off,
		      100 * one.off);
	assert_true(v.n > 0.9 * n_programs && v.n_right > 0.85 * v.n);
	assert_true(v.error < 1.4 * one.error);
	n_programs = N_PROGRAMS;
}

/* No worse than in one that is as long, though none of them has more than two, and some
 * have none. */
static void windows_of_several_runs_are_added_up(void **state)
{
	static const unsigned n_windows_and_runs[][2] = { { 6, 6 }, { 9, 12 } };

	(void)state;
	for (size_t i = 0; i < sizeof(n_windows_and_runs) / sizeof(n_windows_and_runs[0]);
	     i++) {
		unsigned n_windows = n_windows_and_runs[i][0],
			 n_runs = n_windows_and_runs[i][1];

		check_runs(n_runs, n_windows, false, ALL_LOOP);
		check_runs(n_runs, n_windows, true, ALL_LOOP);
		check_runs(n_runs, n_windows, true, SHARES_SAMPLED);
	}
}

/* A second with one window of ten milliseconds: the loop and a call are as often at all
 * times; another call comes a thousand times at once, eight times in a hundred
 * milliseconds, and has a counter only if it does so in the window. */
static void write_choosing_run(unsigned run, bool has_others)
{
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a exe=%s\nimage a %s build-id=aabb\n"
		   "use pid=10 event=cpu-time\na+0x100 1000\n"
		   "anchor 0 0 cpu=%u\n"
		   "anchor 0 1000000 a+0x100 size=8\nanchor 0 1000 a+0x108 size=1\n"
		   "anchor 0 10000 a+0x900 size=1\n"
		   "anchor 0 20000 a+0x900 cpu=%u near=1\n",
		   image_path, image_path, 500 * NS_OF_MS, NEAR_MS * NS_OF_MS);
	if (has_others)
		buf_printf(&text,
			   "anchor 0 1000 a+0x910 size=1\n"
			   "anchor 0 1600 a+0x910 cpu=%u near=1\n",
			   NEAR_MS * NS_OF_MS);
	buf_printf(&text, "anchor 1 0 cpu=%u\n", 490 * NS_OF_MS);
	recording_builder_write(paths[run], buf_str(&text));
}

/* By such windows the call would have come more often than it did: so would all else. */
static void a_window_does_not_vouch_for_what_it_chose_of_several_runs(void **state)
{
	const char *all[N_RUNS];
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	double truth = N_RUNS * 1e8;

	(void)state;
	for (unsigned i = 0; i < N_RUNS; i++) {
		all[i] = paths[i];
		write_choosing_run(i, i % 5);
	}
	assert_int_equal(anchored_loop_find_in(all, N_RUNS, b), N_RUNS);
	print_message("# the loop was %.3f times as often as it is told\n",
		      truth / b[ANCHORED_LOOP_TURN].times);
	assert_true(fabs(log(b[ANCHORED_LOOP_TURN].times / truth)) < 0.02);
}

/* Calls that come in bursts, a tenth of the time, and one that does not, in a program
 * that is the loop for all of its time. */
#define BURST_MS    40.0
#define SILENCE_MS  360.0
#define BURST_RATE  1000.0 /* each millisecond */
#define SILENT_RATE 30.0
#define STEADY_RATE 100.0
#define N_BURSTS    16
#define N_CALLS	    (N_BURSTS + 1)
#define N_CHOSEN    4 /* by each window, of those that came most often in it */

struct bursts {
	bool is_on[N_BURSTS], has_counter[N_CALLS];
	bool has_steady; /* that has a counter, too */
	double truth;	 /* of the loop */
	struct buf text;
};

static void begin_bursts(struct bursts *b)
{
	for (unsigned k = 0; k < N_BURSTS; k++)
		b->is_on[k] = chance() < BURST_MS / (BURST_MS + SILENCE_MS);
}

static void pass(struct bursts *b, unsigned ms, double to[N_CALLS])
{
	for (unsigned i = 0; i < ms; i++)
		for (unsigned k = 0; k < N_BURSTS; k++) {
			to[k] += b->is_on[k] ? BURST_RATE : SILENT_RATE;
			if (chance() < 1 / (b->is_on[k] ? BURST_MS : SILENCE_MS))
				b->is_on[k] = !b->is_on[k];
		}
	to[N_BURSTS] += STEADY_RATE * ms;
}

static void choose_counters(struct bursts *b, const double met[N_CALLS])
{
	b->has_counter[N_BURSTS] |= b->has_steady;
	for (unsigned i = 0; i < N_CHOSEN; i++) {
		unsigned best = N_BURSTS;

		for (unsigned k = 0; k < N_BURSTS; k++)
			if (!b->has_counter[k] &&
			    (best == N_BURSTS || met[k] > met[best]))
				best = k;
		b->has_counter[best] = true;
	}
}

/* Those that had counters before it were read before it, too. */
static void write_near(struct bursts *b, unsigned window, const double before[N_CALLS],
		       const double behind[N_CALLS], const bool were_there[N_CALLS])
{
	for (unsigned k = 0; k < N_CALLS; k++) {
		if (were_there[k])
			buf_printf(&b->text, "anchor %u %.0f a+0x%x cpu=%u near=1\n",
				   window, before[k], offset_of(METERS + k),
				   NEAR_MS * NS_OF_MS);
		if (b->has_counter[k])
			buf_printf(&b->text, "anchor %u %.0f a+0x%x cpu=%u near=1\n",
				   window, behind[k], offset_of(METERS + k),
				   NEAR_MS * NS_OF_MS);
	}
}

static void write_bursts_window(struct bursts *b, unsigned window)
{
	unsigned ms = (unsigned)(WINDOW_MS * around(0.2) + chance());
	double before[N_CALLS] = { 0 }, met[N_CALLS] = { 0 }, behind[N_CALLS] = { 0 };
	bool were_there[N_CALLS];

	memcpy(were_there, b->has_counter, sizeof(were_there));
	begin_bursts(b);
	pass(b, NEAR_MS, before);
	pass(b, ms, met);
	pass(b, NEAR_MS, behind);
	choose_counters(b, met);
	buf_printf(&b->text,
		   "anchor %u 0 cpu=%u\n"
		   "anchor %u %.0f a+0x100 size=8\nanchor %u %u a+0x108 size=1\n",
		   window, 500 * NS_OF_MS, window, usual_rate[LOOP] * ms, window,
		   300 * ms);
	for (unsigned k = 0; k < N_CALLS; k++)
		buf_printf(&b->text, "anchor %u %.0f a+0x%x size=1\n", window, met[k],
			   offset_of(METERS + k));
	write_near(b, window, before, behind, were_there);
	b->truth += usual_rate[LOOP] * (500 + ms);
}

static void write_bursts_run(struct bursts *b, unsigned run, unsigned n_windows)
{
	b->text.size = 0;
	memset(b->has_counter, 0, sizeof(b->has_counter));
	b->has_steady = run % 2;
	buf_printf(&b->text,
		   "event cpu-time unit=ns period=1000000 flags=sampled\n"
		   "process 10 a exe=%s\nimage a %s build-id=aabb\n"
		   "use pid=10 event=cpu-time\na+0x100 %u\n",
		   image_path, image_path, 500 * n_windows);
	for (unsigned i = 0; i < n_windows; i++)
		write_bursts_window(b, i);
	recording_builder_write(paths[run], buf_str(&b->text));
}

/* By how much the loop is told too seldom in the mean: a logarithm. */
static double off_by_bursts(unsigned n_windows)
{
	double sum = 0;

	for (unsigned i = 0; i < N_PROGRAMS / 4; i++) {
		const char *all[N_RUNS];
		struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
		struct bursts x = { .truth = 0 };

		for (unsigned run = 0; run < N_RUNS; run++) {
			all[run] = paths[run];
			write_bursts_run(&x, run, n_windows);
		}
		assert_int_equal(anchored_loop_find_in(all, N_RUNS, b),
				 N_RUNS * n_windows);
		sum += log(x.truth / b[ANCHORED_LOOP_TURN].times);
		buf_fini(&x.text);
	}
	return sum / (N_PROGRAMS / 4);
}

/* They have counters where they came oftener than near the window that chose them: it
 * would be longer than it was, and all else seldom. */
static void bursts_do_not_make_all_else_seldom(void **state)
{
	(void)state;
	for (unsigned n_windows = 1; n_windows <= 4; n_windows++) {
		double off = off_by_bursts(n_windows);

		print_message("# %u windows in each run: told %.3f too seldom\n",
			      n_windows, off);
		assert_true(fabs(off) < 0.05);
	}
}

/* The same path, but another file behind it. */
static void what_was_built_anew_is_another_program(void **state)
{
	const char *all[] = { paths[0], paths[1] };
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct program p;

	(void)state;
	begin(&p, true);
	write_run(&p, 0, 3);
	assert_int_equal(anchored_loop_find_in(all, 1, b), 3);
	p.build_id = "aacc";
	write_run(&p, 1, 3);
	assert_int_equal(anchored_loop_find_in(all, 2, b), 3);
	buf_fini(&p.text);
}

/* As a filter by time does: the windows are of all of the run. */
static void a_run_without_anchors_does_not_make_up_for_samples_left_out(void **state)
{
	const char *all[] = { paths[0], paths[1] };
	struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
	struct program p;

	(void)state;
	for (int is_filtered = 0; is_filtered < 2; is_filtered++) {
		begin(&p, true);
		p.sampled = is_filtered ? 0.5 : 1;
		write_run(&p, 0, 6);
		p.sampled = 20;
		write_run(&p, 1, 0);
		assert_int_equal(anchored_loop_find_in(all, 2, b), is_filtered ? 0 : 6);
		buf_fini(&p.text);
	}
}

static void the_time_that_a_function_takes_tells_what_windows_miss(void **state)
{
	(void)state;
	for (unsigned n_windows = 6; n_windows <= 24; n_windows *= 2) {
		struct verdict v = judge(1, n_windows, true, SHARES_SAMPLED), without;

		seed = 1;
		without = judge(1, n_windows, true, SHARES);
		print_message("# %u windows: off by %.3f, without samples %.3f; %u of "
			      "%u in ranges of %.0f %%, %.0f %%\n",
			      n_windows, v.error, without.error, v.n_right, v.n,
			      100 * v.off, 100 * without.off);
		assert_true(v.n > 0.9 * N_PROGRAMS && v.n_right > 0.9 * v.n);
		assert_true(v.error < without.error && v.off < without.off);
		seed = 1;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(ranges_have_the_truth_where_all_is_counted),
		TEST(ranges_have_the_truth_of_one_window_and_of_two),
		TEST(ranges_have_the_truth_where_a_place_is_watched_in_turns),
		TEST(windows_of_several_runs_are_added_up),
		TEST(a_window_does_not_vouch_for_what_it_chose_of_several_runs),
		TEST(bursts_do_not_make_all_else_seldom),
		TEST(what_was_built_anew_is_another_program),
		TEST(a_run_without_anchors_does_not_make_up_for_samples_left_out),
		TEST(the_time_that_a_function_takes_tells_what_windows_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
