/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory_of_others.h"

#define N_PAGES	  2048
#define N_TOUCHED 1500 /* the page */

/* Shared memory of which a page in the middle was written. */
struct sparse {
	int fd;
	size_t page;
	uint8_t *at;
	size_t taken; /* by that */
	struct heap_memory memory;
};

/* What the kernel says is there of it. */
static size_t bytes_taken(const struct sparse *s)
{
	struct stat st;

	assert_int_equal(fstat(s->fd, &st), 0);
	return (size_t)st.st_blocks * 512;
}

static void begin(struct sparse *s)
{
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	s->fd = memfd_create("sparse", MFD_CLOEXEC);
	assert_true(s->fd >= 0);
	assert_int_equal(ftruncate(s->fd, (off_t)(N_PAGES * s->page)), 0);
	s->at = mmap(NULL, N_PAGES * s->page, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
		     0);
	assert_true(s->at != MAP_FAILED);
	memset(s->at + N_TOUCHED * s->page, 7, s->page);
	s->taken = bytes_taken(s);
	assert_true(s->taken < N_PAGES * s->page / 2);
	heap_memory_begin(&s->memory, getpid());
	assert_true(s->memory.has_pagemap);
}

static void end(struct sparse *s)
{
	heap_memory_fini(&s->memory);
	munmap(s->at, N_PAGES * s->page);
	close(s->fd);
}

static void what_was_never_touched_is_read_as_zeroes_and_stays_so(void **state)
{
	struct sparse s;
	uint8_t got[3 * 65536 / 2 + 1];
	size_t n = 0, page, size;
	uintptr_t at, touched;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	begin(&s);
	page = s.page;
	touched = (uintptr_t)s.at + N_TOUCHED * page;
	for (at = (uintptr_t)s.at; at < (uintptr_t)s.at + N_PAGES * page; at += size) {
		size = (uintptr_t)s.at + N_PAGES * page - at;
		if (size > sizeof(got))
			size = sizeof(got);
		assert_true(heap_memory_read(&s.memory, at, got, size));
		for (size_t i = 0; i < size; i++) {
			bool is_touched = at + i >= touched && at + i < touched + page;

			assert_int_equal(got[i], is_touched ? 7 : 0);
			n += is_touched;
		}
	}
	assert_int_equal(n, page);
	assert_int_equal(bytes_taken(&s), s.taken);
	end(&s);
}

static void check_skips(bool has_scan)
{
	struct sparse s;
	uint64_t from, touched, to, at;

	begin(&s);
	s.memory.has_scan = has_scan;
	from = (uintptr_t)s.at;
	touched = from + N_TOUCHED * s.page;
	to = from + N_PAGES * s.page;
	assert_int_equal(heap_memory_skip(&s.memory, from, to), touched);
	assert_int_equal(heap_memory_skip(&s.memory, touched - 8, to), touched);
	assert_int_equal(heap_memory_skip(&s.memory, touched + 16, to), touched + 16);
	assert_int_equal(heap_memory_skip(&s.memory, from, touched - 24), touched - 24);
	/* Maybe not all of it at once. */
	for (at = touched + s.page; at < to;) {
		uint64_t next = heap_memory_skip(&s.memory, at, to);

		assert_true(next > at);
		at = next;
	}
	assert_int_equal(at, to);
	assert_int_equal(bytes_taken(&s), s.taken);
	end(&s);
}

static void what_is_not_there_is_skipped_up_to_what_is(void **state)
{
	(void)state;
	check_skips(true);
	check_skips(false); /* as before Linux 6.7 */
}

/* In one step, where the kernel looks itself: page by page there are a thousand million.
 */
static void terabytes_of_which_one_page_is_there_are_skipped_at_once(void **state)
{
	const size_t bytes = (size_t)4 << 40;
	struct heap_memory m = { 0 };
	uint64_t from, touched;
	uint8_t *at;

	(void)state;
	if (!memory_of_others_is_there())
		skip(); /* an emulator has tables of its own for all of it */
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		skip();
	from = (uintptr_t)at;
	touched = from + bytes / 8 * 7;
	at[bytes / 8 * 7] = 1;
	heap_memory_begin(&m, getpid());
	heap_memory_skip(&m, from, from + bytes);
	if (m.has_scan) {
		assert_int_equal(heap_memory_skip(&m, from, from + bytes), touched);
		assert_int_equal(heap_memory_skip(&m, touched + (2 << 20), from + bytes),
				 from + bytes);
	}
	heap_memory_fini(&m);
	munmap(at, bytes);
}

static void a_word_of_a_block_is_read_as_it_is(void **state)
{
	struct sparse s;
	uint64_t word = 0;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	begin(&s);
	assert_true(heap_memory_read_blocks(
		&s.memory, (uintptr_t)s.at + N_TOUCHED * s.page, &word, sizeof(word)));
	assert_true(word == UINT64_C(0x0707070707070707));
	munmap(s.at + N_TOUCHED * s.page, s.page);
	assert_false(heap_memory_read_blocks(
		&s.memory, (uintptr_t)s.at + N_TOUCHED * s.page, &word, sizeof(word)));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_never_touched_is_read_as_zeroes_and_stays_so),
		cmocka_unit_test(what_is_not_there_is_skipped_up_to_what_is),
		cmocka_unit_test(
			terabytes_of_which_one_page_is_there_are_skipped_at_once),
		cmocka_unit_test(a_word_of_a_block_is_read_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
