/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path_choice.h"
#include "recording_builder.h"
#include "scratch_file.h"
#include "store/access_place.h"
#include "store/recording.h"

static const char *const path = scratch_file_path;
static const char *const folder = "/tmp";
static const struct tally_fold fold_all = { .processes = true,
					    .threads = true,
					    .cpus = true };

static void add_text(struct tally *t, const char *text, const struct tally_fold *fold)
{
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };

	recording_builder_write(path, text);
	if (recording_open(path, &r, &e) < 0 || tally_add_recording(t, r, fold, &e) < 0)
		fail_msg("%s", e.text);
}

static struct recording *written(const struct tally *t)
{
	struct recording *r = NULL;
	struct err e = { 0 };
	const struct tally_write_options o = { .level = 3 };

	if (tally_write(t, path, &o, &e) < 0 || recording_open(path, &r, &e) < 0)
		fail_msg("%s", e.text);
	assert_null(recording_damage(r));
	assert_true(recording_is_complete(r));
	return r;
}

static void read_file(struct buf *ret)
{
	own(fclosep) FILE *f = fopen(path, "r");

	assert_non_null(f);
	for (size_t n = 1; n; ret->size += n)
		n = fread(buf_reserve(ret, 65536), 1, 65536, f);
}

static uint64_t total(const struct recording *r, const char *thread_name,
		      uint64_t *ret_weight)
{
	own(sample_block_fini) struct sample_block b = { 0 };
	uint64_t n = 0;

	*ret_weight = 0;
	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++) {
			const struct model_thread *t = recording_thread(r, b.thread[k]);

			if (thread_name &&
			    strcmp(recording_string(r, t->name), thread_name) != 0)
				continue;
			n += b.count[k];
			*ret_weight += b.weight[k];
		}
	}
	return n;
}

static const char one[] = "process 10 cc1 exe=/usr/bin/cc1 cgroup=/build\n"
			  "image a /usr/bin/cc1 build-id=abcd size=5\n"
			  "thread 10 11 worker\n"
			  "a+0x10;a+0x20! 4 tid=11 cpu=1\n"
			  "a+0x10;a+0x30! 2 tid=11\n"
			  "fact loss lost-samples 3\n"
			  "fact target max-rss 100 unit=bytes\n";
static const char two[] = "process 20 as exe=/usr/bin/as\n"
			  "image x /usr/bin/as\n"
			  "process 22 cc1 exe=/usr/bin/cc1 cgroup=/build\n"
			  "image a /usr/bin/cc1 build-id=abcd size=5\n"
			  "x+0x1! 1 pid=20\n"
			  "thread 22 23 worker\n"
			  "a+0x10;a+0x20! 5 tid=23\n"
			  "- 7 tid=23\n"
			  "fact loss lost-samples 4\n"
			  "fact target max-rss 50 unit=bytes\n";

static void equal_things_of_several_recordings_are_one(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	uint64_t value = 0, weight;

	(void)state;
	add_text(t, one, &fold_all);
	add_text(t, two, &fold_all);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_processes(r), 2);
	assert_int_equal(recording_n_images(r), 2);
	assert_int_equal(recording_n_locations(r), 4);
	assert_int_equal(recording_n_stacks(r), 5);
	assert_int_equal(total(r, "worker", &weight), 4 + 2 + 5 + 7);
	assert_int_equal(weight, 18 * 1000000);
	assert_int_equal(total(r, NULL, &weight), tally_n_samples(t));
	assert_string_equal(recording_string(r, recording_process(r, 1)->cgroup),
			    "/build");
	assert_int_equal(recording_process(r, 1)->pid, 0);
	assert_true(recording_find_fact(r, FACT_LOSS, "lost-samples", MODEL_NONE,
					MODEL_NONE, &value));
	assert_int_equal(value, 7);
	assert_true(recording_find_fact(r, FACT_TARGET, "max-rss", MODEL_NONE, MODEL_NONE,
					&value));
	assert_int_equal(value, 100);
}

/* Of two processes of one name, and of another. */
static const char branches[] =
	"process 1 cc1\nprocess 2 cc1\nprocess 3 as\n"
	"image a /usr/bin/cc1 build-id=abcd\nimage b /usr/bin/as build-id=ef\n"
	"direction a+0x10 5 a+0x40 samples=2 missed=1 foreseen=3 pid=1\n"
	"direction a+0x10 7 a+0x40 samples=1 foreseen=4 pid=2\n"
	"direction a+0x10 9 a+0x12 pid=1\ndirection a+0x10 1 pid=2\n"
	"direction b+0x10 3 a+0x40 pid=3\n"
	"access a+0x20 0 6 8 pid=1\naccess a+0x20 0 3 4 pid=2\n"
	"access a+0x20 2 77 5 pid=1\naccess a+0x20 2 77 1 pid=2\n"
	"access a+0x20 4 128 3 pid=2\naccess a+0x20 9 4096 1 pid=1\n"
	"access a+0x20 9 1024 1 pid=2\naccess a+0x20 10 8192 1 pid=1\n"
	"access b+0x20 1 0 2 pid=3\n"
	"a+0x10;a+0x20! 4 pid=1\nb+0x20! 1 pid=3\n";
static const char more_branches[] =
	"process 9 as\nprocess 8 cc1\n"
	"image b /usr/bin/as build-id=ef\nimage a /usr/bin/cc1 build-id=abcd\n"
	"direction a+0x10 4 pid=8\ndirection a+0x10 5 a+0x40 samples=2 pid=8\n"
	"direction b+0x30 5 b+0x20 pid=9\n"
	"access a+0x20 2 5 2 pid=8\naccess a+0x20 2 77 1 pid=8\n"
	"access a+0x20 4 17 9 pid=8\n";

static void check_order(const char *x, const char *y)
{
	own(buf_fini) struct buf first = { 0 };
	own(buf_fini) struct buf second = { 0 };
	own(tally_freep) struct tally *t = tally_new();
	own(tally_freep) struct tally *u = tally_new();

	add_text(t, x, NULL);
	add_text(t, y, NULL);
	recording_free(written(t));
	read_file(&first);
	add_text(u, y, NULL);
	add_text(u, x, NULL);
	recording_free(written(u));
	read_file(&second);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);

	/* What was written and is added once more is written the same. */
	own(tally_freep) struct tally *again = tally_new();
	own(recording_freep) struct recording *r = written(u);

	assert_int_equal(tally_add_recording(again, r, NULL, NULL), 0);
	buf_clear(&second);
	recording_free(written(again));
	read_file(&second);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
}

static void the_order_in_which_it_came_leaves_no_trace(void **state)
{
	(void)state;
	check_order(one, two);
	check_order(branches, more_branches);
}

static void processes_stay_apart_when_nobody_folds_them(void **state)
{
	own(tally_freep) struct tally *t = tally_new();

	(void)state;
	add_text(t, one, NULL);
	add_text(t, two, NULL);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_processes(r), 3);
	assert_int_equal(recording_n_threads(r), 3);
}

static void those_of_chosen_executables_stay_apart_when_others_are_one(void **state)
{
	static const struct {
		const char *list;
		uint32_t want;
	} t[] = { { "cc1", 3 }, { "/usr/bin/*", 3 }, { "as", 2 }, { "/bin/cc1", 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(tally_freep) struct tally *tally = tally_new();
		own(path_choice_freep) struct path_choice *c = path_choice_new();
		const struct tally_fold fold = {
			.processes = true, .threads = true, .cpus = true, .chosen = c
		};

		assert_int_equal(path_choice_add(c, t[i].list, NULL), 0);
		add_text(tally, one, &fold);
		add_text(tally, two, &fold);

		own(recording_freep) struct recording *r = written(tally);

		assert_int_equal(recording_n_processes(r), t[i].want);
	}
}

static void origins_are_kept_apart_when_asked(void **state)
{
	const struct tally_fold fold = { .processes = true,
					 .threads = true,
					 .origin = true };
	own(tally_freep) struct tally *t = tally_new();

	(void)state;
	add_text(t, "info host ant\ninfo epoch 3\nmain 1\n", &fold);
	add_text(t, "info host bee\ninfo epoch 4\nmain 1\n", &fold);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_processes(r), 2);
	assert_string_equal(recording_string(r, recording_process(r, 0)->host), "ant");
	assert_string_equal(recording_string(r, recording_process(r, 1)->epoch), "4");
}

static void weights_of_any_size_are_exact(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	uint64_t weight;

	(void)state;
	add_text(t, "main 3 weight=17\nmain 1 weight=1000000\nmain;f 1 weight=0\n", NULL);
	add_text(t, "main 4294967295\nmain 4294967295\n", NULL);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(total(r, NULL, &weight), UINT64_C(2) * 4294967295 + 5);
	assert_int_equal(weight, UINT64_C(2) * 4294967295 * 1000000 + 1000017);
}

static void only_what_samples_refer_to_is_written(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	const bool images[] = { false, true };
	const struct tally_fold fold = { .images = images };

	(void)state;
	add_text(t,
		 "image a /a\nimage b /b\nprocess 1 one\nprocess 2 two\n"
		 "a+0x1! 3 pid=1\nb+0x1;b+0x2! 4 pid=2\n",
		 &fold);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_images(r), 1);
	assert_int_equal(recording_n_processes(r), 1);
	assert_int_equal(recording_n_locations(r), 2);
	assert_int_equal(tally_n_samples(t), 4);
}

static void after_a_restart_the_ids_are_good_and_the_counts_gone(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	uint64_t weight;

	(void)state;
	add_text(t, one, &fold_all);

	size_t bytes = tally_bytes(t);

	tally_restart(t);
	assert_int_equal(tally_n_samples(t), 0);
	assert_int_equal(tally_n_rows(t), 0);
	tally_sample(t, &(struct model_sample){
				.weight = 9, .cpu = MODEL_NONE, .stack = 1, .count = 1 });
	assert_true(tally_bytes(t) <= bytes);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(total(r, NULL, &weight), 1);
	assert_int_equal(weight, 9);
	assert_int_equal(recording_n_facts(r), 0);
	tally_clear(t);
	assert_int_equal(tally_image(t, &(struct model_image){ 0 }), 0);
}

static int sum_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	struct model_direction *sum = ctx;

	(void)e;
	sum->process++; /* rows */
	sum->times += d->times;
	sum->samples += d->samples;
	sum->missed += d->missed;
	sum->foreseen += d->foreseen;
	if (d->samples)
		sum->to = d->to;
	return 0;
}

static int add_access(void *ctx, const struct model_access *a, struct err *e)
{
	(void)e;
	access_place_add(ctx, a);
	return 0;
}

static void directions_and_accesses_of_a_class_add_up(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	struct model_direction sum = { 0 };
	struct access_place place;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_text(t, branches, &fold_all);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_processes(r), 2);
	assert_int_equal(recording_n_images(r), 2);
	assert_int_equal(recording_each_direction(r, sum_direction, &sum, NULL), 0);
	assert_int_equal(sum.process, 4);
	assert_int_equal(sum.times, 3 * 25);
	assert_int_equal(sum.samples, 3 * 3);
	assert_int_equal(sum.missed, 3 * 1);
	assert_int_equal(sum.foreseen, 3 * 7);
	assert_int_equal(recording_locations(r)[sum.to].offset, 0x40);
	access_place_init(&place);
	assert_int_equal(recording_each_access(r, add_access, &place, NULL), 0);
	assert_int_equal(place.sums[ACCESS_MET], 3 * 12);
	assert_int_equal(place.sums[ACCESS_UNKNOWN], 3 * 2);
	assert_int_equal(place.samples, 3 * 9);
	assert_int_equal(place.lines.n, 1);
	assert_int_equal(place.lines.kept[0].times, 3 * 6);
	assert_int_equal(place.strides[0].by, 64);
	assert_int_equal(place.strides[0].times, 3 * 3);
	assert_int_equal(place.low, 1024);
}

static void those_of_unwanted_images_are_left_out(void **state)
{
	const bool images[] = { false, true };
	const struct tally_fold fold = { .images = images };
	own(tally_freep) struct tally *t = tally_new();
	struct model_direction sum = { 0 };
	struct access_place place;

	(void)state;
	add_text(t, branches, &fold);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_processes(r), 1);
	assert_int_equal(recording_each_direction(r, sum_direction, &sum, NULL), 0);
	assert_int_equal(sum.times, 3);
	access_place_init(&place);
	assert_int_equal(recording_each_access(r, add_access, &place, NULL), 0);
	assert_int_equal(place.sums[ACCESS_MET], 0);
	assert_int_equal(place.sums[ACCESS_UNKNOWN], 2);
	tally_restart(t);

	own(recording_freep) struct recording *none = written(t);

	assert_int_equal(recording_each_direction(none, sum_direction, &sum, NULL), 0);
	assert_int_equal(sum.times, 3);
}

static void an_empty_tally_is_a_recording(void **state)
{
	own(tally_freep) struct tally *t = tally_new();

	(void)state;
	tally_info(t, "host", "ant");
	tally_info(t, "host", "bee");

	own(recording_freep) struct recording *r = written(t);

	assert_string_equal(recording_info(r, "host"), "bee");
	assert_int_equal(recording_n_sample_blocks(r), 0);
}

static void files_inside_are_kept_once(void **state)
{
	static const char text[] = "blob jit-map perf-1.map text=abc\nmain 1\n";
	own(tally_freep) struct tally *t = tally_new();
	own(buf_fini) struct buf bytes = { 0 };

	(void)state;
	add_text(t, text, NULL);

	own(recording_freep) struct recording *first = written(t);

	add_text(t, text, NULL);

	own(recording_freep) struct recording *r = written(t);

	assert_int_equal(recording_n_blobs(r), recording_n_blobs(first));
	assert_int_equal(recording_read_blob(r, 0, &bytes, NULL), 0);
}

static void stacks_of_any_depth_come_back(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	const struct model_process p = { .parent = MODEL_NONE, .exec_of = MODEL_NONE };
	uint32_t image = tally_image(t, &(struct model_image){ 0 }), stack = 0;
	uint32_t location = tally_location(t, image, 1, 0);
	uint64_t weight;

	(void)state;
	tally_event(t, &(struct model_event){ .name = tally_string(t, "e") });
	tally_process(t, &p);
	tally_thread(t, &(struct model_thread){ 0 });
	/* Deeper than a reader goes back up at once, and wide at the bottom. */
	for (uint32_t i = 0; i < 10000; i++)
		stack = tally_stack(t, stack, location);
	tally_sample(t, &(struct model_sample){ .stack = stack, .count = 1 });
	for (uint32_t i = 0; i < 100; i++)
		tally_sample(t, &(struct model_sample){
					.stack = tally_stack(
						t, 0, tally_location(t, image, i, 0)),
					.count = 1 });

	own(recording_freep) struct recording *r = written(t);
	uint32_t depth = 0, deepest = 0;

	for (uint32_t i = 1; i < recording_n_stacks(r); i++) {
		depth = recording_stacks(r)[i].parent == i - 1 ? depth + 1 : 1;
		deepest = depth > deepest ? depth : deepest;
	}
	assert_int_equal(deepest, 10000);
	assert_int_equal(total(r, NULL, &weight), 101);
}

/* 100 images with 1000 samples each, below one main; of the first image's samples some
 * have callers in the last one. */
static struct tally *many_images(void)
{
	struct tally *t = tally_new();
	const struct model_process p = { .parent = MODEL_NONE, .exec_of = MODEL_NONE };
	uint32_t main_stack, caller;

	tally_event(t, &(struct model_event){ .name = tally_string(t, "e") });
	tally_process(t, &p);
	tally_thread(t, &(struct model_thread){ 0 });
	for (uint32_t i = 0; i < 100; i++) {
		own(freep) char *name = xasprintf("/lib/image%02u.so", i);

		tally_image(t, &(struct model_image){ .path = tally_string(t, name) });
	}
	main_stack = tally_stack(t, 0, tally_location(t, 50, 1, 0));
	caller = tally_stack(t, main_stack, tally_location(t, 99, 5, LOCATION_RETURN));
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t location =
			tally_location(t, i % 100, i * UINT32_C(2654435761) >> 8, 0);
		uint32_t parent = i % 500 ? main_stack : caller;

		tally_sample(t, &(struct model_sample){
					.stack = tally_stack(t, parent, location),
					.count = 1 + i % 3,
					.cpu = MODEL_NONE });
	}
	return t;
}

static void add_part(struct tally *t, const struct recording *r,
		     const struct recording_part *part)
{
	own(freep) bool *images = xcalloc(recording_n_images(r) + 1, sizeof(bool));
	const struct tally_fold fold = { .images = images };

	for (uint32_t i = 0; i < recording_n_images(r); i++)
		images[i] = recording_part_has_image(part, r, i);
	assert_int_equal(tally_add_recording(t, r, &fold, NULL), 0);
}

static void one_image_is_read_without_the_rest(void **state)
{
	static const char *const names[] = { "image00.so", "image37.so",
					     "/lib/image99.so", "image50.so", "none" };
	own(tally_freep) struct tally *all = many_images();
	own(recording_freep) struct recording *whole = written(all);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct recording_part part = { .image = names[i] };
		own(recording_freep) struct recording *r = NULL;
		own(tally_freep) struct tally *from_part = tally_new();
		own(tally_freep) struct tally *from_whole = tally_new();
		own(buf_fini) struct buf first = { 0 };
		own(buf_fini) struct buf second = { 0 };

		recording_free(written(all));
		assert_int_equal(recording_open_part(path, &part, &r, NULL), 0);
		assert_null(recording_damage(r));
		if (recording_read_bytes(r) * 10 > recording_bytes(r))
			fail_msg("%s: %u of %u bytes", names[i],
				 (unsigned)recording_read_bytes(r),
				 (unsigned)recording_bytes(r));
		add_part(from_part, r, &part);
		add_part(from_whole, whole, &part);
		assert_int_equal(tally_n_rows(from_part) > 0,
				 strcmp(names[i], "none") != 0);
		recording_free(written(from_part));
		read_file(&first);
		recording_free(written(from_whole));
		read_file(&second);
		assert_int_equal(first.size, second.size);
		assert_memory_equal(first.data, second.data, first.size);
	}
}

static void of_one_image_what_is_told_of_its_instructions_is_read(void **state)
{
	const struct recording_part part = { .image = "cc1" };
	own(tally_freep) struct tally *all = tally_new();
	own(tally_freep) struct tally *t = tally_new();
	own(recording_freep) struct recording *r = NULL;
	struct model_direction sum = { 0 };
	struct access_place place;

	(void)state;
	add_text(all, branches, &fold_all);
	recording_free(written(all));
	assert_int_equal(recording_open_part(path, &part, &r, NULL), 0);
	add_part(t, r, &part);

	own(recording_freep) struct recording *of_part = written(t);

	assert_int_equal(recording_n_images(of_part), 1);
	assert_int_equal(recording_each_direction(of_part, sum_direction, &sum, NULL), 0);
	assert_int_equal(sum.times, 22);
	access_place_init(&place);
	assert_int_equal(recording_each_access(of_part, add_access, &place, NULL), 0);
	assert_int_equal(place.sums[ACCESS_MET], 12);
	assert_int_equal(place.sums[ACCESS_UNKNOWN], 0);
}

static void of_an_ordinary_recording_a_part_is_all(void **state)
{
	const struct recording_part part = { .image = "cc1" };
	own(recording_freep) struct recording *r = NULL;
	uint64_t weight;

	(void)state;
	recording_builder_write(path, one);
	assert_int_equal(recording_open_part(path, &part, &r, NULL), 0);
	assert_int_equal(total(r, NULL, &weight), 6);
}

static void an_event_is_one_however_it_was_collected(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	struct model_event event = { .name = tally_string(t, "e"),
				     .source = tally_string(t, "one"),
				     .flags = EVENT_SAMPLED };
	uint32_t id = tally_event(t, &event);

	(void)state;
	event.source = tally_string(t, "another");
	event.flags |= EVENT_SUMMED;
	assert_int_equal(tally_event(t, &event), id);

	own(recording_freep) struct recording *r = written(t);
	const struct model_event *seen = recording_event(r, 0);

	assert_int_equal(recording_n_events(r), 1);
	assert_int_equal(seen->flags, EVENT_SAMPLED | EVENT_SUMMED);
	assert_string_equal(recording_string(r, seen->source), "one, another");
}

static void what_cannot_be_written_is_told(void **state)
{
	own(tally_freep) struct tally *t = tally_new();
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tally_write(t, folder, NULL, &e), ERR_OS);
	assert_non_null(strstr(e.text, folder));
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
	const struct CMUnitTest tests[] = {
		TEST(equal_things_of_several_recordings_are_one),
		TEST(the_order_in_which_it_came_leaves_no_trace),
		TEST(processes_stay_apart_when_nobody_folds_them),
		TEST(those_of_chosen_executables_stay_apart_when_others_are_one),
		TEST(origins_are_kept_apart_when_asked),
		TEST(weights_of_any_size_are_exact),
		TEST(only_what_samples_refer_to_is_written),
		TEST(after_a_restart_the_ids_are_good_and_the_counts_gone),
		TEST(directions_and_accesses_of_a_class_add_up),
		TEST(those_of_unwanted_images_are_left_out),
		TEST(an_empty_tally_is_a_recording),
		TEST(files_inside_are_kept_once),
		TEST(stacks_of_any_depth_come_back),
		TEST(one_image_is_read_without_the_rest),
		TEST(of_one_image_what_is_told_of_its_instructions_is_read),
		TEST(of_an_ordinary_recording_a_part_is_all),
		TEST(an_event_is_one_however_it_was_collected),
		TEST(what_cannot_be_written_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
