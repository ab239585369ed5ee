/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_handover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

#define AT 0x700000000000ULL

static const char maps[] =
	"1000-2000 r--p 00000000 08:01 5 /lib/a.so\n"
	"2000-4000 r-xp 00001000 08:01 5 /lib/a.so\n"
	"8000-9000 r-xp 00002000 08:01 6 /bin/the program\n"
	"9000-a000 rw-p 00000000 00:00 0 [heap]\n"
	"b000-c000 rwxp 00000000 00:00 0 \n"
	"d000-e000 r-xp 00000000 00:00 0 [vdso]\n"
	"f000-f800 r-xp 00000000 00:00 0 [anon:code]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

static const struct count_control_thread threads[2] = { { .mask = 3 }, { .mask = 4 } };

static const struct count_handover all = {
	.maps = maps,
	.maps_bytes = sizeof(maps) - 1,
	.exe = "/bin/the program",
	.name = "the program",
	.prefix = "/dev/shm/of",
	.flags = "-:1.2.3",
	.owner = 77,
	.threads = threads,
	.n_threads = 2,
};

static const void *at(const struct buf *b, uint64_t addr)
{
	assert_true(addr >= AT && addr - AT < b->size);
	return b->data + (addr - AT);
}

static void code_is_told_and_the_programs_own_first(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	const struct count_control *k;
	const struct count_control_range *r;

	(void)state;
	count_handover_make(&all, AT, &b);
	k = (const struct count_control *)b.data;
	assert_int_equal(k->magic, COUNT_CONTROL_MAGIC);
	assert_int_equal(k->owner, 77);
	assert_int_equal(k->n_ranges, 5);
	r = at(&b, k->ranges);
	assert_int_equal(r[0].start, 0x8000);
	assert_int_equal(r[0].inode, 6);
	assert_string_equal(at(&b, r[0].path), "/bin/the program");
	assert_int_equal(r[1].start, 0x2000);
	assert_int_equal(r[1].end, 0x4000);
	assert_int_equal(r[1].off, 0x1000);
	assert_int_equal(r[1].device_major, 8);
	assert_string_equal(at(&b, r[1].path), "/lib/a.so");
	assert_false(r[1].is_writable);
	assert_true(r[2].is_writable);
	assert_int_equal(r[2].path, 0);
	assert_string_equal(at(&b, r[3].path), "[vdso]");
	assert_int_equal(r[4].path, 0);
}

static void threads_and_texts_are_where_it_says(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	const struct count_control *k;

	(void)state;
	count_handover_make(&all, AT, &b);
	k = (const struct count_control *)b.data;
	assert_int_equal(k->n_threads, 2);
	assert_memory_equal(at(&b, k->threads), threads, sizeof(threads));
	assert_string_equal(at(&b, k->name), "the program");
	assert_string_equal(at(&b, k->prefix), "/dev/shm/of");
	assert_string_equal(at(&b, k->flags), "-:1.2.3");
}

static void it_is_as_long_wherever_it_will_be(void **state)
{
	own(buf_fini) struct buf a = { 0 }, b = { 0 };

	(void)state;
	count_handover_make(&all, 0, &a);
	count_handover_make(&all, AT, &b);
	assert_int_equal(a.size, b.size);
	assert_int_equal(b.size % 4096, 0);
}

static void a_process_without_code_has_no_ranges(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	struct count_handover h = all;

	(void)state;
	h.maps_bytes = 0;
	count_handover_make(&h, AT, &b);
	assert_int_equal(((const struct count_control *)b.data)->n_ranges, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_told_and_the_programs_own_first),
		cmocka_unit_test(threads_and_texts_are_where_it_says),
		cmocka_unit_test(it_is_as_long_wherever_it_will_be),
		cmocka_unit_test(a_process_without_code_has_no_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
