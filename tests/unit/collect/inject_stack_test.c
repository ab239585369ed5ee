/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LO UINT64_C(0x468000000000)
#define HI UINT64_C(0x468004000000)

/* Two stacks with nothing between them. */
#define N_WORDS 1024
static const uint64_t bases[2] = { 0x7f0000000000, 0x7f0000100000 };
static uint64_t words[2][N_WORDS];
#define SP(stack, word) (bases[stack] + 8 * (uint64_t)(word))

static bool read_stack(void *ctx, uint64_t at, void *to, size_t bytes)
{
	(void)ctx;
	for (unsigned i = 0; i < 2; i++)
		if (at >= bases[i] && at + bytes <= bases[i] + sizeof(words[i])) {
			memcpy(to, (const char *)words[i] + (at - bases[i]), bytes);
			return true;
		}
	return false;
}

static bool leads(uint64_t sp)
{
	static const struct inject_memory m = { .read = read_stack };

	return inject_stack_leads(&m, sp, LO, HI);
}

/* Behind its return address. */
static void put_frame(unsigned stack, unsigned word, uint64_t sp)
{
	uint64_t *w = &words[stack][word];

	w[0] = 7;
	w[1] = 0;
	w[20] = sp;
	w[22] = 0x10246;
	w[23] = 0x002b000000000033;
}

static void set_up(void)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < N_WORDS; k++)
			words[i][k] = 0x1111111111111111 + k;
}

static void a_return_address_is_found_from_the_end_on(void **state)
{
	(void)state;
	set_up();
	words[0][700] = LO + 5;
	assert_true(leads(SP(0, 3)));
	assert_true(leads(SP(0, 700)));
	assert_false(leads(SP(0, 701)));
	words[0][700] = HI;
	assert_false(leads(SP(0, 3)));
}

static void what_a_handler_on_another_stack_has_interrupted_is_looked_at(void **state)
{
	static const unsigned places[] = { 20, 500, 511, 512, 990 };

	(void)state;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		set_up();
		words[1][300] = LO;
		put_frame(0, places[i], SP(1, 200));
		assert_true(leads(SP(0, 10)));
		assert_true(leads(SP(0, places[i])));
		assert_false(leads(SP(0, places[i] + 1)));
		put_frame(0, places[i], SP(1, 301));
		assert_false(leads(SP(0, 10)));
	}
}

static void handlers_that_interrupt_each_other_are_no_endless_work(void **state)
{
	(void)state;
	set_up();
	put_frame(0, 20, SP(1, 10));
	put_frame(1, 20, SP(0, 10));
	put_frame(1, 100, SP(1, 200));
	put_frame(0, 100, 0);
	assert_false(leads(SP(0, 10)));
}

static void what_is_too_much_may_lead_there(void **state)
{
	(void)state;
	set_up();
	for (unsigned i = 0; i < N_WORDS / 24; i++)
		put_frame(0, i * 24, 0x1000 + 8 * i);
	for (unsigned i = 0; i < N_WORDS / 24; i++)
		put_frame(1, i * 24, 0x9000 + 8 * i);
	assert_false(leads(SP(0, 1)));
	words[0][20] = SP(1, 0);
	assert_true(leads(SP(0, 0)));
}

static void note(void *ctx, uint64_t at)
{
	uint64_t **to = ctx;

	*(*to)++ = at;
}

static void contexts_are_told_by_where_they_lie(void **state)
{
	static const struct inject_memory m = { .read = read_stack };
	uint64_t found[8] = { 0 }, *to = found;

	(void)state;
	set_up();
	put_frame(0, 20, SP(0, 700)); /* on the same stack */
	put_frame(0, 500, SP(1, 40)); /* over the end of a piece */
	put_frame(1, 300, SP(0, 900));
	inject_stack_each(&m, SP(0, 10), note, &to);
	assert_int_equal(to - found, 3);
	assert_true(found[0] == SP(0, 20));
	assert_true(found[1] == SP(0, 500));
	assert_true(found[2] == SP(1, 300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_address_is_found_from_the_end_on),
		cmocka_unit_test(
			what_a_handler_on_another_stack_has_interrupted_is_looked_at),
		cmocka_unit_test(handlers_that_interrupt_each_other_are_no_endless_work),
		cmocka_unit_test(what_is_too_much_may_lead_there),
		cmocka_unit_test(contexts_are_told_by_where_they_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
