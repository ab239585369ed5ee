/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x1000)
#define CALL UINT64_C(0x7000)
#define OURS UINT64_C(0x9000)
#define LO   UINT64_C(0x8000)
#define HI   UINT64_C(0xa000)

/* A process of 8 slots, and behind them the code that looks something up. */
static uint64_t memory[11];
#define SLOT(i) (BASE + UINT64_C(8) * (i))
#define LOOKUP	SLOT(8)

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

static const struct inject_memory process = { .read = read_word };

struct fixture {
	struct inject_calls calls;
	struct inject_slots slots;
	struct inject_objects objects;
};

static void set_up(struct fixture *f, uint64_t value)
{
	*f = (struct fixture){ 0 };
	f->calls.of[0].address = CALL;
	f->calls.wrapper[0] = OURS;
	*vec_push(&f->slots.of) = (struct inject_slot){ .at = SLOT(2), .number = 3 };
	*vec_push(&f->objects.at) = (struct inject_object){ .bias = 5, .dynamic = 6 };
	memset(memory, 0, sizeof(memory));
	memcpy(&memory[8], "\xf3\x0f\x1e\xfa\x68\3\0\0\0\xe9\0\0\0\0\x68\2", 16);
	memory[2] = value;
}

static void tear_down(struct fixture *f)
{
	inject_slots_fini(&f->slots);
	inject_objects_fini(&f->objects);
}

static size_t patch(struct fixture *f, bool is_for_real)
{
	return inject_slots_patch(&f->slots, &f->calls, &process, LO, HI,
				  is_for_real ? write_word : NULL, NULL);
}

static void restore(struct fixture *f)
{
	inject_slots_restore(&f->slots, &f->calls, &process, &f->objects, &f->objects,
			     write_word, NULL);
}

static void what_is_understood_is_led_to_us_and_back(void **state)
{
	static const struct {
		uint64_t was, is, restored;
	} cases[] = {
		{ CALL, OURS, CALL },
		{ LOOKUP, OURS, LOOKUP },
		{ LOOKUP + 4, OURS, LOOKUP + 4 },
		{ LOOKUP + 14, LOOKUP + 14, LOOKUP + 14 }, /* of another slot */
		{ LO + 8, OURS, CALL },			   /* of one who was killed */
		{ OURS, OURS, CALL },
		{ 0x36, 0x36, 0x36 },	       /* its object is being loaded */
		{ SLOT(0), SLOT(0), SLOT(0) }, /* another's call of that name */
		{ 0, 0, 0 },		       /* there is none */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		set_up(&f, cases[i].was);
		assert_int_equal(patch(&f, false), cases[i].was != cases[i].is);
		assert_int_equal(memory[2], cases[i].was);
		patch(&f, true);
		assert_int_equal(memory[2], cases[i].is);
		assert_int_equal(patch(&f, true), 0);
		restore(&f);
		assert_int_equal(memory[2], cases[i].restored);
		tear_down(&f);
	}
}

static void what_may_look_up_another_version_stays_until_it_has(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, LOOKUP);
	f.calls.has_older[0] = true;
	assert_int_equal(patch(&f, true), 0);
	assert_int_equal(memory[2], LOOKUP);
	memory[2] = CALL;
	assert_int_equal(patch(&f, true), 1);
	assert_int_equal(memory[2], OURS);
	tear_down(&f);
	set_up(&f, LOOKUP);
	f.calls.has_older[0] = true;
	f.slots.of.at[0].means_newer = true;
	assert_int_equal(patch(&f, true), 1);
	assert_int_equal(memory[2], OURS);
	tear_down(&f);
}

/* What the linker has found by a symbol that was led. */
static void a_word_of_data_is_led_back_and_from_one_of_ours_to_another(void **state)
{
	static const struct {
		uint64_t was, is, restored;
	} cases[] = {
		{ CALL, CALL, CALL },
		{ LOOKUP, LOOKUP, LOOKUP },
		{ LO + 8, OURS, CALL },
		{ OURS, OURS, CALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		set_up(&f, cases[i].was);
		f.slots.of.at[0].number = INJECT_TABLES_DATA;
		assert_int_equal(patch(&f, true), cases[i].was != cases[i].is);
		assert_int_equal(memory[2], cases[i].is);
		restore(&f);
		assert_int_equal(memory[2], cases[i].restored);
		tear_down(&f);
	}
}

static void what_the_program_has_led_elsewhere_since_stays(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, CALL);
	patch(&f, true);
	memory[2] = 0x1234;
	restore(&f);
	assert_int_equal(memory[2], 0x1234);
	tear_down(&f);
}

static void slots_of_objects_that_are_gone_are_not_touched(void **state)
{
	struct inject_objects none = { 0 };
	struct fixture f;

	(void)state;
	set_up(&f, CALL);
	patch(&f, true);
	inject_slots_restore(&f.slots, &f.calls, &process, &f.objects, &none, write_word,
			     NULL);
	assert_int_equal(memory[2], OURS);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_word_of_data_is_led_back_and_from_one_of_ours_to_another),
		cmocka_unit_test(what_is_understood_is_led_to_us_and_back),
		cmocka_unit_test(what_may_look_up_another_version_stays_until_it_has),
		cmocka_unit_test(what_the_program_has_led_elsewhere_since_stays),
		cmocka_unit_test(slots_of_objects_that_are_gone_are_not_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
