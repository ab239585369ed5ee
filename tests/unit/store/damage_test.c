/* SPDX-License-Identifier: Apache-2.0 */
#include "store/damage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "recording_builder.h"
#include "store/block_header.h"
#include "store/format.h"
#include "store/gauge.h"
#include "store/recording.h"
#include "scratch_file.h"

/* One of each thing; samples before and after dictionaries grow. */
static const char everything[] = "info command cc1 -O2\n"
				 "event faults unit=count period=1 flags=exact\n"
				 "process 10 cc1 exe=/usr/bin/cc1 exit=3\n"
				 "thread 10 11 worker\n"
				 "image a /usr/bin/a build-id=abcd deleted\n"
				 "map 10 a 0x400000 0x500000 0x1000\n"
				 "trace-type malloc bytes:bytes name:string\n"
				 "interval 0 1000 startup cause=timer\n"
				 "fact target wall-time 123 unit=ns pid=10\n"
				 "a+0x10;a+0x20;a+0x30 4 tid=11 cpu=2\n"
				 "a+0x10;a+0x40 2\n"
				 "trace malloc a+0x10 bytes=100 name=hello\n"
				 "basic-block a+0x10 8 3 call 5\n"
				 "basic-block a+0x40 4 1 return 5\n"
				 "edge 0 call 5 a+0x40\n"
				 "edge 1 return 5\n"
				 "direction a+0x10 7 a+0x40\n"
				 "direction a+0x10 2\n"
				 "access a+0x10 2 123456 7\n"
				 "anchor 0 0 cpu=1000\n"
				 "anchor 1 9 a+0x40 size=4\n"
				 "anchor-way 1 3 a+0x44 a+0x10\n"
				 "anchor-way 1 2 a+0x44\n"
				 "gauge user-time 1000 77 pid=10\n"
				 "gauge load 1000 150\n"
				 "main;f 1\n"
				 "main;g 3\n"
				 "blob source a.c text=\"int main(void) { return 0; }\"\n"
				 "main;g;h 5\n"
				 "main;f;h 7\n";

static const char *const path = scratch_file_path;
static char copy_path[64];

static uint8_t *read_all(size_t *ret_n)
{
	own(closep) int fd = open(path, O_RDONLY);
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);

	uint8_t *data = xcalloc(1, (size_t)st.st_size);

	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	*ret_n = (size_t)st.st_size;
	return data;
}

/* A file in memory to be damaged, opened by copy_path. */
static int open_copy(const uint8_t *data, size_t n)
{
	int fd = memfd_create("copy", 0);

	assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	snprintf(copy_path, sizeof(copy_path), "/proc/self/fd/%d", fd);
	return fd;
}

static int print_trace(void *ctx, const struct model_trace *t, struct err *e)
{
	(void)e;
	buf_printf(ctx, "trace %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 "\n", t->time_ns,
		   t->thread, t->stack, t->values[0], t->values[1]);
	return 0;
}

static void print_samples(const struct recording *r, struct buf *out)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		if (recording_read_samples(r, i, SAMPLE_ALL, &b, NULL) < 0)
			continue;
		for (size_t k = 0; k < b.n; k++)
			buf_printf(out, "sample %" PRIu64 " %u %u %u %u %u %" PRIu64 "\n",
				   b.time_ns[k], b.event[k], b.thread[k], b.cpu[k],
				   b.stack[k], b.count[k], b.weight[k]);
	}
}

static void print_dictionaries(const struct recording *r, struct buf *out)
{
	for (uint32_t i = 0; i < recording_n_stacks(r); i++)
		buf_printf(out, "stack %u %u\n", recording_stacks(r)[i].parent,
			   recording_stacks(r)[i].location);
	for (uint32_t i = 0; i < recording_n_locations(r); i++)
		buf_printf(out, "location %u %u %" PRIu64 "\n",
			   recording_locations(r)[i].image,
			   recording_locations(r)[i].flags,
			   recording_locations(r)[i].offset);
	for (uint32_t i = 0; i < recording_n_images(r); i++)
		buf_printf(out, "image %s %u %u %u\n",
			   recording_string(r, recording_image(r, i)->path),
			   recording_image(r, i)->kind, recording_image(r, i)->flags,
			   recording_image(r, i)->build_id_size);
	for (uint32_t i = 0; i < recording_n_processes(r); i++)
		buf_printf(out, "process %u %s %d\n", recording_process(r, i)->pid,
			   recording_string(r, recording_process(r, i)->comm),
			   recording_process(r, i)->exit_status);
	for (uint32_t i = 0; i < recording_n_facts(r); i++)
		buf_printf(out, "fact %s %" PRIu64 "\n",
			   recording_string(r, recording_fact(r, i)->name),
			   recording_fact(r, i)->value);
	buf_printf(out, "%u threads %u events %u mappings %u intervals %s\n",
		   recording_n_threads(r), recording_n_events(r), recording_n_mappings(r),
		   recording_n_intervals(r),
		   recording_info(r, "command") ? recording_info(r, "command") : "-");
}

static int print_basic_block(void *ctx, uint32_t id, const struct model_basic_block *b,
			     struct err *e)
{
	(void)e;
	buf_printf(ctx, "basic block %u %u %u %u %u %u %" PRIu64 "\n", id, b->process,
		   b->location, b->size_bytes, b->n_instructions, b->end, b->times);
	return 0;
}

static int print_edge(void *ctx, const struct model_edge *edge, struct err *e)
{
	(void)e;
	buf_printf(ctx, "edge %u %u %u %" PRIu64 "\n", edge->block, edge->location,
		   edge->kind, edge->times);
	return 0;
}

static int print_access(void *ctx, const struct model_access *a, struct err *e)
{
	(void)e;
	buf_printf(ctx, "access %u %u %u %" PRIu64 " %" PRIu64 "\n", a->process,
		   a->location, a->what, a->value, a->times);
	return 0;
}

static int print_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	(void)e;
	buf_printf(ctx, "direction %u %u %u %" PRIu64 " %" PRIu64 "\n", d->process,
		   d->location, d->to, d->times, d->samples);
	return 0;
}

static int print_anchor(void *ctx, const struct model_anchor *a, struct err *e)
{
	(void)e;
	buf_printf(ctx, "anchor %u %u %u %u %" PRIu64 " %" PRIu64 " %d\n", a->process,
		   a->window, a->location, a->size_bytes, a->times, a->cpu_ns,
		   a->is_near);
	return 0;
}

static int print_anchor_way(void *ctx, const struct model_anchor_way *w, struct err *e)
{
	(void)e;
	buf_printf(ctx, "anchor way %u %u %u %u %" PRIu64 "\n", w->process, w->window,
		   w->behind, w->to, w->times);
	return 0;
}

static int print_gauge(void *ctx, const struct gauge *g, struct err *e)
{
	(void)e;
	buf_printf(ctx, "gauge %" PRIu64 " %u %u %" PRIu64 "\n", g->time_ns, g->pid,
		   g->what, g->value);
	return 0;
}

/* All that a reader could learn from it. */
static void print_all(const struct recording *r, struct buf *out)
{
	own(buf_fini) struct buf blob = { 0 };

	print_dictionaries(r, out);
	print_samples(r, out);
	if (recording_each_trace(r, print_trace, out, NULL) < 0)
		buf_puts(out, "bad traces\n");
	if (recording_each_basic_block(r, print_basic_block, out, NULL) < 0)
		buf_puts(out, "bad basic blocks\n");
	if (recording_each_edge(r, print_edge, out, NULL) < 0)
		buf_puts(out, "bad edges\n");
	if (recording_each_direction(r, print_direction, out, NULL) < 0)
		buf_puts(out, "bad directions\n");
	if (recording_each_access(r, print_access, out, NULL) < 0)
		buf_puts(out, "bad accesses\n");
	if (recording_each_anchor(r, print_anchor, out, NULL) < 0)
		buf_puts(out, "bad anchors\n");
	if (recording_each_anchor_way(r, print_anchor_way, out, NULL) < 0)
		buf_puts(out, "bad anchor ways\n");
	if (recording_each_gauge(r, print_gauge, out, NULL) < 0)
		buf_puts(out, "bad gauges\n");
	for (size_t i = 0; i < recording_n_blobs(r); i++) {
		if (recording_read_blob(r, i, &blob, NULL) == 0)
			buf_add(out, blob.data, blob.size);
		else
			buf_puts(out, "bad blob\n");
	}
}

static struct recording *open_path(const char *name)
{
	struct recording *r = NULL;
	struct err e = { 0 };

	if (recording_open(name, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* Three flushes, so that every dictionary comes in several blocks. */
static void write_everything(void)
{
	own(recording_builder_freep) struct recording_builder *b = NULL;
	struct err e = { 0 };

	assert_int_equal(recording_builder_create(path, NULL, &b, &e), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(recording_builder_text(
					 b, i ? "main;k;l 3\nx;y 2\n" : everything, &e),
				 0);
		assert_int_equal(writer_flush(recording_builder_writer(b), &e), 0);
	}
	assert_int_equal(recording_builder_close(steal(&b), &e), 0);
}

static void a_file_cut_anywhere_is_whole_up_to_there(void **state)
{
	own(buf_fini) struct buf want = { 0 };
	size_t n;

	(void)state;
	write_everything();

	own(recording_freep) struct recording *whole = open_path(path);
	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);

	assert_null(recording_damage(whole));
	print_samples(whole, &want);
	for (size_t cut = n; cut-- > 0;) {
		own(buf_fini) struct buf got = { 0 };
		own(recording_freep) struct recording *r = NULL;
		struct err e = { 0 };

		assert_int_equal(ftruncate(fd, (off_t)cut), 0);
		if (recording_open(copy_path, &r, &e) < 0) {
			if (cut >= FORMAT_HEADER_BYTES || !e.text[0])
				fail_msg("cut at %zu: %s", cut, e.text);
			continue;
		}
		assert_non_null(recording_damage(r));
		assert_non_null(strstr(recording_damage(r), "unfinished"));
		assert_false(recording_is_complete(r));
		print_samples(r, &got);
		if (strncmp(buf_str(&want), buf_str(&got), got.size) != 0)
			fail_msg("cut at %zu: other samples", cut);
		if (cut == n - 1)
			assert_int_equal(got.size, want.size);
	}
}

/* The lines of part are all in whole, as often at most, in that order. */
static bool is_part(const char *part, const char *whole)
{
	while (*part) {
		size_t n = strcspn(part, "\n");
		size_t m = strcspn(whole, "\n");

		if (!*whole)
			return false;
		if (n == m && memcmp(part, whole, n) == 0)
			part += n + 1;
		whole += m + 1;
	}
	return true;
}

static void check_flip(size_t bit, struct buf *want, struct buf *want_samples)
{
	own(recording_freep) struct recording *r = NULL;
	own(buf_fini) struct buf got = { 0 };
	struct err e = { 0 };

	if (recording_open(copy_path, &r, &e) < 0) {
		if (!e.text[0] || bit >= FORMAT_HEADER_BYTES * 8)
			fail_msg("bit %zu: %s", bit, e.text);
		return;
	}
	if (!recording_damage(r)) {
		print_all(r, &got);
		fail_msg("bit %zu was not noticed; contents are %s", bit,
			 strcmp(buf_str(&got), buf_str(want)) ? "other" : "the same");
	}
	print_samples(r, &got);
	if (!is_part(buf_str(&got), buf_str(want_samples)))
		fail_msg("bit %zu: other samples\n%s", bit, buf_str(&got));
}

static void every_flipped_bit_is_found(void **state)
{
	own(buf_fini) struct buf want = { 0 };
	own(buf_fini) struct buf samples = { 0 };
	size_t n;

	(void)state;
	write_everything();

	own(recording_freep) struct recording *whole = open_path(path);
	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);

	print_all(whole, &want);
	print_samples(whole, &samples);
	for (size_t bit = 0; bit < n * 8; bit++) {
		uint8_t byte = data[bit / 8] ^ (uint8_t)(1u << bit % 8);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
		check_flip(bit, &want, &samples);
		assert_int_equal(pwrite(fd, &data[bit / 8], 1, (off_t)(bit / 8)), 1);
	}
}

static void what_is_behind_damage_is_found_again(void **state)
{
	static const uint8_t zeros[200];
	size_t n;

	(void)state;
	recording_builder_write(path, everything);

	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);
	uint64_t hit = 0;

	/* The index and the end go, and a hole of zeros hits the first block. */
	assert_int_equal(ftruncate(fd, (off_t)n - 8), 0);
	assert_int_equal(pwrite(fd, zeros, 4, FORMAT_HEADER_BYTES), 4);

	own(recording_freep) struct recording *r = open_path(copy_path);

	assert_int_equal(sscanf(recording_damage(r), "damaged at byte %" SCNu64, &hit),
			 1);
	assert_int_equal(hit, FORMAT_HEADER_BYTES);
	assert_null(recording_info(r, "command")); /* it was the info block */
	assert_int_equal(recording_n_sample_blocks(r), 1);
}

/* A block that this version does not know, and a record with a field more. */
static void append_block(int fd, unsigned kind, unsigned flags, const struct buf *payload)
{
	uint8_t head[BLOCK_HEADER_BYTES];
	uint64_t off = (uint64_t)lseek(fd, 0, SEEK_END);
	struct block_header h = {
		.kind = (uint16_t)kind,
		.flags = (uint16_t)flags,
		.stored_size = (uint32_t)payload->size,
		.raw_size = (uint32_t)payload->size,
		.payload_crc = crc32c(0, payload->data, payload->size),
	};

	block_header_encode(&h, off, head);
	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	assert_int_equal(write(fd, payload->data, payload->size), payload->size);
}

static void what_a_later_version_adds_is_skipped(void **state)
{
	own(buf_fini) struct buf payload = { 0 };
	size_t n;

	(void)state;
	recording_builder_write(path, "main;f 3\nunfinished\n");

	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);

	buf_puts(&payload, "of tomorrow");
	append_block(fd, 999, 0, &payload);
	/* A thread: id 1, process 0, tid 77, name 0, start 5, end 6, two fields more. */
	buf_clear(&payload);
	buf_add(&payload, "\x08\x01\x00\x4d\x00\x05\x06\xff\x01", 9);
	append_block(fd, FORMAT_THREADS, 0x100, &payload);
	/* A sample of 3 columns, one of them unknown (id 90, codec 77). */
	buf_clear(&payload);
	buf_add(&payload, "\x0b\x02\x00\x05\x06\x01\x02\x01\x00\x00\x00\x99", 12);
	buf_add(&payload,
		"\x5a\x4d\x03"
		"abc",
		6);
	buf_add(&payload, "\x02\x00\x01\x01", 4);     /* thread: constant 1 */
	buf_add(&payload, "\x06\x02\x02\x07\x08", 5); /* weight: 7, 8 */
	append_block(fd, FORMAT_SAMPLES, 0, &payload);

	own(recording_freep) struct recording *r = open_path(copy_path);
	own(sample_block_fini) struct sample_block b = { 0 };

	assert_non_null(strstr(recording_damage(r), "unfinished"));
	assert_int_equal(recording_n_threads(r), 2);
	assert_int_equal(recording_thread(r, 1)->tid, 77);
	assert_int_equal(recording_thread(r, 1)->end_ns, 6);
	assert_int_equal(recording_n_sample_blocks(r), 2);
	assert_int_equal(recording_read_samples(r, 1, SAMPLE_ALL, &b, NULL), 0);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.thread[1], 1);
	assert_int_equal(b.weight[1], 8);
	assert_int_equal(b.count[0], 1);
	assert_int_equal(b.cpu[0], MODEL_NONE);
}

static void a_block_that_must_be_known_is_refused(void **state)
{
	own(buf_fini) struct buf payload = { 0 };
	size_t n;

	(void)state;
	recording_builder_write(path, "main;f 3\nunfinished\n");

	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);

	append_block(fd, FORMAT_SAMPLES, 0x80, &payload);

	own(recording_freep) struct recording *r = open_path(copy_path);

	assert_non_null(strstr(recording_damage(r), "needs a newer dwell"));
	assert_int_equal(recording_n_sample_blocks(r), 1);
}

static void a_later_format_is_refused_with_its_number(void **state)
{
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };
	uint8_t head[FORMAT_HEADER_BYTES];

	(void)state;
	format_header_encode(head);
	head[8] = 2;

	uint32_t crc = crc32c(0, head, 12);

	memcpy(head + 12, &crc, 4);

	own(closep) int fd = open_copy(head, sizeof(head));

	assert_int_equal(recording_open(copy_path, &r, &e), ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "format 2"));
}

static void ids_out_of_range_are_refused(void **state)
{
	/* samples: n 1, needs 1 event, 9 threads; samples whose head lies; a stack whose
	 * parent is itself */
	static const struct {
		unsigned kind;
		const char *bytes;
		size_t n;
		bool is_refused; /* when opened, else when read */
	} t[] = {
		{ FORMAT_SAMPLES, "\x0a\x01\x00\x00\x00\x01\x09\x00\x00\x00\x00", 11,
		  true },
		{ FORMAT_SAMPLES,
		  "\x0a\x01\x00\x00\x00\x01\x01\x00\x00\x00\x00\x02\x00\x01\x63", 15,
		  false },
		{ FORMAT_STACKS,
		  "\x0a\x01\x03\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x03\x01\x00"
		  "\x01\x00",
		  19, true },
		{ FORMAT_STACKS, "\x0a\x01\x07\x00\x00\x00\x00\x00\x00\x00\x00", 11,
		  true },
		{ FORMAT_THREADS, "\x05\x01\x07\x01\x00\x00", 6, true },
		{ FORMAT_THREADS, "\x05\x04\x00\x01\x00\x00", 6, true },
		{ FORMAT_THREADS, "\x09\x01\x00\x01\x00\x00", 6, true },
		{ FORMAT_STRINGS, "\x01\x63\x01x", 4, true },
	};
	size_t n;

	(void)state;
	recording_builder_write(path, "main;f 3\nunfinished\n");

	own(freep) uint8_t *data = read_all(&n);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(closep) int fd = open_copy(data, n);
		own(sample_block_fini) struct sample_block b = { 0 };
		struct buf payload = { 0 };
		struct err e = { 0 };

		buf_add(&payload, t[i].bytes, t[i].n);
		append_block(fd, t[i].kind, 0, &payload);
		buf_fini(&payload);

		own(recording_freep) struct recording *r = open_path(copy_path);

		if (strncmp(recording_damage(r), "damaged", 7) != 0 && t[i].is_refused)
			fail_msg("block %zu was accepted", i);
		if (!t[i].is_refused)
			assert_int_equal(recording_read_samples(r, 1, SAMPLE_ALL, &b, &e),
					 ERR_FORMAT);
	}
}

static void huge_files_of_nothing_are_refused_at_once(void **state)
{
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };
	struct timespec from, to;
	uint8_t head[FORMAT_HEADER_BYTES];

	(void)state;
	format_header_encode(head);

	own(closep) int fd = open_copy(head, sizeof(head));

	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(ftruncate(fd, INT64_C(10) << 30), 0);
	r = open_path(copy_path);
	assert_non_null(strstr(recording_damage(r), "damaged at byte 16"));
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);

	struct recording *none = NULL;

	assert_int_equal(recording_open(copy_path, &none, &e), ERR_FORMAT);
	clock_gettime(CLOCK_MONOTONIC, &to);
	/* Reading it would take many times as long. */
	assert_true(to.tv_sec - from.tv_sec < 2);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
	size_t n;

	(void)state;
	recording_builder_write(path, everything);

	own(freep) uint8_t *data = read_all(&n);
	own(closep) int fd = open_copy(data, n);
	own(recording_freep) struct recording *r = open_path(copy_path);
	own(sample_block_fini) struct sample_block b = { 0 };
	own(buf_fini) struct buf blob = { 0 };
	struct err e = { 0 };

	assert_null(recording_damage(r));
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(recording_read_samples(r, 0, SAMPLE_ALL, &b, &e), ERR_FORMAT);
	assert_non_null(strstr(e.text, "the file ends at byte"));
	assert_int_equal(recording_read_blob(r, 0, &blob, &e), ERR_FORMAT);
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
	const struct CMUnitTest tests[] = {
		TEST(a_file_cut_anywhere_is_whole_up_to_there),
		TEST(every_flipped_bit_is_found),
		TEST(what_is_behind_damage_is_found_again),
		TEST(what_a_later_version_adds_is_skipped),
		TEST(a_block_that_must_be_known_is_refused),
		TEST(a_later_format_is_refused_with_its_number),
		TEST(ids_out_of_range_are_refused),
		TEST(huge_files_of_nothing_are_refused_at_once),
		TEST(a_file_that_shrinks_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
