/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/code_heat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/profile.h"
#include "base/buf.h"
#include "recording_builder.h"
#include "scratch_file.h"

#define BEGIN  0x1000
#define LINE   64
#define PAGE   4096
#define PERIOD 1e6 /* of cpu-time */
#define UNSEEN (3 * PERIOD)

/* As code_heat has it: of 256 lines, of 32 pages. */
#define LINES_CYCLES 1024.0
#define PAGES_CYCLES 320.0

/* Samples in so many places, so far from each other. */
struct place {
	unsigned n, distance, samples;
};

static int take_frame(void *ctx, const struct profile_stack *s, struct err *e)
{
	(void)e;
	if (s->n && s->frames[s->n - 1].address == BEGIN)
		*(struct profile_frame *)ctx = s->frames[s->n - 1];
	return 0;
}

/* Of the code from the first place on. */
static void find(struct code_heat_lines *ret, const struct place *at, size_t n,
		 const char *filter)
{
	own(buf_fini) struct buf text = { 0 };
	own(profile_freep) struct profile *p = NULL;
	own(code_heat_fini) struct code_heat heat = { 0 };
	struct profile_options o = { .filter = filter };
	const char *paths[] = { scratch_file_path };
	struct profile_frame first = { 0 };
	unsigned address = BEGIN;
	struct err e = { 0 };

	buf_puts(&text, "image prog /no/prog size=0x1000000\n");
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < at[i].n; k++, address += at[i].distance)
			buf_printf(&text, "prog+0x%x %u\n", address, at[i].samples);
	recording_builder_write(scratch_file_path, buf_str(&text));
	if (profile_load(paths, 1, &o, &p, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(profile_each_stack(p, take_frame, &first, NULL), 0);
	code_heat_init(&heat, p);
	code_heat_lines_init(ret, &heat, first.build, BEGIN, 0x100000, 1);
}

static void check(double have, double want)
{
	if (fabs(have - want) > 1e-6 * fabs(want))
		fail_msg("%g, not %g", have, want);
}

/* By interrupts, and by what was not seen. */
static void code_that_is_all_there_is_stays(void **state)
{
	static const struct place at[] = { { 2, LINE, 1000 } };
	own(code_heat_lines_fini) struct code_heat_lines l = { 0 };

	(void)state;
	find(&l, at, 1, NULL);
	check(code_heat_lines_refills(&l, BEGIN), 2 * 2000 + UNSEEN / LINES_CYCLES);
	check(code_heat_lines_refills(&l, BEGIN + LINE + 5),
	      2 * 2000 + UNSEEN / LINES_CYCLES);
	check(code_heat_lines_page_refills(&l, BEGIN), 2 * 2000 + UNSEEN / PAGES_CYCLES);
	check(code_heat_lines_refills(&l, BEGIN + 2 * LINE), -1);
	check(code_heat_lines_refills(&l, BEGIN - LINE), -1);
}

/* The first 256 are hot, 44 are not. */
static void what_does_not_fit_drives_out_the_rest(void **state)
{
	static const struct place at[] = { { 256, LINE, 20 }, { 44, LINE, 10 } };
	own(code_heat_lines_fini) struct code_heat_lines l = { 0 };
	double samples = 256 * 20 + 44 * 10;

	(void)state;
	find(&l, at, 2, NULL);
	check(code_heat_lines_refills(&l, BEGIN + 255 * LINE),
	      2 * samples + (44 * 10 * PERIOD + UNSEEN) / LINES_CYCLES);
	check(code_heat_lines_refills(&l, BEGIN + 256 * LINE), -1);
}

/* So much is in lines that no sample met. */
static void lines_with_one_sample_tell_of_those_without(void **state)
{
	static const struct place at[] = { { 1, LINE, 100 }, { 50, LINE, 1 } };
	own(code_heat_lines_fini) struct code_heat_lines l = { 0 };

	(void)state;
	find(&l, at, 2, NULL);
	check(code_heat_lines_refills(&l, BEGIN),
	      2 * 150 + (50 * PERIOD + UNSEEN) / LINES_CYCLES);
}

static void of_many_pages_nothing_is_told(void **state)
{
	static const struct place at[] = { { 33, PAGE, 100 } };
	own(code_heat_lines_fini) struct code_heat_lines l = { 0 };

	(void)state;
	find(&l, at, 1, NULL);
	check(code_heat_lines_page_refills(&l, BEGIN), -1);
	assert_true(code_heat_lines_refills(&l, BEGIN) > 0);
}

static void a_part_of_the_samples_tells_nothing(void **state)
{
	static const struct place at[] = { { 2, LINE, 1000 } };
	own(code_heat_lines_fini) struct code_heat_lines l = { 0 };

	(void)state;
	find(&l, at, 1, "process == test");
	check(code_heat_lines_refills(&l, BEGIN), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_that_is_all_there_is_stays),
		cmocka_unit_test(what_does_not_fit_drives_out_the_rest),
		cmocka_unit_test(lines_with_one_sample_tell_of_those_without),
		cmocka_unit_test(of_many_pages_nothing_is_told),
		cmocka_unit_test(a_part_of_the_samples_tells_nothing),
	};

	return cmocka_run_group_tests(tests, scratch_file_make, scratch_file_remove);
}
