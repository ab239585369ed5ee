/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that do one thing and another, each for as long as chance has it, with a few
 * windows: does the range that is told have the truth as often as is said?
 */
#include "analyze/anchoring.h"

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

static char path[64];
static uint64_t seed;

static int set_up(void **state)
{
	(void)state;
	seed = 1;
	snprintf(path, sizeof(path), "/tmp/dwell-chance-%d.dwell", getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
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
	struct buf text;
};

static void begin(struct program *p, bool has_meters)
{
	double apart = 0.6 * chance();

	*p = (struct program){ .has_meters = has_meters,
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

static void write_program(struct program *p, unsigned n_windows)
{
	buf_printf(&p->text, "event cpu-time unit=ns period=1000000 flags=sampled\n"
			     "process 10 a\nimage a jit kind=jit pid=10\n"
			     "function a loop 0x100 9\nfunction a rest 0x900 400\n"
			     "use pid=10 event=cpu-time\n");
	if (!p->has_samples)
		buf_printf(&p->text, "a+0x100 %u\n",
			   (n_windows * N_SLICES + N_SLICES / 2) * SLICE_MS);
	for (unsigned i = 0; i < n_windows; i++) {
		write_between(p, i, N_SLICES);
		write_window(p, i);
	}
	write_between(p, n_windows, N_SLICES / 2);
	recording_builder_write(path, buf_str(&p->text));
}

struct verdict {
	unsigned n, n_right;
	double off, error; /* of all: the mean */
};

enum sampling { ALL_LOOP, SHARES, SHARES_SAMPLED };

static struct verdict judge(unsigned n_windows, bool has_meters, enum sampling sampling)
{
	struct verdict v = { 0 };

	for (unsigned i = 0; i < N_PROGRAMS; i++) {
		struct anchoring_block b[ANCHORED_LOOP_BLOCKS];
		struct program p;

		begin(&p, has_meters);
		if (sampling != ALL_LOOP)
			begin_shares(&p, sampling == SHARES_SAMPLED);
		write_program(&p, n_windows);
		if (anchored_loop_find(path, b) == n_windows) {
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

static void check_ranges(bool has_meters)
{
	static const unsigned n_windows[] = { 3, 4, 6, 12, 24 };
	double before = INFINITY;

	for (size_t i = 0; i < sizeof(n_windows) / sizeof(n_windows[0]); i++) {
		struct verdict v = judge(n_windows[i], has_meters, ALL_LOOP);

		print_message("# %u windows: %u of %u in ranges of %.0f %%\n",
			      n_windows[i], v.n_right, v.n, 100 * v.off);
		assert_true(v.n > 0.9 * N_PROGRAMS && v.n_right > 0.9 * v.n);
		assert_true(v.off < before);
		before = v.off;
	}
}

static void ranges_have_the_truth_where_all_is_counted(void **state)
{
	(void)state;
	check_ranges(true);
}

static void ranges_have_the_truth_where_a_place_is_watched_in_turns(void **state)
{
	(void)state;
	check_ranges(false);
}

static void the_time_that_a_function_takes_tells_what_windows_miss(void **state)
{
	(void)state;
	for (unsigned n_windows = 6; n_windows <= 24; n_windows *= 2) {
		struct verdict v = judge(n_windows, true, SHARES_SAMPLED), without;

		seed = 1;
		without = judge(n_windows, true, SHARES);
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
		TEST(ranges_have_the_truth_where_a_place_is_watched_in_turns),
		TEST(the_time_that_a_function_takes_tells_what_windows_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
