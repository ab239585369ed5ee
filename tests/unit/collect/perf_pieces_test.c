/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/perf_deep_code.h"
#include "collect/perf_near_code.h"

/* As the program writes it; stream: 0, or of the sample, and 1. */
static void put_piece(struct buf *b, uint64_t stream, uint64_t sp, uint64_t addr,
		      const char *words)
{
	struct perf_deep_piece piece = { .sp = sp,
					 .addr = addr,
					 .size = strlen(words),
					 .stream = stream,
					 .data_addr = 0x77 };

	memset(piece.regs, 0x55, sizeof(piece.regs));
	buf_add(b, &piece, offsetof(struct perf_deep_piece, bytes));
	buf_puts(b, words);
	buf_puts(b, "padding");
}

static void take(struct perf_pieces *p, uint32_t cpu, uint64_t sp, uint64_t addr,
		 const char *words)
{
	struct perf_pieces_sample sample;
	struct buf b = { 0 };

	put_piece(&b, 0, sp, addr, words);
	assert_false(perf_pieces_take(p, cpu, b.data, b.size, &sample));
	buf_fini(&b);
}

static bool reads(struct perf_pieces *p, uint64_t addr, const char *want)
{
	uint64_t word;

	return perf_pieces_read(p, addr, &word) && memcmp(&word, want, 8) == 0;
}

static void pieces_belong_to_the_next_sample_of_their_cpu(void **state)
{
	struct perf_pieces p;
	uint64_t word;

	(void)state;
	perf_pieces_init(&p, 2);
	take(&p, 1, 0xf00, 0x1000, "01234567");
	take(&p, 1, 0xf00, 0x1008, "89abcdef");
	assert_false(perf_pieces_begin(&p, 0, 0xf00));
	assert_false(perf_pieces_begin(&p, 2, 0xf00));
	assert_true(perf_pieces_begin(&p, 1, 0xf00));
	assert_true(reads(&p, 0x1000, "01234567"));
	assert_true(reads(&p, 0x1004, "456789ab"));
	assert_true(reads(&p, 0x1008, "89abcdef"));
	assert_false(perf_pieces_read(&p, 0x1009, &word));
	assert_false(perf_pieces_read(&p, 0xfff, &word));
	perf_pieces_end(&p, 1);
	assert_false(perf_pieces_read(&p, 0x1000, &word));
	assert_false(perf_pieces_begin(&p, 1, 0xf00));
	perf_pieces_fini(&p);
}

static void runs_with_gaps_between_them_are_all_there(void **state)
{
	struct perf_pieces p;
	uint64_t word;

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0x1000, 0x0ff8, "01234567"); /* the red zone */
	take(&p, 0, 0x1000, 0x2000, "89abcdef");
	take(&p, 0, 0x1000, 0x2008, "ghijklmn");
	take(&p, 0, 0x1000, 0x8000, "opqrstuv");
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_true(reads(&p, 0x0ff8, "01234567"));
	assert_true(reads(&p, 0x2004, "cdefghij"));
	assert_true(reads(&p, 0x8000, "opqrstuv"));
	assert_false(perf_pieces_read(&p, 0x1000, &word));
	assert_false(perf_pieces_read(&p, 0x200c, &word)); /* half of it is in the gap */
	perf_pieces_end(&p, 0);
	assert_false(perf_pieces_begin(&p, 0, 0x1000));
	perf_pieces_fini(&p);
}

static void the_stack_is_the_run_that_the_stack_pointer_is_in(void **state)
{
	struct perf_pieces p;
	const uint8_t *stack;
	size_t size;

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0x1000, 0x0ff8, "01234567"); /* the red zone */
	take(&p, 0, 0x1000, 0x1000, "89abcdef");
	take(&p, 0, 0x1000, 0x1008, "ghijklmn");
	take(&p, 0, 0x1000, 0x8000, "opqrstuv");
	assert_null(perf_pieces_stack(&p, &size));
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	stack = perf_pieces_stack(&p, &size);
	assert_non_null(stack);
	assert_int_equal(size, 16);
	assert_memory_equal(stack, "89abcdefghijklmn", 16);
	perf_pieces_end(&p, 0);

	take(&p, 0, 0x1000, 0x2000, "01234567"); /* its page is not there */
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_null(perf_pieces_stack(&p, &size));
	perf_pieces_fini(&p);
}

static void more_runs_than_there_is_room_for_are_left_out(void **state)
{
	struct perf_pieces p;
	uint64_t word;

	(void)state;
	perf_pieces_init(&p, 1);
	for (uint64_t i = 0; i < PERF_PIECES_RUNS_MAX + 2; i++)
		take(&p, 0, 0x1000, 0x2000 + i * 0x1000, "01234567");
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_true(reads(&p, 0x2000, "01234567"));
	assert_true(reads(&p, 0x1000 + PERF_PIECES_RUNS_MAX * 0x1000, "01234567"));
	assert_false(perf_pieces_read(&p, 0x2000 + PERF_PIECES_RUNS_MAX * 0x1000, &word));
	perf_pieces_fini(&p);
}

static void take_places(struct perf_pieces *p, uint64_t sp,
			const struct perf_near_place *places, size_t size)
{
	struct perf_deep_piece piece = { .sp = sp, .size = size };
	struct perf_pieces_sample sample;

	memcpy(piece.bytes, places, size);
	assert_false(perf_pieces_take(
		p, 0, &piece, offsetof(struct perf_deep_piece, bytes) + size, &sample));
}

static void what_is_near_registers_is_no_stack(void **state)
{
	static const struct perf_near_place places[] = {
		{ 0x1008, "ABCDEFGH" }, /* beside the stack */
		{ 0x7000, "01234567" },
		{ 0x7100, "89abcdef" },
		{ 0x9000, "cut off" },
	};
	struct perf_pieces p;
	const uint8_t *stack;
	uint64_t word;
	size_t size;

	(void)state;
	perf_pieces_init(&p, 1);
	take_places(&p, 0x1000, places, sizeof(places) - 1);
	take(&p, 0, 0x1000, 0x1000, "ghijklmn");
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_true(perf_pieces_read_near(&p, 0x7000, &word));
	assert_memory_equal(&word, "01234567", 8);
	assert_true(perf_pieces_read_near(&p, 0x7100, &word));
	assert_memory_equal(&word, "89abcdef", 8);
	assert_true(perf_pieces_read_near(&p, 0x70fc, &word)); /* of both */
	assert_memory_equal(&word, "\0\0\0\00089ab", 8);
	assert_false(perf_pieces_read_near(&p, 0x71f9, &word));
	assert_false(perf_pieces_read_near(&p, 0x9000, &word));
	assert_false(perf_pieces_read_near(&p, 0x1000, &word));
	assert_false(perf_pieces_read(&p, 0x7000, &word));
	stack = perf_pieces_stack(&p, &size);
	assert_non_null(stack);
	assert_int_equal(size, 8);
	perf_pieces_end(&p, 0);
	assert_false(perf_pieces_read_near(&p, 0x7000, &word));
	perf_pieces_fini(&p);
}

static void a_red_zone_that_is_missed_is_told_once(void **state)
{
	struct perf_pieces p;
	uint64_t word;

	(void)state;
	if (!PERF_PIECES_RED_BYTES)
		skip();
	perf_pieces_init(&p, 1);
	assert_false(perf_pieces_begin(&p, 0, 0x1000));
	assert_false(perf_pieces_read(&p, 0x1000 - PERF_PIECES_RED_BYTES, &word));
	assert_true(perf_pieces_end(&p, 0));
	assert_false(perf_pieces_end(&p, 0));

	assert_false(perf_pieces_begin(&p, 0, 0x1000));
	assert_false(perf_pieces_read(&p, 0x1000 - PERF_PIECES_RED_BYTES - 8, &word));
	assert_false(perf_pieces_read(&p, 0x2000, &word));
	assert_false(perf_pieces_end(&p, 0));
	perf_pieces_fini(&p);
}

static void pieces_of_another_stack_are_not_used(void **state)
{
	struct perf_pieces p;
	uint64_t word;

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0x1000, 0x3000, "01234567");
	assert_false(perf_pieces_begin(&p, 0, 0x2000));
	take(&p, 0, 0x2000, 0x4000, "89abcdef");
	assert_true(perf_pieces_begin(&p, 0, 0x2000));
	assert_true(reads(&p, 0x4000, "89abcdef"));
	assert_false(perf_pieces_read(&p, 0x3000, &word));
	perf_pieces_fini(&p);
}

static void of_a_sample_that_never_came_the_newer_piece_is_read(void **state)
{
	struct perf_pieces p;

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0x1000, 0x3000, "01234567");
	take(&p, 0, 0x1000, 0x3000, "89abcdef");
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_true(reads(&p, 0x3000, "89abcdef"));
	perf_pieces_fini(&p);
}

static void a_lost_sample_takes_its_pieces_along(void **state)
{
	struct perf_pieces p;

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0xf00, 0x1000, "01234567");
	perf_pieces_forget(&p);
	assert_false(perf_pieces_begin(&p, 0, 0xf00));
	perf_pieces_fini(&p);
}

static void the_last_piece_is_the_sample(void **state)
{
	struct perf_pieces p;
	struct perf_pieces_sample s;
	struct buf b = { 0 };

	(void)state;
	perf_pieces_init(&p, 1);
	take(&p, 0, 0x1000, 0x1000, "01234567");
	put_piece(&b, 3, 0x1000, 0x1008, "89abcdef");
	assert_true(perf_pieces_take(&p, 0, b.data, b.size, &s));
	assert_int_equal(s.stream, 2);
	assert_int_equal(s.data_addr, 0x77);
	assert_int_equal(s.regs[0], 0x55);
	assert_int_equal(s.regs[PERF_REGS_KERNEL_BYTES - 1], 0x55);
	assert_true(perf_pieces_begin(&p, 0, 0x1000));
	assert_true(reads(&p, 0x1004, "456789ab"));
	perf_pieces_end(&p, 0);
	buf_fini(&b);
	perf_pieces_fini(&p);
}

static void a_sample_may_have_no_stack(void **state)
{
	struct perf_pieces p;
	struct perf_pieces_sample s;
	struct buf b = { 0 };

	(void)state;
	perf_pieces_init(&p, 1);
	put_piece(&b, 1, 0, 0, "");
	assert_true(perf_pieces_take(&p, 0, b.data, b.size, &s));
	assert_int_equal(s.stream, 0);
	assert_false(perf_pieces_begin(&p, 0, 0));
	buf_fini(&b);
	perf_pieces_fini(&p);
}

static void a_piece_that_claims_more_than_it_holds_is_none(void **state)
{
	struct perf_deep_piece damaged = {
		.sp = 0xf00, .addr = 0x1000, .size = 9, .stream = 1
	};
	size_t head = offsetof(struct perf_deep_piece, bytes);
	struct perf_pieces_sample s;
	struct perf_pieces p;

	(void)state;
	perf_pieces_init(&p, 1);
	assert_false(perf_pieces_take(&p, 0, &damaged, head + 8, &s));
	assert_false(perf_pieces_take(&p, 0, &damaged, head - 1, &s));
	assert_false(perf_pieces_begin(&p, 0, 0xf00));
	assert_true(perf_pieces_take(&p, 0, &damaged, head + 9, &s));
	perf_pieces_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_belong_to_the_next_sample_of_their_cpu),
		cmocka_unit_test(runs_with_gaps_between_them_are_all_there),
		cmocka_unit_test(the_stack_is_the_run_that_the_stack_pointer_is_in),
		cmocka_unit_test(more_runs_than_there_is_room_for_are_left_out),
		cmocka_unit_test(what_is_near_registers_is_no_stack),
		cmocka_unit_test(a_red_zone_that_is_missed_is_told_once),
		cmocka_unit_test(pieces_of_another_stack_are_not_used),
		cmocka_unit_test(of_a_sample_that_never_came_the_newer_piece_is_read),
		cmocka_unit_test(a_lost_sample_takes_its_pieces_along),
		cmocka_unit_test(the_last_piece_is_the_sample),
		cmocka_unit_test(a_sample_may_have_no_stack),
		cmocka_unit_test(a_piece_that_claims_more_than_it_holds_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
