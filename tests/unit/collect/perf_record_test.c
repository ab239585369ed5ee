/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "collect/perf_regs.h"

/* A record of the kernel's layout, with the trailer that all but samples have. */
static void begin(struct buf *b, uint32_t type, uint16_t misc)
{
	buf_clear(b);
	buf_u32le(b, type);
	buf_u16le(b, misc);
	buf_u16le(b, 0);
}

static void seal(struct buf *b)
{
	b->data[6] = (uint8_t)b->size;
	b->data[7] = (uint8_t)(b->size >> 8);
}

static void finish(struct buf *b)
{
	buf_u32le(b, 10); /* pid, tid */
	buf_u32le(b, 11);
	buf_u64le(b, 777); /* time */
	buf_u32le(b, 3);   /* cpu */
	buf_u32le(b, 0);
	buf_u64le(b, 42); /* id */
	seal(b);
}

static void a_mapping_carries_its_build_id(void **state)
{
	struct buf b = { 0 };
	struct perf_record r;

	(void)state;
	begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	buf_u32le(&b, 10);
	buf_u32le(&b, 11);
	buf_u64le(&b, 0x1000);
	buf_u64le(&b, 0x2000);
	buf_u64le(&b, 0x3000);
	buf_u32le(&b, 20);
	buf_add(&b, "abcdefghijklmnopqrst", 20);
	buf_u32le(&b, 5);
	buf_u32le(&b, 2);
	buf_add(&b, "/lib/x\0\0", 8);
	finish(&b);
	assert_true(perf_record_parse(b.data, b.size, &r));
	assert_int_equal(r.time_ns, 777);
	assert_int_equal(perf_record_time(b.data, b.size), 777);
	assert_int_equal(r.id, 42);
	assert_int_equal(r.mmap.addr, 0x1000);
	assert_int_equal(r.mmap.length, 0x2000);
	assert_int_equal(r.mmap.file_offset, 0x3000);
	assert_int_equal(r.mmap.build_id_size, 20);
	assert_memory_equal(r.mmap.build_id, "abcdefghijklmnopqrst", 20);
	assert_string_equal(r.mmap.path, "/lib/x");
	for (size_t n = 0; n < b.size; n++)
		assert_false(perf_record_parse(b.data, n, &r));
	buf_fini(&b);
}

static void a_name_without_end_is_refused(void **state)
{
	struct buf b = { 0 };
	struct perf_record r;

	(void)state;
	begin(&b, PERF_RECORD_COMM, 0);
	buf_u64le(&b, 10);
	buf_add(&b, "noendnoe", 8);
	finish(&b); /* zero bytes of the trailer are not its end */
	assert_false(perf_record_parse(b.data, b.size, &r));
	buf_fini(&b);
}

static void add_sample_head(struct buf *b)
{
	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	buf_u64le(b, 42);     /* identifier */
	buf_u64le(b, 0x1234); /* ip */
	buf_u32le(b, 10);
	buf_u32le(b, 11);
	buf_u64le(b, 777);
	buf_u32le(b, 3); /* cpu */
	buf_u32le(b, 0);
}

static void a_sample_carries_kernel_frames_registers_and_stack(void **state)
{
	static struct perf_record_sample s;
	struct buf b = { 0 };

	(void)state;
	add_sample_head(&b);
	buf_u64le(&b, 4);
	buf_u64le(&b, (uint64_t)PERF_CONTEXT_KERNEL);
	buf_u64le(&b, 0xffffffff81000010);
	buf_u64le(&b, (uint64_t)PERF_CONTEXT_USER);
	buf_u64le(&b, 0x1234);
	buf_u64le(&b, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned i = 0; i < perf_regs_count(); i++)
		buf_u64le(&b, 100 + i);
	buf_u64le(&b, 16);
	buf_add(&b, "0123456789abcdef", 16);
	buf_u64le(&b, 8); /* only so much was copied */
	seal(&b);
	assert_true(perf_record_parse_sample(b.data, b.size,
					     PERF_RECORD_BASE | PERF_RECORD_STACK, &s));
	assert_int_equal(s.ip, 0x1234);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.n_kernel, 1);
	assert_int_equal(s.kernel_pcs[0], 0xffffffff81000010);
	assert_true(s.has_regs);
	assert_int_equal(s.stack_size, 8);
	assert_memory_equal(s.stack, "01234567", 8);
	for (size_t n = 0; n < b.size; n++)
		assert_false(perf_record_parse_sample(
			b.data, n, PERF_RECORD_BASE | PERF_RECORD_STACK, &s));
	buf_fini(&b);
}

static void a_changing_period_and_what_is_counted_are_in_front_of_the_stack(void **state)
{
	static struct perf_record_sample s;
	const uint64_t type = PERF_RECORD_BASE | PERF_RECORD_RATE | PERF_SAMPLE_RAW;
	struct buf b = { 0 };

	(void)state;
	add_sample_head(&b);
	buf_u64le(&b, 4711);
	buf_u64le(&b, UINT64_C(1) << 40);
	buf_u32le(&b, 4);
	buf_add(&b, "0123", 4);
	seal(&b);
	assert_true(perf_record_parse_sample(b.data, b.size, type, &s));
	assert_int_equal(s.period, 4711);
	assert_int_equal(s.counted, UINT64_C(1) << 40);
	assert_int_equal(s.raw_size, 4);
	for (size_t n = 0; n < b.size; n++)
		assert_false(perf_record_parse_sample(b.data, n, type, &s));
	assert_true(perf_record_parse_sample(b.data, b.size, PERF_RECORD_BASE, &s));
	assert_int_equal(s.period, 0);
	assert_int_equal(s.counted, 0);
	buf_fini(&b);
}

static void branches_are_between_raw_bytes_and_registers(void **state)
{
	static struct perf_record_sample s;
	const uint64_t type = PERF_RECORD_BASE | PERF_SAMPLE_RAW | PERF_RECORD_BRANCHES |
			      PERF_SAMPLE_REGS_USER;
	struct buf b = { 0 };

	(void)state;
	add_sample_head(&b);
	buf_u32le(&b, 4);
	buf_add(&b, "0123", 4);
	buf_u64le(&b, 2);
	for (unsigned i = 0; i < 6; i++)
		buf_u64le(&b, 1000 + i);
	buf_u64le(&b, PERF_SAMPLE_REGS_ABI_NONE);
	seal(&b);
	assert_true(perf_record_parse_sample(b.data, b.size, type, &s));
	assert_int_equal(s.n_branches, 2);
	assert_int_equal(s.branches[0] | s.branches[1] << 8, 1000);
	assert_int_equal(s.branches[24] | s.branches[25] << 8, 1003);
	for (size_t n = 0; n < b.size; n++)
		assert_false(perf_record_parse_sample(b.data, n, type, &s));
	b.data[b.size - 8 - 48 - 1] = 0xff; /* more than memory has */
	assert_false(perf_record_parse_sample(b.data, b.size, type, &s));
	buf_fini(&b);
}

static void raw_bytes_are_those_of_the_record(void **state)
{
	static struct perf_record_sample s;
	struct buf b = { 0 };

	(void)state;
	add_sample_head(&b);
	buf_u32le(&b, 12);
	buf_add(&b, "0123456789ab", 12);
	seal(&b);
	assert_true(perf_record_parse_sample(b.data, b.size,
					     PERF_RECORD_BASE | PERF_SAMPLE_RAW, &s));
	assert_int_equal(s.raw_size, 12);
	assert_memory_equal(s.raw, "0123456789ab", 12);
	assert_true(perf_record_parse_sample(b.data, b.size, PERF_RECORD_BASE, &s));
	assert_null(s.raw);
	for (size_t n = 0; n < b.size; n++)
		assert_false(perf_record_parse_sample(
			b.data, n, PERF_RECORD_BASE | PERF_SAMPLE_RAW, &s));
	buf_fini(&b);
}

#if defined(__x86_64__)
#define FLAGS_IN_MASK 1

static uint64_t flags_kept(const uint64_t *kept)
{
	return kept[18];
}
#else
#define FLAGS_IN_MASK 0

static uint64_t flags_kept(const uint64_t *kept)
{
	return kept[33] | PERF_REGS_TOLD;
}
#endif

/* Each register is found where it was put, and no other. */
static void registers_as_the_kernel_keeps_them_have_their_numbers(void **state)
{
	static const struct {
		unsigned kept, dwarf;
	} some[] = {
#if defined(__x86_64__)
		{ 0, 15 },
		{ 4, UNWIND_X86_64_RBP },
		{ 5, 3 },
		{ 10, 0 },
		{ 16, UNWIND_X86_64_PC },
		{ 19, UNWIND_X86_64_RSP },
#else
		{ 0, 0 },
		{ 29, 29 },
		{ 31, UNWIND_AARCH64_SP },
		{ 32, UNWIND_AARCH64_PC },
#endif
	};
	uint64_t kept[PERF_REGS_KERNEL_BYTES / 8];
	struct unwind_regs regs = { 0 };
	uint64_t flags;
	bool is_32bit;

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		kept[i] = 0x1000 + 0x20 * i;
	assert_true(
		perf_regs_decode_kernel((const uint8_t *)kept, &regs, &flags, &is_32bit));
	assert_false(is_32bit);
	assert_int_equal(flags, flags_kept(kept));
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		assert_int_equal(regs.r[some[i].dwarf], kept[some[i].kept]);
	assert_int_equal(__builtin_popcountll(regs.valid) + FLAGS_IN_MASK,
			 perf_regs_count());
}

static void a_thread_of_the_kernel_has_no_registers(void **state)
{
	uint8_t kept[PERF_REGS_KERNEL_BYTES] = { 0 };
	struct unwind_regs regs;
	uint64_t flags;
	bool is_32bit;

	(void)state;
	assert_false(perf_regs_decode_kernel(kept, &regs, &flags, &is_32bit));
}

static void code_of_32_bits_is_told(void **state)
{
	uint64_t kept[PERF_REGS_KERNEL_BYTES / 8] = { 0 };
	struct unwind_regs regs;
	uint64_t flags;
	bool is_32bit;

	(void)state;
#if defined(__x86_64__)
	kept[17] = 0x23;
#else
	kept[33] = 0x10;
#endif
	perf_regs_decode_kernel((const uint8_t *)kept, &regs, &flags, &is_32bit);
	assert_true(is_32bit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_carries_its_build_id),
		cmocka_unit_test(a_name_without_end_is_refused),
		cmocka_unit_test(a_sample_carries_kernel_frames_registers_and_stack),
		cmocka_unit_test(
			a_changing_period_and_what_is_counted_are_in_front_of_the_stack),
		cmocka_unit_test(branches_are_between_raw_bytes_and_registers),
		cmocka_unit_test(raw_bytes_are_those_of_the_record),
		cmocka_unit_test(registers_as_the_kernel_keeps_them_have_their_numbers),
		cmocka_unit_test(a_thread_of_the_kernel_has_no_registers),
		cmocka_unit_test(code_of_32_bits_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
