/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recording.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "store/writer.h"
#include "scratch_file.h"

#define N_SAMPLES 150000

static const char *const path = scratch_file_path;

static struct writer *create(const struct writer_options *o)
{
	struct writer *w = NULL;
	struct err e = { 0 };

	if (writer_create(path, o, &w, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static void finish(struct writer *w)
{
	struct err e = { 0 };

	if (writer_close(w, &e) < 0)
		fail_msg("%s", e.text);
}

static struct recording *open_it(void)
{
	struct recording *r = NULL;
	struct err e = { 0 };

	if (recording_open(path, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* One process, thread, event and image. */
static void add_basics(struct writer *w)
{
	const struct model_process process = {
		.pid = 7,
		.ppid = 1,
		.parent = MODEL_NONE,
		.exec_of = MODEL_NONE,
		.comm = writer_string(w, "cc1"),
		.exit_status = -1,
	};
	const struct model_thread thread = { .process = 0, .tid = 7 };
	const struct model_event event = {
		.name = writer_string(w, "cpu-time"),
		.unit = writer_string(w, "ns"),
		.flags = EVENT_SAMPLED,
		.period = 1000000,
	};
	const struct model_image image = {
		.path = writer_string(w, "/usr/bin/cc1"),
		.build_id_size = 3,
		.build_id = { 0xab, 0xcd, 0xef },
		.size_bytes = 123456,
	};

	writer_process(w, &process);
	writer_thread(w, &thread);
	writer_event(w, &event);
	writer_image(w, &image);
}

static void add_sample(struct writer *w, uint64_t time_ns, uint32_t stack)
{
	writer_sample(w, &(struct model_sample){ .time_ns = time_ns,
						 .weight = 1000000,
						 .cpu = stack & 1,
						 .stack = stack,
						 .count = 1 });
}

static void the_dictionaries_come_back_as_written(void **state)
{
	(void)state;

	struct writer *w = create(NULL);

	add_basics(w);
	writer_info(w, "command", "cc1 -O2");
	writer_info(w, "command", "cc1 -O3");
	writer_mapping(w, &(struct model_mapping){ .start = 4096, .end = 8192 });
	writer_interval(w, &(struct model_interval){ 5, 9, writer_string(w, "run"), 0 });
	for (uint64_t v = 1; v < 3; v++)
		writer_fact(w, &(struct model_fact){ .kind = FACT_TARGET,
						     .name = writer_string(w, "max-rss"),
						     .event = MODEL_NONE,
						     .process = 0,
						     .value = v });

	struct model_process p = *writer_process_get(w, 0);

	assert_int_equal(writer_flush(w, NULL), 0);
	p.exit_status = 256;
	p.end_ns = 77;
	writer_process_update(w, 0, &p);
	finish(w);

	own(recording_freep) struct recording *r = open_it();
	uint64_t value = 0;

	assert_null(recording_damage(r));
	assert_true(recording_is_complete(r));
	assert_string_equal(recording_info(r, "command"), "cc1 -O3");
	assert_null(recording_info(r, "no such key"));
	assert_int_equal(recording_n_processes(r), 1);
	assert_int_equal(recording_process(r, 0)->exit_status, 256);
	assert_int_equal(recording_process(r, 0)->end_ns, 77);
	assert_int_equal(recording_process(r, 0)->exec_of, MODEL_NONE);
	assert_string_equal(recording_string(r, recording_process(r, 0)->comm), "cc1");
	assert_int_equal(recording_image(r, 0)->build_id_size, 3);
	assert_int_equal(recording_image(r, 0)->build_id[2], 0xef);
	assert_int_equal(recording_mapping(r, 0)->end, 8192);
	assert_int_equal(recording_interval(r, 0)->to_ns, 9);
	assert_int_equal(recording_n_facts(r), 1);
	assert_true(
		recording_find_fact(r, FACT_TARGET, "max-rss", MODEL_NONE, 0, &value));
	assert_int_equal(value, 2);
	assert_int_equal(recording_event(r, 0)->period, 1000000);
	assert_null(recording_event(r, 1));
}

static void equal_content_is_stored_once(void **state)
{
	(void)state;

	struct writer *w = create(NULL);

	add_basics(w);
	add_basics(w);

	uint32_t a = writer_location(w, 0, 100, LOCATION_RETURN);
	uint32_t b = writer_location(w, 0, 100, 0);
	uint32_t s = writer_stack(w, writer_stack(w, 0, a), b);

	assert_int_not_equal(a, b);
	assert_int_equal(writer_location(w, 0, 100, LOCATION_RETURN), a);
	assert_int_equal(writer_stack(w, writer_stack(w, 0, a), b), s);
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_int_equal(recording_n_images(r), 1);
	assert_int_equal(recording_n_locations(r), 2);
	assert_int_equal(recording_n_stacks(r), 3);
	assert_int_equal(recording_stacks(r)[s].parent, 1);
	assert_int_equal(recording_locations(r)[recording_stacks(r)[s].location].flags,
			 0);
}

/* A stack that depends on i, some of them new. */
static uint32_t some_stack(struct writer *w, uint32_t i)
{
	uint32_t stack = 0;

	for (uint32_t depth = 0; depth < 1 + i % 7; depth++)
		stack = writer_stack(
			w, stack,
			writer_location(w, 0, i % 1000 * 16 + depth, depth & 1));
	return stack;
}

static void samples_come_back_in_order_and_by_column(void **state)
{
	(void)state;

	own(freep) uint32_t *stacks = xcalloc(N_SAMPLES, sizeof(*stacks));
	struct writer *w = create(NULL);

	add_basics(w);
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		stacks[i] = some_stack(w, i * 2654435761u);
		add_sample(w, 1000 + i * UINT64_C(1000007), stacks[i]);
	}
	finish(w);

	own(recording_freep) struct recording *r = open_it();
	own(sample_block_fini) struct sample_block b = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		uint64_t from, to;
		size_t n;

		recording_sample_block_range(r, i, &from, &to, &n);
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		assert_int_equal(b.n, n);
		assert_int_equal(from, b.time_ns[0]);
		assert_int_equal(to, b.time_ns[n - 1]);
		for (size_t k = 0; k < n; k++, at++) {
			if (b.stack[k] != stacks[at] ||
			    b.time_ns[k] != 1000 + at * UINT64_C(1000007) ||
			    b.cpu[k] != (stacks[at] & 1) || b.weight[k] != 1000000 ||
			    b.count[k] != 1)
				fail_msg("sample %zu is another one", at);
		}
		assert_int_equal(recording_read_samples(r, i, SAMPLE_STACK, &b, NULL), 0);
		assert_null(b.weight);
		assert_int_equal(b.stack[n - 1], stacks[at - 1]);
	}
	assert_int_equal(at, N_SAMPLES);
}

static void without_time_equal_samples_are_one(void **state)
{
	const struct writer_options o = { .no_time = true };
	struct writer *w = create(&o);

	(void)state;
	add_basics(w);
	for (uint32_t i = 0; i < 1000; i++)
		add_sample(w, i, some_stack(w, i % 10));
	finish(w);

	own(recording_freep) struct recording *r = open_it();
	own(sample_block_fini) struct sample_block b = { 0 };

	assert_int_equal(recording_n_sample_blocks(r), 1);
	assert_int_equal(recording_read_samples(r, 0, SAMPLE_ALL, &b, NULL), 0);
	assert_int_equal(b.n, 10);
	assert_int_equal(b.count[3], 100);
	assert_int_equal(b.weight[3], 100000000);
	assert_int_equal(b.time_ns[3], 0);
}

static int take_trace(void *ctx, const struct model_trace *t, struct err *e)
{
	uint64_t *n = ctx;

	(void)e;
	assert_int_equal(t->time_ns, *n * 10);
	assert_int_equal(t->values[0], *n % 3);
	assert_int_equal(t->values[1], UINT64_MAX - *n);
	assert_int_equal(t->values[2], 0);
	(*n)++;
	return 0;
}

static void trace_events_keep_their_columns(void **state)
{
	struct writer *w = create(NULL);
	uint64_t n = 0;

	(void)state;
	add_basics(w);
	for (int i = 0; i < 3; i++)
		writer_strn(w, "abc", (size_t)i + 1);
	writer_trace_type(
		w, &(struct model_trace_type){
			   .n_columns = 2,
			   .columns = { { writer_string(w, "file"), COLUMN_STRING },
					{ writer_string(w, "bytes"), COLUMN_BYTES } } });
	for (uint64_t i = 0; i < 40000; i++)
		writer_trace(w, &(struct model_trace){
					.time_ns = i * 10,
					.values = { i % 3, UINT64_MAX - i, 99 } });
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_int_equal(recording_each_trace(r, take_trace, &n, NULL), 0);
	assert_int_equal(n, 40000);
	assert_int_equal(recording_trace_type(r, 0)->n_columns, 2);
	assert_string_equal(
		recording_string(r, recording_trace_type(r, 0)->columns[1].name),
		"bytes");
}

static void files_kept_inside_come_back_whole(void **state)
{
	const size_t sizes[] = { 0, 1, 70000, 3u << 20 };
	own(freep) uint8_t *data = xcalloc(1, sizes[3]);
	struct writer *w = create(NULL);

	(void)state;
	for (size_t i = 0; i < sizes[3]; i++)
		data[i] = (uint8_t)(i * i >> 7);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
			writer_blob(w,
				    &(struct model_blob){ .kind = BLOB_SOURCE,
							  .name = writer_string(w, "a.c"),
							  .image = MODEL_NONE,
							  .size_bytes = sizes[i] },
				    data, NULL),
			0);
	finish(w);

	own(recording_freep) struct recording *r = open_it();
	own(buf_fini) struct buf b = { 0 };

	assert_int_equal(recording_n_blobs(r), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(recording_read_blob(r, i, &b, NULL), 0);
		assert_int_equal(b.size, sizes[i]);
		assert_true(!b.size || memcmp(b.data, data, b.size) == 0);
	}
	assert_string_equal(recording_string(r, recording_blob(r, 0)->name), "a.c");
}

static void the_file_is_for_its_owner_only(void **state)
{
	struct stat st;

	(void)state;
	finish(create(NULL));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void put_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void only_a_recording_or_an_empty_file_is_replaced(void **state)
{
	struct writer *w = NULL;
	struct err e = { 0 };

	(void)state;
	put_file("my thesis");
	assert_int_equal(writer_create(path, NULL, &w, &e), ERR_OS);
	assert_non_null(strstr(e.text, "not a recording"));
	assert_null(w);
	put_file("");
	finish(create(NULL));
	finish(create(NULL));
	assert_int_equal(writer_create("/tmp", NULL, &w, &e), ERR_OS);
	assert_int_equal(writer_create("/no/such/dir/x", NULL, &w, &e), ERR_OS);
}

static void what_is_no_recording_is_refused_in_one_line(void **state)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{ "", "is empty" },
		{ "x", "not a dwell recording" },
		{ "#!/bin/sh\necho this is a longer text\n", "not a dwell recording" },
		{ "\x89"
		  "DWELL\r\n",
		  "nothing was recorded" },
		{ "\x89"
		  "DWELL\r\n\x01",
		  "nothing was recorded" },
	};
	struct recording *r = NULL;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		put_file(t[i].text);
		assert_int_equal(recording_open(path, &r, &e), ERR_FORMAT);
		if (!strstr(e.text, t[i].want) || !strstr(e.text, path))
			fail_msg("%s", e.text);
	}
	assert_int_equal(recording_open("/tmp", &r, &e), ERR_FORMAT);
	assert_non_null(strstr(e.text, "is a directory"));
	assert_int_equal(recording_open("/no/such/file", &r, &e), ERR_OS);
	assert_int_equal(recording_open("/dev/null", &r, &e), ERR_FORMAT);
	assert_null(r);
}

static uint64_t count_samples(const struct recording *r)
{
	struct sample_block b = { 0 };
	uint64_t n = 0;

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_STACK, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++)
			assert_true(b.stack[k] < recording_n_stacks(r));
		n += b.n;
	}
	sample_block_fini(&b);
	return n;
}

static void add_stacks(struct writer *w, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		add_sample(w, 1000 + i, writer_stack(w, 0, writer_location(w, 0, i, 0)));
	assert_int_equal(writer_flush(w, NULL), 0);
}

static void who_reads_along_sees_what_is_appended(void **state)
{
	(void)state;

	struct writer *w = create(NULL);

	add_basics(w);
	add_stacks(w, 0, 10);

	own(recording_freep) struct recording *r = open_it();

	assert_int_equal(count_samples(r), 10);
	assert_int_equal(recording_follow(r, NULL), 0);
	assert_int_equal(recording_n_sample_blocks(r), 1);
	add_stacks(w, 5, 30);
	writer_info(w, "comment", "later");
	assert_int_equal(recording_follow(r, NULL), 0);
	assert_int_equal(recording_n_sample_blocks(r), 2);
	assert_int_equal(count_samples(r), 35);
	assert_int_equal(recording_n_stacks(r), 31);
	assert_false(recording_is_complete(r));
	unlink(path); /* what is open goes on being read */
	finish(w);
	assert_int_equal(recording_follow(r, NULL), 0);
	assert_true(recording_is_complete(r));
	assert_string_equal(recording_info(r, "comment"), "later");
	assert_null(recording_damage(r));
}

static void put_bytes(const void *bytes, size_t size, const char *mode)
{
	own(fclosep) FILE *f = fopen(path, mode);

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
}

static void it_may_be_followed_at_any_byte(void **state)
{
	own(recording_freep) struct recording *r = NULL;
	static uint8_t bytes[65536];
	size_t size;

	(void)state;

	struct writer *w = create(NULL);

	add_basics(w);
	for (uint32_t i = 0; i < 20; i++)
		add_stacks(w, 10 * i, 10 * i + 15);
	finish(w);
	{
		own(fclosep) FILE *f = fopen(path, "rb");

		size = fread(bytes, 1, sizeof(bytes), f);
	}
	assert_true(size > 4000 && size < sizeof(bytes));
	put_bytes(bytes, 5, "wb");
	for (size_t at = 5, n; at < size; at += n) {
		n = size - at < 37 ? size - at : 37;
		put_bytes(bytes + at, n, "ab");
		if (!r)
			r = open_it();
		else
			assert_int_equal(recording_follow(r, NULL), 0);
	}
	assert_null(recording_damage(r));
	assert_true(recording_is_complete(r));
	assert_int_equal(count_samples(r), 20 * 15);
}

struct code {
	struct model_basic_block blocks[4];
	struct model_edge edges[4];
	uint32_t n_blocks, n_edges;
};

static int take_basic_block(void *ctx, uint32_t id, const struct model_basic_block *b,
			    struct err *e)
{
	struct code *code = ctx;

	(void)e;
	assert_int_equal(id, code->n_blocks);
	code->blocks[code->n_blocks++ % 4] = *b;
	return 0;
}

static int take_edge(void *ctx, const struct model_edge *edge, struct err *e)
{
	struct code *code = ctx;

	(void)e;
	code->edges[code->n_edges++ % 4] = *edge;
	return 0;
}

static void basic_blocks_have_ids_that_edges_refer_to(void **state)
{
	const uint32_t n = 70000; /* more than are in one block of the file */
	struct writer *w = create(NULL);
	struct code code = { 0 };

	(void)state;
	add_basics(w);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(writer_basic_block(
					 w,
					 &(struct model_basic_block){
						 .location = writer_location(w, 0, i, 0),
						 .size_bytes = 7,
						 .n_instructions = 2,
						 .end = BLOCK_END_CALL,
						 .times = UINT64_MAX - i }),
				 i);
	writer_edge(w, &(struct model_edge){ n - 1, 5, EDGE_CALL, 3 });
	writer_edge(w, &(struct model_edge){ 0, MODEL_NONE, EDGE_RETURN, 4 });
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_int_equal(recording_n_basic_blocks(r), n);
	assert_int_equal(recording_each_basic_block(r, take_basic_block, &code, NULL), 0);
	assert_int_equal(code.n_blocks, n);
	assert_int_equal(code.blocks[(n - 1) % 4].times, UINT64_MAX - (n - 1));
	assert_int_equal(code.blocks[(n - 1) % 4].end, BLOCK_END_CALL);
	assert_int_equal(code.blocks[(n - 1) % 4].size_bytes, 7);
	assert_int_equal(recording_each_edge(r, take_edge, &code, NULL), 0);
	assert_int_equal(code.n_edges, 2);
	assert_int_equal(code.edges[0].block, n - 1);
	assert_int_equal(code.edges[0].location, 5);
	assert_int_equal(code.edges[1].location, MODEL_NONE);
	assert_int_equal(code.edges[1].times, 4);
}

static int take_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	struct model_direction **at = ctx;

	(void)e;
	*(*at)++ = *d;
	return 0;
}

static void directions_may_lead_to_the_unknown(void **state)
{
	struct writer *w = create(NULL);
	struct model_direction seen[3], *end = seen;

	(void)state;
	add_basics(w);

	uint32_t branch = writer_location(w, 0, 0x10, 0);
	uint32_t target = writer_location(w, 0, 0x40, 0);

	writer_direction(w,
			 &(struct model_direction){ 0, branch, target, UINT64_MAX, 7 });
	writer_direction(w, &(struct model_direction){ 0, branch, MODEL_NONE, 1, 0 });
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_int_equal(recording_each_direction(r, take_direction, &end, NULL), 0);
	assert_ptr_equal(end, seen + 2);
	assert_int_equal(seen[0].location, branch);
	assert_int_equal(seen[0].to, target);
	assert_int_equal(seen[0].times, UINT64_MAX);
	assert_int_equal(seen[0].samples, 7);
	assert_int_equal(seen[1].to, MODEL_NONE);
}

static int take_anchor(void *ctx, const struct model_anchor *a, struct err *e)
{
	struct model_anchor **at = ctx;

	(void)e;
	*(*at)++ = *a;
	return 0;
}

static void anchors_may_be_nowhere(void **state)
{
	struct writer *w = create(NULL);
	struct model_anchor seen[4], *end = seen;

	(void)state;
	add_basics(w);

	uint32_t block = writer_location(w, 0, 0x10, 0);

	writer_anchor(
		w, &(struct model_anchor){ 0, 0, MODEL_NONE, 0, 0, 5000000000, false });
	writer_anchor(w, &(struct model_anchor){ 0, 0, block, 7, UINT64_MAX, 0, false });
	writer_anchor(w, &(struct model_anchor){ 0, 1, block, 0, 3, 1000000, true });
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_int_equal(recording_each_anchor(r, take_anchor, &end, NULL), 0);
	assert_ptr_equal(end, seen + 3);
	assert_int_equal(seen[0].location, MODEL_NONE);
	assert_int_equal(seen[0].cpu_ns, 5000000000);
	assert_int_equal(seen[1].location, block);
	assert_int_equal(seen[1].size_bytes, 7);
	assert_int_equal(seen[1].times, UINT64_MAX);
	assert_int_equal(seen[2].window, 1);
	assert_int_equal(seen[2].size_bytes, 0);
	assert_true(seen[2].is_near && !seen[1].is_near);
}

static int take_anchor_way(void *ctx, const struct model_anchor_way *w, struct err *e)
{
	struct model_anchor_way **at = ctx;

	(void)e;
	*(*at)++ = *w;
	return 0;
}

static void ways_of_anchors_may_lead_to_the_unknown(void **state)
{
	struct writer *w = create(NULL);
	struct model_anchor_way seen[4], *end = seen;

	(void)state;
	add_basics(w);

	uint32_t behind = writer_location(w, 0, 0x10, 0);
	uint32_t to = writer_location(w, 0, 0x40, 0);

	writer_anchor_way(w, &(struct model_anchor_way){ 0, 3, behind, to, UINT64_MAX });
	writer_anchor_way(w, &(struct model_anchor_way){ 0, 4, to, behind, 7 });
	writer_anchor_way(w, &(struct model_anchor_way){ 0, 4, to, MODEL_NONE, 1 });
	finish(w);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_int_equal(recording_each_anchor_way(r, take_anchor_way, &end, NULL), 0);
	assert_ptr_equal(end, seen + 3);
	assert_int_equal(seen[0].window, 3);
	assert_int_equal(seen[0].behind, behind);
	assert_int_equal(seen[0].to, to);
	assert_int_equal(seen[0].times, UINT64_MAX);
	assert_int_equal(seen[1].behind, to);
	assert_int_equal(seen[1].to, behind);
	assert_int_equal(seen[2].to, MODEL_NONE);
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
	const struct CMUnitTest tests[] = {
		TEST(the_dictionaries_come_back_as_written),
		TEST(equal_content_is_stored_once),
		TEST(samples_come_back_in_order_and_by_column),
		TEST(without_time_equal_samples_are_one),
		TEST(trace_events_keep_their_columns),
		TEST(basic_blocks_have_ids_that_edges_refer_to),
		TEST(directions_may_lead_to_the_unknown),
		TEST(anchors_may_be_nowhere),
		TEST(ways_of_anchors_may_lead_to_the_unknown),
		TEST(files_kept_inside_come_back_whole),
		TEST(the_file_is_for_its_owner_only),
		TEST(only_a_recording_or_an_empty_file_is_replaced),
		TEST(what_is_no_recording_is_refused_in_one_line),
		TEST(who_reads_along_sees_what_is_appended),
		TEST(it_may_be_followed_at_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
