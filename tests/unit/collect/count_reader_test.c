/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* One image at offset 0, and one that follows it. */
#define SECOND_IMAGE 56

static struct count_file_header header_of(uint32_t n_blocks, uint32_t n_counters)
{
	return (struct count_file_header){ .magic = COUNT_FILE_MAGIC,
					   .version = COUNT_FILE_VERSION,
					   .pid = 7,
					   .n_blocks = n_blocks,
					   .n_counters = n_counters,
					   .n_threads = 3,
					   .n_lost = 2,
					   .is_cut = 1,
					   .n_nests = 2,
					   .nests[1] = { .entry = 0x10000 } };
}

static void put(int fd, uint64_t off, const void *data, size_t size)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)off), size);
}

static void put_image(int fd, uint64_t off, const char *path, uint64_t start)
{
	uint8_t bytes[64] = { 0 };
	const struct count_file_image head = { .start = start,
					       .size = 0x1000,
					       .off = 0x2000,
					       .path_bytes = (uint32_t)strlen(path) + 1 };

	memcpy(bytes, &head, sizeof(head));
	strcpy((char *)bytes + offsetof(struct count_file_image, path), path);
	put(fd, COUNT_FILE_IMAGES_OFF + off, bytes, SECOND_IMAGE);
}

static void put_counter(int fd, unsigned thread, unsigned i, uint64_t n)
{
	put(fd,
	    COUNT_FILE_COUNTERS_OFF + thread * COUNT_FILE_THREAD_BYTES +
		    COUNT_FILE_THREAD_SKIP + i * 8,
	    &n, sizeof(n));
}

static const struct count_file_block some_blocks[] = {
	{ 0 },
	{ .addr = 0x10000,
	  .size_bytes = 8,
	  .n_insns = 2,
	  .end = COUNT_END_ON,
	  .inside = 1 },
	{ .addr = 0x20010,
	  .size_bytes = 4,
	  .n_insns = 1,
	  .end = COUNT_END_RETURN,
	  .image = SECOND_IMAGE,
	  .to = 2 },
	{ .addr = 0x90000, .size_bytes = 4, .n_insns = 4, .end = COUNT_END_STOP },
};

static int make_file(struct count_file_header *h, const struct count_file_block *blocks,
		     uint32_t n_blocks)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);

	*h = header_of(n_blocks, 1025);
	h->images_bytes = 2 * SECOND_IMAGE;
	assert_true(fd >= 0 && ftruncate(fd, COUNT_FILE_BYTES) == 0);
	put(fd, 0, h, sizeof(*h));
	put_image(fd, 0, "/a/b", 0x10000);
	put_image(fd, SECOND_IMAGE, "", 0x20000);
	put(fd, COUNT_FILE_BLOCKS_OFF, blocks, n_blocks * sizeof(*blocks));
	return fd;
}

static int open_it(int fd, struct count_reader *ret, struct err *e)
{
	struct count_window w;

	count_window_over(&fd, &w);
	return count_reader_open(&w, ret, e);
}

static void counters_are_summed_over_the_threads(void **state)
{
	struct count_file_header h;
	own(closep) int fd = make_file(&h, some_blocks, 4);
	own(count_reader_fini) struct count_reader r = { 0 };
	struct err e = { 0 };

	(void)state;
	put_counter(fd, 0, 1, 5);
	put_counter(fd, 2, 1, 7);
	put_counter(fd, 2, 2, 1);
	put_counter(fd, 1, 1024, 3);
	put_counter(fd, 1, 1025, 99); /* there is no such counter */
	put_counter(fd, 3, 1, 99);    /* nor such a thread */
	assert_int_equal(open_it(fd, &r, &e), 0);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.n_lost, 2);
	assert_true(r.is_cut);
	assert_int_equal(r.flow.n_counters, 1025);
	assert_int_equal(r.flow.counters[1], 12);
	assert_int_equal(r.flow.counters[2], 1);
	assert_int_equal(r.flow.counters[1024], 3);
}

static void blocks_are_in_the_image_that_they_name(void **state)
{
	struct count_file_header h;
	own(closep) int fd = make_file(&h, some_blocks, 4);
	own(count_reader_fini) struct count_reader r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(open_it(fd, &r, &e), 0);
	assert_int_equal(r.n_images, 2);
	assert_string_equal(r.images[0].path, "/a/b");
	assert_int_equal(r.images[0].off, 0x2000);
	assert_string_equal(r.images[1].path, "");
	assert_int_equal(r.flow.blocks[1].image, 0);
	assert_int_equal(r.flow.blocks[2].image, 1);
	assert_int_equal(r.flow.blocks[3].image, 2); /* it is not there: in none */
}

static void a_block_that_was_being_written_is_none(void **state)
{
	struct count_file_block blocks[5] = { 0 };
	struct count_file_header h;
	own(count_reader_fini) struct count_reader r = { 0 };
	struct err e = { 0 };

	(void)state;
	memcpy(blocks, some_blocks, sizeof(some_blocks));

	own(closep) int fd = make_file(&h, blocks, 5);

	assert_int_equal(open_it(fd, &r, &e), 0);
	assert_int_equal(r.flow.n_blocks, 4);
}

static void a_process_that_did_nothing_has_nothing(void **state)
{
	const struct count_file_header h = header_of(1, 1);
	own(closep) int fd = memfd_create("counts", MFD_CLOEXEC);
	own(count_reader_fini) struct count_reader r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(open_it(fd, &r, &e), ERR_UNSUPPORTED);
	assert_int_equal(ftruncate(fd, COUNT_FILE_BYTES), 0);
	assert_int_equal(open_it(fd, &r, &e), ERR_UNSUPPORTED);
	put(fd, 0, &h, sizeof(h));
	assert_int_equal(open_it(fd, &r, &e), 0);
	assert_int_equal(r.flow.n_blocks, 0);
	count_reader_fini(&r);
	put_counter(fd, 0, COUNT_FILE_CALL, 0); /* its thread's memory is there */
	assert_int_equal(open_it(fd, &r, &e), 0);
}

/* Each of these alone makes a file that is refused. */
static void what_makes_no_sense_is_refused(void **state)
{
	static const struct {
		uint64_t off;
		uint32_t value;
	} t[] = {
		{ 0, 1 },
		{ offsetof(struct count_file_header, version), 1 },
		{ offsetof(struct count_file_header, images_bytes), 0x200000 },
		{ offsetof(struct count_file_header, images_bytes), SECOND_IMAGE + 8 },
		{ offsetof(struct count_file_header, n_blocks), UINT32_MAX },
		{ offsetof(struct count_file_header, n_blocks), COUNT_FILE_BLOCKS_MAX },
		{ offsetof(struct count_file_header, n_blocks), 6 },
		{ offsetof(struct count_file_header, n_pairs), 1 << 20 },
		{ offsetof(struct count_file_header, n_returns), 1 },
		{ offsetof(struct count_file_header, n_extras), 1 },
		{ offsetof(struct count_file_header, n_counters), 2 },
		{ offsetof(struct count_file_header, n_counters), UINT32_MAX },
		{ offsetof(struct count_file_header, n_threads), UINT32_MAX },
		{ offsetof(struct count_file_header, n_nests), 0 },
		{ offsetof(struct count_file_header, n_nests), 129 },
		{ offsetof(struct count_file_header, nests[1].parent), 1 },
		{ offsetof(struct count_file_header, nests[1].function), 16 },
		{ COUNT_FILE_IMAGES_OFF + offsetof(struct count_file_image, path_bytes),
		  0 },
		{ COUNT_FILE_IMAGES_OFF + offsetof(struct count_file_image, path_bytes),
		  UINT32_MAX },
		{ COUNT_FILE_IMAGES_OFF + offsetof(struct count_file_image, path_bytes),
		  4 },
		{ COUNT_FILE_IMAGES_OFF + offsetof(struct count_file_image, path_bytes),
		  6 },
		{ COUNT_FILE_BLOCKS_OFF + 48 + offsetof(struct count_file_block, end),
		  99 },
		{ COUNT_FILE_BLOCKS_OFF + 48 +
			  offsetof(struct count_file_block, size_bytes),
		  0 },
		{ COUNT_FILE_BLOCKS_OFF + 48 +
			  offsetof(struct count_file_block, size_bytes),
		  0x90008 },
		{ COUNT_FILE_BLOCKS_OFF + 48 + offsetof(struct count_file_block, end),
		  COUNT_END_ENTER },
		{ COUNT_FILE_BLOCKS_OFF + 48 + offsetof(struct count_file_block, end),
		  0x200 }, /* the nest */
		{ COUNT_FILE_BLOCKS_OFF + 48 + offsetof(struct count_file_block, entered),
		  2 },
		{ COUNT_FILE_BLOCKS_OFF + 48 + offsetof(struct count_file_block, inside),
		  1025 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct count_file_header h;
		own(closep) int fd = make_file(&h, some_blocks, 4);
		struct count_reader r = { 0 };
		struct err e = { 0 };

		put(fd, t[i].off, &t[i].value, sizeof(t[i].value));
		assert_int_equal(open_it(fd, &r, &e), ERR_FORMAT);
		assert_true(e.text[0]);
		assert_null(r.images);
	}
}

static void a_cut_file_is_refused(void **state)
{
	static const uint64_t sizes[] = { 8,
					  sizeof(struct count_file_header),
					  COUNT_FILE_IMAGES_OFF + 8,
					  COUNT_FILE_BLOCKS_OFF + 100,
					  COUNT_FILE_COUNTERS_OFF,
					  COUNT_FILE_COUNTERS_OFF + 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct count_file_header h;
		own(closep) int fd = make_file(&h, some_blocks, 4);
		struct count_reader r = { 0 };
		struct err e = { 0 };

		assert_int_equal(ftruncate(fd, (off_t)sizes[i]), 0);
		assert_true(open_it(fd, &r, &e) < 0);
		assert_true(e.text[0]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_summed_over_the_threads),
		cmocka_unit_test(blocks_are_in_the_image_that_they_name),
		cmocka_unit_test(a_block_that_was_being_written_is_none),
		cmocka_unit_test(a_process_that_did_nothing_has_nothing),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_cut_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
