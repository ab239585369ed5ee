/* SPDX-License-Identifier: Apache-2.0
 * Paths that are made here, and what a recording has of them. */
#include "collect/accesses.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/distinct.h"
#include "scratch_file.h"
#include "store/recording.h"
#include "store/writer.h"

#define LOAD 0x1000 /* instructions */
#define NEXT 0x1004

struct setting {
	struct accesses *accesses;
	struct writer *w;
};

static void begin(struct setting *s)
{
	struct err e = { 0 };

	s->accesses = accesses_new();
	if (writer_create(scratch_file_path, NULL, &s->w, &e) < 0)
		fail_msg("%s", e.text);
	writer_process(s->w, &(struct model_process){ .pid = 7,
						      .parent = MODEL_NONE,
						      .exec_of = MODEL_NONE });
	writer_image(s->w, &(struct model_image){ .path = writer_string(s->w, "a") });
}

static uint32_t location_of(void *ctx, uint64_t ip)
{
	const struct setting *s = ctx;

	return writer_location(s->w, 0, ip, 0);
}

static void take(struct setting *s, enum forward_end end, const struct forward_access *at,
		 unsigned n)
{
	struct forward_path path = { .end = end, .n_accesses = n };

	for (unsigned i = 0; i < n; i++)
		path.accesses[i] = at[i];
	accesses_take(s->accesses, 0, &path, 1, location_of, s);
}

struct seen {
	uint64_t value[ACCESS_N_WHATS], times[ACCESS_N_WHATS];
	unsigned n[ACCESS_N_WHATS];
	uint64_t offset;
	const struct recording *r;
};

static int see(void *ctx, const struct model_access *a, struct err *e)
{
	struct seen *s = ctx;

	(void)e;
	if (recording_locations(s->r)[a->location].offset != s->offset)
		return 0;
	assert_in_range(a->what, 0, ACCESS_N_WHATS - 1);
	s->value[a->what] = a->value;
	s->times[a->what] += a->times;
	s->n[a->what]++;
	return 0;
}

static void finish(struct setting *s)
{
	struct err e = { 0 };

	accesses_write(s->accesses, s->w);
	accesses_free(s->accesses);
	if (writer_close(s->w, &e) < 0)
		fail_msg("%s", e.text);
}

/* What is told of an instruction. */
static void look(uint64_t ip, struct seen *ret)
{
	own(recording_freep) struct recording *r = NULL;

	assert_int_equal(recording_open(scratch_file_path, &r, NULL), 0);
	*ret = (struct seen){ .offset = ip, .r = r };
	assert_int_equal(recording_each_access(r, see, ret, NULL), 0);
}

static void one_that_goes_over_memory_has_a_stride(void **state)
{
	struct setting s;
	struct seen seen;

	(void)state;
	begin(&s);
	for (uint64_t i = 0; i < 100; i++) {
		struct forward_access at[10];

		for (unsigned k = 0; k < 10; k++)
			at[k] = (struct forward_access){ LOAD,
							 0x100000 + i * 4096 + k * 32 };
		take(&s, FORWARD_LIMIT, at, 10);
	}
	finish(&s);
	look(LOAD, &seen);
	assert_int_equal(seen.times[ACCESS_MET], 1000);
	assert_int_equal(seen.value[ACCESS_MET], 100);
	assert_int_equal(seen.times[ACCESS_AGAIN], 900);
	assert_int_equal(seen.n[ACCESS_STRIDE], 1);
	assert_int_equal(seen.value[ACCESS_STRIDE], 64); /* 32 as zigzag */
	assert_int_equal(seen.times[ACCESS_STRIDE], 900);
	assert_int_equal(seen.times[ACCESS_OTHER_LINE], 400);
	assert_int_equal(seen.times[ACCESS_OTHER_PAGE], 0);
	assert_int_equal(seen.times[ACCESS_LAST], 0);
	assert_int_equal(seen.value[ACCESS_LOWEST], 0x100000);
	assert_int_equal(seen.value[ACCESS_HIGHEST], 0x100000 + 99 * 4096 + 288);
	/* of 500 lines and 100 pages some are kept, each met once */
	assert_int_equal(seen.n[ACCESS_LINE], DISTINCT_MAX);
	assert_int_equal(seen.times[ACCESS_LINE], DISTINCT_MAX);
	assert_int_equal(seen.n[ACCESS_PAGE], DISTINCT_MAX);
}

static void a_place_counts_once_of_a_sample(void **state)
{
	static const struct forward_access at[] = {
		{ LOAD, 0x5000 }, { NEXT, 0x9000 }, { LOAD, 0x7008 }, { LOAD, 0x5010 }
	};
	struct setting s;
	struct seen seen;

	(void)state;
	begin(&s);
	for (unsigned i = 0; i < 10; i++)
		take(&s, FORWARD_LIMIT, at, 4);
	finish(&s);
	look(LOAD, &seen);
	assert_int_equal(seen.times[ACCESS_MET], 30);
	assert_int_equal(seen.n[ACCESS_LINE], 2);
	assert_int_equal(seen.times[ACCESS_LINE], 20);
	assert_int_equal(seen.n[ACCESS_STRIDE], 2);
	assert_int_equal(seen.times[ACCESS_OTHER_LINE], 20);
	look(NEXT, &seen);
	assert_int_equal(seen.times[ACCESS_MET], 10);
	assert_int_equal(seen.times[ACCESS_AGAIN], 0);
}

static void what_is_not_known_is_counted(void **state)
{
	static const struct forward_access at[] = {
		{ LOAD, 0x5000 }, { LOAD, 0 }, { LOAD, 0x5000 }, { NEXT, 0 }
	};
	struct setting s;
	struct seen seen;

	(void)state;
	begin(&s);
	take(&s, FORWARD_AT_BRANCH, at, 4);
	finish(&s);
	look(LOAD, &seen);
	assert_int_equal(seen.times[ACCESS_MET], 2);
	assert_int_equal(seen.times[ACCESS_UNKNOWN], 1);
	assert_int_equal(seen.times[ACCESS_AGAIN], 2);
	assert_int_equal(seen.times[ACCESS_OTHER_LINE], 2);
	assert_int_equal(seen.times[ACCESS_LAST], 1);
	assert_int_equal(seen.n[ACCESS_STRIDE], 0);
	look(NEXT, &seen);
	assert_int_equal(seen.n[ACCESS_MET], 0);
	assert_int_equal(seen.times[ACCESS_UNKNOWN], 1);
	assert_int_equal(seen.n[ACCESS_LOWEST], 0);
}

static void the_most_frequent_strides_stay(void **state)
{
	struct setting s;
	struct seen seen;

	(void)state;
	begin(&s);
	for (uint64_t i = 0; i < 300; i++) {
		/* 64 backwards, then anywhere */
		uint64_t from = (i * 2654435761u) % 0x100000000 + 0x10000;
		struct forward_access at[] = { { LOAD, from },
					       { LOAD, from - 64 },
					       { LOAD, from - 64 + 7 * i } };

		take(&s, FORWARD_LIMIT, at, 3);
	}
	finish(&s);
	look(LOAD, &seen);
	assert_int_equal(seen.n[ACCESS_STRIDE], 4);
	assert_int_equal(seen.times[ACCESS_STRIDE], 600);
	assert_int_equal(seen.times[ACCESS_AGAIN], 600);
}

static void many_instructions_are_to_be_written(void **state)
{
	struct setting s;
	struct seen seen;
	uint64_t n = 0;

	(void)state;
	begin(&s);
	for (; !accesses_are_full(s.accesses) && n < 100000; n++)
		take(&s, FORWARD_LIMIT,
		     &(struct forward_access){ LOAD + n, 0x5000 + 64 * n }, 1);
	assert_in_range(n, 10000, 20000);
	accesses_write(s.accesses, s.w);
	assert_false(accesses_are_full(s.accesses));
	take(&s, FORWARD_LIMIT, &(struct forward_access){ LOAD, 0x5000 }, 1);
	finish(&s);
	look(LOAD, &seen);
	assert_int_equal(seen.n[ACCESS_MET], 2);
	assert_int_equal(seen.times[ACCESS_MET], 2);
	look(LOAD + n - 1, &seen);
	assert_int_equal(seen.times[ACCESS_MET], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
		TEST(one_that_goes_over_memory_has_a_stride),
		TEST(a_place_counts_once_of_a_sample),
		TEST(what_is_not_known_is_counted),
		TEST(the_most_frequent_strides_stay),
		TEST(many_instructions_are_to_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
