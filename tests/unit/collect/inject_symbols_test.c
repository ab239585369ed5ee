/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "collect/inject_place.h"

#define BASE UINT64_C(0x1000)
#define BIAS UINT64_C(0x7f0000000000) /* above us: the word is less than nothing */
#define CALL (BIAS + 0x700)
#define OURS (INJECT_PLACE_FIRST + 0x9000)
#define LATE 1

/* A process of two symbols. */
static uint64_t memory[2];

static bool read_word(void *ctx, uint64_t at, void *to, size_t bytes)
{
	(void)ctx;
	if (at < BASE || at + bytes > BASE + sizeof(memory))
		return false;
	memcpy(to, (const char *)memory + (at - BASE), bytes);
	return true;
}

static bool write_word(void *ctx, uint64_t at, uint64_t value)
{
	(void)ctx;
	memory[(at - BASE) / 8] = value;
	return true;
}

static bool write_nothing(void *ctx, uint64_t at, uint64_t value)
{
	(void)ctx, (void)at, (void)value;
	return false;
}

static const struct inject_memory process = { .read = read_word };

static void set_up(struct inject_calls *c, uint64_t address)
{
	*c = (struct inject_calls){ 0 };
	c->of[LATE].address = CALL;
	c->wrapper[LATE] = OURS;
	c->symbol[LATE] = (struct inject_symbol){ BASE + 8, BIAS };
	memory[0] = 0x1234;
	memory[1] = address - BIAS;
}

static void a_symbol_is_led_to_us_and_back(void **state)
{
	static const struct {
		uint64_t was, is, restored;
	} cases[] = {
		{ CALL, OURS, CALL },
		{ OURS, OURS, CALL },
		{ OURS + 8 + INJECT_PLACE_STRIDE, OURS, CALL }, /* of who was killed */
		{ CALL + 8, CALL + 8, CALL + 8 },		/* another object's */
		{ INJECT_PLACE_END, INJECT_PLACE_END, INJECT_PLACE_END },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct inject_calls c;

		set_up(&c, cases[i].was);
		assert_int_equal(inject_symbols_lead(&c, &process, NULL, NULL),
				 cases[i].was != cases[i].is);
		assert_int_equal(memory[1], cases[i].was - BIAS);
		inject_symbols_lead(&c, &process, write_word, NULL);
		assert_int_equal(memory[1], cases[i].is - BIAS);
		assert_int_equal(inject_symbols_lead(&c, &process, NULL, NULL), 0);
		inject_symbols_lead_back(&c, &process, write_word, NULL);
		assert_int_equal(memory[1], cases[i].restored - BIAS);
		assert_int_equal(memory[0], 0x1234);
	}
}

static void what_is_not_wrapped_or_not_there_is_left_alone(void **state)
{
	struct inject_calls c;

	(void)state;
	set_up(&c, CALL);
	c.wrapper[LATE] = 0;
	assert_int_equal(inject_symbols_lead(&c, &process, write_word, NULL), 0);
	set_up(&c, CALL);
	c.symbol[LATE].at = BASE + sizeof(memory);
	assert_int_equal(inject_symbols_lead(&c, &process, write_word, NULL), 0);
	set_up(&c, CALL);
	c.symbol[LATE].at = 0;
	assert_int_equal(inject_symbols_lead(&c, &process, write_word, NULL), 0);
	assert_int_equal(memory[1], CALL - BIAS);
}

/* Else the process would stand for it again and again. */
static void what_cannot_be_written_is_not_tried_again(void **state)
{
	struct inject_calls c;

	(void)state;
	set_up(&c, CALL);
	assert_int_equal(inject_symbols_lead(&c, &process, write_nothing, NULL), 1);
	assert_int_equal(inject_symbols_lead(&c, &process, write_nothing, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_led_to_us_and_back),
		cmocka_unit_test(what_is_not_wrapped_or_not_there_is_left_alone),
		cmocka_unit_test(what_cannot_be_written_is_not_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
