/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_base.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"
#include "collect/count_layers.h"
#include "collect/count_reader.h"

/* Each block ends behind the last, and has a counter of its own. */
#define FIRST_ADDR 0x10000

static struct count_directory dir;
static struct count_bases bases;

static int set_up(void **state)
{
	(void)state;
	return count_directory_make(&dir, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	count_bases_fini(&bases);
	count_directory_remove(&dir, false);
	return 0;
}

static void put(int fd, uint64_t off, const void *data, size_t size)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)off), size);
}

static void put_block(int fd, uint32_t i)
{
	put(fd, COUNT_FILE_BLOCKS_OFF + i * sizeof(struct count_file_block),
	    &(struct count_file_block){ .addr = FIRST_ADDR + 4 * i,
					.image = COUNT_FILE_NO_IMAGE,
					.size_bytes = 4,
					.n_insns = 1,
					.end = COUNT_END_ON,
					.inside = i },
	    sizeof(struct count_file_block));
}

/* Of process pid, with blocks up to n; as many as base says are not in it. */
static struct count_file_id put_file(uint32_t pid, uint32_t n, uint32_t n_forks,
				     const struct count_file_base *base)
{
	struct count_file_header h = { .magic = COUNT_FILE_MAGIC,
				       .version = COUNT_FILE_VERSION,
				       .pid = pid,
				       .n_blocks = n,
				       .n_counters = n + 1,
				       .n_threads = 1,
				       .n_nests = 1,
				       .id = { .time_ns = 1000 + pid, .pid = pid },
				       .n_forks = n_forks };
	char name[64];

	snprintf(name, sizeof(name), "of.%u.0", pid);

	own(closep) int fd =
		openat(dir.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && ftruncate(fd, COUNT_FILE_BYTES) == 0);
	if (base)
		h.base = *base;
	put(fd, 0, &h, sizeof(h));
	put(fd, COUNT_FILE_BLOCKS_OFF, &(struct count_file_block){ 0 },
	    sizeof(struct count_file_block));
	for (uint32_t i = base && base->n_blocks ? base->n_blocks : 1; i < n; i++)
		put_block(fd, i);
	put(fd, COUNT_FILE_COUNTERS_OFF + COUNT_FILE_THREAD_SKIP + 8, &(uint64_t){ pid },
	    8);
	return h.id;
}

/* Blocks that can be read of it; negative: why not. */
static int blocks_of(uint32_t pid, const struct count_base *base)
{
	own(closep) int fd =
		count_directory_open(&dir, (struct count_directory_file){ .pid = pid });
	own(count_reader_fini) struct count_reader r = { 0 };
	struct count_window own_window, whole;
	struct count_layers l;
	int rc;

	count_window_over(&fd, &own_window);
	if (!count_layers_over(&own_window, count_base_window(base), &l, &whole))
		return ERR_FORMAT;
	rc = count_reader_open(&whole, &r, NULL);
	if (rc < 0)
		return rc;
	for (size_t i = 1; i < r.flow.n_blocks; i++)
		assert_int_equal(r.flow.blocks[i].addr, FIRST_ADDR + 4 * i);
	assert_int_equal(r.flow.counters[1], pid);
	return (int)r.flow.n_blocks;
}

static struct count_base *meet(uint32_t pid)
{
	return count_bases_meet(&bases, &dir,
				(struct count_directory_file){ .pid = pid });
}

/* As the recorder does when its process has ended. */
static void end(uint32_t pid)
{
	const struct count_directory_file f = { .pid = pid };

	count_bases_keep(&bases, &dir, f);
	count_directory_drop(&dir, f);
}

static void a_child_has_what_its_parents_have_and_its_own(void **state)
{
	struct count_file_base of = { .n_blocks = 200 };
	struct count_base *first, *second;

	(void)state;
	of.id = put_file(3, 400, 1, NULL);
	of.id = put_file(4, 300, 1, &of);
	of.n_blocks = 250;
	put_file(5, 260, 0, &of);
	first = meet(4);
	second = meet(5);
	assert_true(first && second && first != second);
	assert_int_equal(blocks_of(3, NULL), 400);
	assert_int_equal(blocks_of(4, first), 300);
	assert_int_equal(blocks_of(5, second), 260);
	count_bases_leave(&bases, first);
	count_bases_leave(&bases, second);
}

static void what_is_gone_is_there_until_all_children_were_met_and_read(void **state)
{
	struct count_file_base of = { .n_blocks = 20 };
	struct count_base *base;

	(void)state;
	of.id = put_file(3, 30, 2, NULL);
	put_file(4, 25, 0, &of);
	end(3);
	base = meet(4);
	assert_int_equal(blocks_of(4, base), 25);
	end(4);
	count_bases_leave(&bases, base);
	put_file(5, 26, 0, &of);
	base = meet(5);
	assert_int_equal(blocks_of(5, base), 26);
	count_bases_leave(&bases, base);
	assert_int_equal(bases.of_id.n, 0);
	assert_int_equal(bases.waiting.n, 0);
}

static void a_parent_between_stays_with_its_own(void **state)
{
	struct count_file_base of = { .n_blocks = 20 };
	struct count_base *first, *second;

	(void)state;
	of.id = put_file(3, 30, 1, NULL);
	of.id = put_file(4, 25, 1, &of);
	first = meet(4);
	end(3);
	end(4);
	count_bases_leave(&bases, first);
	put_file(5, 26, 0, &of);
	second = meet(5);
	assert_int_equal(blocks_of(5, second), 26);
	count_bases_leave(&bases, second);
	assert_int_equal(bases.of_id.n, 0);
}

static void another_file_of_that_name_is_none_to_begin_in(void **state)
{
	struct count_file_base of = { .n_blocks = 20 };

	(void)state;
	of.id = put_file(3, 30, 1, NULL);
	of.id.time_ns++;
	put_file(4, 25, 0, &of);
	assert_null(meet(4));
	assert_int_equal(blocks_of(4, NULL), ERR_FORMAT);
}

static void a_base_without_what_it_should_have_is_damage(void **state)
{
	struct count_file_base of = { .n_blocks = 20 };
	struct count_base *base;

	(void)state;
	of.id = put_file(3, 10, 1, NULL);
	put_file(4, 25, 0, &of);
	of.n_blocks = COUNT_FILE_BLOCKS_MAX + 1;
	put_file(5, 25, 0, &of);
	base = meet(4);
	assert_non_null(base);
	assert_int_equal(blocks_of(4, base), ERR_FORMAT);
	assert_int_equal(blocks_of(5, base), ERR_FORMAT);
	count_bases_leave(&bases, base);
}

static void files_that_begin_in_each_other_end_somewhere(void **state)
{
	struct count_file_base of = { .n_blocks = 5 };

	(void)state;
	of.id = (struct count_file_id){ .time_ns = 1004, .pid = 4 };
	of.id = put_file(3, 10, 1, &of);
	put_file(4, 10, 1, &of);
	put_file(5, 10, 0, &of);
	assert_null(meet(5));
}

static void who_waits_for_ever_is_forgotten_for_later_ones(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 1000; pid++) {
		put_file(pid, 2, 1, NULL);
		end(pid);
	}
	assert_in_range(bases.of_id.n, 1, 300);
	assert_int_equal(bases.of_id.n, bases.waiting.n);
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ROW(a_child_has_what_its_parents_have_and_its_own),
		ROW(what_is_gone_is_there_until_all_children_were_met_and_read),
		ROW(a_parent_between_stays_with_its_own),
		ROW(another_file_of_that_name_is_none_to_begin_in),
		ROW(a_base_without_what_it_should_have_is_damage),
		ROW(files_that_begin_in_each_other_end_somewhere),
		ROW(who_waits_for_ever_is_forgotten_for_later_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
