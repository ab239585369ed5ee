/* SPDX-License-Identifier: Apache-2.0
 *
 * What is merged along its order is compared, byte by byte, with one tally of it all.
 */
#include "store/tally_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "recording_builder.h"
#include "store/recording.h"

#define N_INPUTS 7
#define N_IMAGES 9

struct fixture {
	char directory[32];
	uint64_t random;
};

static char *file(const struct fixture *f, const char *name)
{
	return xasprintf("%s/%s", f->directory, name);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/tally_merge.XXXXXX");
	*state = f;
	return mkdtemp(f->directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	own(freep) char *command = xasprintf("rm -r %s", f->directory);
	int rc = system(command);

	free(f);
	return rc;
}

static uint32_t draw(struct fixture *f, uint32_t n)
{
	f->random = hash_u64(f->random + 1);
	return (uint32_t)(f->random % n);
}

/* Things that several inputs have in common, others not. */

static uint32_t some_image(struct fixture *f, struct tally *t)
{
	char path[32];
	uint32_t n = draw(f, N_IMAGES);

	snprintf(path, sizeof(path), "/lib/%u", n * 7 % 10);
	return tally_image(t, &(struct model_image){ .path = tally_string(t, path),
						     .build_id_size = n % 3 ? 4 : 0,
						     .build_id = { (uint8_t)n },
						     .size_bytes = 100 + n });
}

static uint32_t some_stack(struct fixture *f, struct tally *t)
{
	uint32_t stack = 0;

	/* Few places, so that stacks share callers and are found again elsewhere. */
	for (uint32_t depth = draw(f, 12); depth > 0; depth--)
		stack = tally_stack(
			t, stack,
			tally_location(t, some_image(f, t), draw(f, 4) * 16, draw(f, 2)));
	return stack;
}

static uint32_t some_process(struct fixture *f, struct tally *t)
{
	char name[32];
	uint32_t n = draw(f, 5);

	snprintf(name, sizeof(name), "p%u", n);
	return tally_process(t, &(struct model_process){ .comm = tally_string(t, name),
							 .parent = MODEL_NONE,
							 .exec_of = MODEL_NONE,
							 .exit_status = -1,
							 .pid = n });
}

static uint32_t some_thread(struct fixture *f, struct tally *t)
{
	char name[32];

	snprintf(name, sizeof(name), "t%u", draw(f, 5));
	return tally_thread(t, &(struct model_thread){ .process = some_process(f, t),
						       .name = tally_string(t, name),
						       .tid = draw(f, 3) });
}

static uint32_t some_place(struct fixture *f, struct tally *t)
{
	return tally_location(t, some_image(f, t), draw(f, 9) * 3, 0);
}

/* More lines than are kept, few strides. */
static uint64_t some_value(struct fixture *f, uint32_t what)
{
	if (what == ACCESS_STRIDE)
		return draw(f, 5) * 3;
	return what == ACCESS_MET || what == ACCESS_LINE ? draw(f, 100) : 0;
}

static void fill_code(struct fixture *f, struct tally *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t what = draw(f, ACCESS_N_WHATS);

		tally_direction(t,
				&(struct model_direction){
					.process = some_process(f, t),
					.location = some_place(f, t),
					.to = draw(f, 3) ? some_place(f, t) : MODEL_NONE,
					.times = 1 + draw(f, 9),
					.samples = draw(f, 2),
					.missed = draw(f, 2),
				});
		tally_access(t, &(struct model_access){ .process = some_process(f, t),
							.location = some_place(f, t),
							.what = what,
							.value = some_value(f, what),
							.times = 1 + draw(f, 9) });
	}
}

static uint32_t some_event(struct fixture *f, struct tally *t)
{
	uint32_t n = draw(f, 2);

	return tally_event(t, &(struct model_event){
				      .name = tally_string(t, n ? "faults" : "cpu-time"),
				      .unit = tally_string(t, n ? "count" : "ns"),
				      .period = n ? 1 + draw(f, 2) : 1000 });
}

static void fill(struct fixture *f, struct tally *t, uint32_t n_samples)
{
	for (uint32_t i = 0; i < n_samples; i++)
		tally_sample(t,
			     &(struct model_sample){ .event = some_event(f, t),
						     .thread = some_thread(f, t),
						     .cpu = draw(f, 2) ? MODEL_NONE : 1,
						     .stack = some_stack(f, t),
						     .weight = draw(f, 5000),
						     .count = 1 + draw(f, 3) });
	tally_fact(t, &(struct model_fact){ .kind = FACT_LOSS,
					    .name = tally_string(t, "lost-samples"),
					    .event = MODEL_NONE,
					    .process = MODEL_NONE,
					    .value = draw(f, 10) });
	tally_info(t, "host", draw(f, 2) ? "ant" : "bee");
}

static void read_file(const char *path, struct buf *ret)
{
	own(fclosep) FILE *f = fopen(path, "r");

	assert_non_null(f);
	for (size_t n = 1; n; ret->size += n)
		n = fread(buf_reserve(ret, 65536), 1, 65536, f);
}

/* The merge of those files is the one of a tally that reads them all. */
static void check_merge(struct fixture *f, size_t n)
{
	own(tally_merge_freep) struct tally_merge *m = tally_merge_new();
	own(tally_freep) struct tally *all = tally_new();
	own(freep) char *merged = file(f, "merged"), *expected = file(f, "expected");
	own(buf_fini) struct buf a = { 0 };
	own(buf_fini) struct buf b = { 0 };
	const struct tally_write_options o = { .level = 3 };
	struct err e = { 0 };

	for (size_t i = 0; i < n; i++) {
		own(recording_freep) struct recording *r = NULL;
		char name[16];

		snprintf(name, sizeof(name), "%zu", i);

		own(freep) char *path = file(f, name);

		if (tally_merge_add(m, path, &e) < 0 ||
		    recording_open(path, &r, &e) < 0 ||
		    tally_add_recording(all, r, NULL, &e) < 0)
			fail_msg("%s", e.text);
	}
	if (tally_merge_write(m, merged, &o, &e) < 0 ||
	    tally_write(all, expected, &o, &e) < 0)
		fail_msg("%s", e.text);
	assert_null(tally_merge_culprit(m));
	read_file(merged, &a);
	read_file(expected, &b);
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.data, b.data, b.size);
}

static void write_input(struct fixture *f, struct tally *t, size_t i)
{
	char name[16];
	struct err e = { 0 };

	snprintf(name, sizeof(name), "%zu", i);

	own(freep) char *path = file(f, name);

	if (tally_write(t, path, NULL, &e) < 0)
		fail_msg("%s", e.text);
}

static void merged_it_is_one_tally_of_all(void **state)
{
	struct fixture *f = *state;

	for (uint32_t round = 0; round < 20; round++) {
		size_t n = 1 + round % N_INPUTS;

		f->random = round * 1000;
		for (size_t i = 0; i < n; i++) {
			own(tally_freep) struct tally *t = tally_new();

			fill(f, t, draw(f, 400));
			fill_code(f, t, draw(f, 2000));
			write_input(f, t, i);
		}
		check_merge(f, n);
	}
}

/* More stacks than a block takes, and more rows of one image. */
static void blocks_end_where_they_would(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 2; i++) {
		own(tally_freep) struct tally *t = tally_new();
		uint32_t event = some_event(f, t), thread = some_thread(f, t);

		for (uint32_t k = 0; k < 90000; k++) {
			uint32_t image = some_image(f, t);
			uint32_t caller = tally_stack(
				t, 0, tally_location(t, image, k / 50 * 8, 1));
			struct model_sample s = {
				.event = event,
				.thread = thread,
				.cpu = MODEL_NONE,
				.stack = tally_stack(
					t, caller,
					tally_location(t, image, k * 4 + i, 0)),
				.weight = 1000,
				.count = 1,
			};

			tally_sample(t, &s);
		}
		write_input(f, t, i);
	}
	check_merge(f, 2);
}

static void files_inside_are_kept_once(void **state)
{
	struct fixture *f = *state;
	static const char *const contents[] = { "same", "same", "other" };

	for (size_t i = 0; i < 3; i++) {
		own(tally_freep) struct tally *t = tally_new();
		const struct model_blob blob = { .kind = BLOB_KALLSYMS,
						 .name = tally_string(t, "kallsyms"),
						 .image = some_image(f, t),
						 .size_bytes = strlen(contents[i]) };

		tally_blob(t, &blob, contents[i]);
		fill(f, t, 10);
		write_input(f, t, i);
	}
	check_merge(f, 3);
}

/* A count that would not fit is in a second row. */
static void counts_do_not_wrap(void **state)
{
	struct fixture *f = *state;
	own(tally_merge_freep) struct tally_merge *m = tally_merge_new();
	own(freep) char *merged = file(f, "merged");
	own(recording_freep) struct recording *r = NULL;
	own(sample_block_fini) struct sample_block b = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i < 3; i++) {
		own(tally_freep) struct tally *t = tally_new();
		char name[] = { (char)('0' + i), '\0' };
		own(freep) char *path = file(f, name);

		f->random = 5;
		tally_sample(t, &(struct model_sample){ .event = some_event(f, t),
							.thread = some_thread(f, t),
							.count = UINT32_MAX - 1 });
		write_input(f, t, i);
		assert_int_equal(tally_merge_add(m, path, NULL), 0);
	}
	assert_int_equal(tally_merge_write(m, merged, NULL, NULL), 0);
	assert_int_equal(recording_open(merged, &r, NULL), 0);
	assert_int_equal(recording_n_sample_blocks(r), 1);
	assert_int_equal(recording_read_samples(r, 0, SAMPLE_ALL, &b, NULL), 0);
	for (size_t i = 0; i < b.n; i++)
		sum += b.count[i];
	assert_int_equal(sum, UINT64_C(3) * (UINT32_MAX - 1));
}

/* What a recorder has written as it came is no input. */
static void what_is_not_in_order_is_refused(void **state)
{
	static const char *const texts[] = {
		/* Its stacks are not. */
		"process 1 a\nimage i /i build-id=01\ni+0x10;i+0x90! 1\ni+0x10;i+0x20! "
		"1\n",
		/* There is no row before another. */
		"process 1 a\nimage i /i build-id=01\ni+0x20! 1\ni+0x10! 1\n",
	};
	struct fixture *f = *state;
	own(freep) char *path = file(f, "0"), *merged = file(f, "merged");

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		own(tally_merge_freep) struct tally_merge *m = tally_merge_new();
		struct err e = { 0 };

		recording_builder_write(path, texts[i]);
		assert_int_equal(tally_merge_add(m, path, &e), 0);
		assert_int_equal(tally_merge_write(m, merged, NULL, &e), ERR_FORMAT);
		assert_string_equal(tally_merge_culprit(m), path);
		assert_non_null(strstr(e.text, path));
	}
}

/* Cut or changed anywhere: refused, or as it was. */
static void what_is_damaged_is_refused(void **state)
{
	struct fixture *f = *state;
	own(freep) char *whole = file(f, "0"), *path = file(f, "1");
	own(freep) char *merged = file(f, "merged");
	own(tally_freep) struct tally *t = tally_new();
	own(buf_fini) struct buf bytes = { 0 };

	fill(f, t, 60);
	fill_code(f, t, 20);
	write_input(f, t, 0);
	read_file(whole, &bytes);
	for (size_t at = 0; at < bytes.size; at += 1 + bytes.size / 400) {
		own(tally_merge_freep) struct tally_merge *m = tally_merge_new();
		own(fclosep) FILE *out = fopen(path, "w");
		bool is_cut = at % 2;
		struct err e = { 0 };
		int rc;

		bytes.data[at] ^= 0x40;
		assert_int_equal(fwrite(bytes.data, 1, is_cut ? at : bytes.size, out),
				 is_cut ? at : bytes.size);
		fflush(out);
		bytes.data[at] ^= 0x40;
		rc = tally_merge_add(m, path, &e);
		if (rc == 0)
			rc = tally_merge_write(m, merged, NULL, &e);
		assert_true(rc < 0);
		assert_string_equal(tally_merge_culprit(m), path);
		assert_true(e.text[0] && !strchr(e.text, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(merged_it_is_one_tally_of_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(blocks_end_where_they_would, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(files_inside_are_kept_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(counts_do_not_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_in_order_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_damaged_is_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
