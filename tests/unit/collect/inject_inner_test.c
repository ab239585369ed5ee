/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_inner.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/inject_place.h"

#define BASE	    UINT64_C(0x7f0000000000)
#define PAGE	    4096
#define CODE	    (BASE + PAGE)
#define END	    (CODE + PAGE)
#define JUMP	    (END - 16)
#define SPAWN	    (CODE + 0x100)
#define OTHER	    (CODE + 0x180)
#define OURS	    (INJECT_PLACE_FIRST + 0x9000)
#define INDEX	    (BASE + 0x400)
#define INDEX_BYTES 0x40
#define K	    INJECT_CALL_posix_spawn
#define MAPS                                                                             \
	"7f0000000000-7f0000001000 r--p 00000000 fd:00 77 /l/libc.so.6\n"                \
	"7f0000001000-7f0000002000 r-xp 00001000 fd:00 77 /l/libc.so.6\n"                \
	"7f0000002000-7f0000003000 rw-p 00002000 fd:00 77 /l/libc.so.6\n"

/* An object of a header and a page of code; what there was. */
static uint8_t memory[2 * PAGE], before[2 * PAGE];
static size_t n_writes, writes_max;

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t bytes)
{
	(void)ctx;
	if (at < BASE || at + bytes > BASE + sizeof(memory))
		return false;
	memcpy(to, memory + (at - BASE), bytes);
	return true;
}

static bool write_word(void *ctx, uint64_t at, uint64_t value)
{
	(void)ctx;
	if (n_writes++ >= writes_max)
		return false;
	assert_in_range(at, CODE, END - sizeof(value));
	memcpy(memory + (at - BASE), &value, sizeof(value));
	return true;
}

static const struct inject_memory process = { .read = read_bytes };

static void put(uint64_t at, const void *bytes, size_t n)
{
	memcpy(memory + (at - BASE), bytes, n);
}

static void put_call(uint64_t at, uint64_t to)
{
	int32_t word = (int32_t)(to - (at + 5));

	put(at, "\xe8", 1);
	put(at + 1, &word, sizeof(word));
}

static uint64_t goes_to(uint64_t at)
{
	int32_t word;

	memcpy(&word, memory + (at - BASE) + 1, sizeof(word));
	return at + 5 + (uint64_t)(int64_t)word;
}

/* Calls of the first procedure, and of the second. */
#define FIRST	  (CODE + 1)
#define SECOND	  (CODE + 11)
#define ELSEWHERE (CODE + 16)
#define THIRD	  (CODE + 0x40)

static void set_up(struct inject_calls *c)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_machine = EM_X86_64,
			      .e_phoff = sizeof(header),
			      .e_phnum = 2 };
	Elf64_Phdr phdrs[2] = {
		{ .p_type = PT_LOAD, .p_vaddr = 0 },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_vaddr = INDEX - BASE,
		  .p_memsz = INDEX_BYTES },
	};
	/* Version; encodings: 4 bytes from here, 4 bytes, 4 bytes from the header. */
	struct {
		uint8_t version, frame, count, table;
		int32_t at;
		uint32_t n;
		int32_t entries[2][2];
	} index = { 1, 0x1b, 0x03, 0x3b, 0x100, 2, { { 0 } } };

	index.entries[0][0] = (int32_t)(CODE - INDEX);
	index.entries[1][0] = (int32_t)(THIRD - INDEX);
	*c = (struct inject_calls){ 0 };
	c->of[K].address = SPAWN;
	c->wrapper[K] = OURS;
	memset(memory, 0, sizeof(memory));
	put(BASE, &header, sizeof(header));
	put(BASE + sizeof(header), phdrs, sizeof(phdrs));
	put(INDEX, &index, sizeof(index));
	put(CODE, "\x55", 1);
	put_call(FIRST, SPAWN);
	memset(memory + (FIRST + 5 - BASE), 0x90, SECOND - (FIRST + 5));
	put_call(SECOND, SPAWN);
	put_call(ELSEWHERE, OTHER);
	put_call(THIRD, SPAWN);
	put(END - 80, "\xc3\xc3\xc3\xc3", 4);
	memcpy(before, memory, sizeof(before));
	n_writes = 0;
	writes_max = SIZE_MAX;
}

static void find(struct inject_inner *i, const struct inject_calls *c)
{
	inject_inner_find(i, c, &process, MAPS, sizeof(MAPS) - 1);
}

static size_t lead(struct inject_inner *i, const struct inject_calls *c, bool is_for_real)
{
	return inject_inner_lead(i, c, &process, is_for_real ? write_word : NULL, NULL);
}

static void lead_back(const struct inject_inner *i, const struct inject_calls *c)
{
	inject_inner_lead_back(i, c, &process, write_word, NULL);
}

static void check_jump(uint64_t to)
{
	assert_memory_equal(memory + (JUMP - BASE), "\xff\x25\x02\0\0\0", 6);
	assert_memory_equal(memory + (JUMP - BASE) + 8, &to, sizeof(to));
}

static void calls_are_led_by_a_jump_behind_the_code_and_back(void **state)
{
	struct inject_inner i = { 0 };
	struct inject_calls c;

	(void)state;
	set_up(&c);
	find(&i, &c);
	assert_int_equal(lead(&i, &c, false), 3);
	assert_memory_equal(memory, before, sizeof(memory));
	assert_int_equal(lead(&i, &c, true), 3);
	check_jump(OURS);
	assert_int_equal(goes_to(FIRST), JUMP);
	assert_int_equal(goes_to(SECOND), JUMP);
	assert_int_equal(goes_to(THIRD), JUMP);
	assert_int_equal(goes_to(ELSEWHERE), OTHER);
	assert_int_equal(lead(&i, &c, true), 0);
	find(&i, &c);
	assert_int_equal(lead(&i, &c, true), 0);
	lead_back(&i, &c);
	assert_memory_equal(memory, before, JUMP - BASE);
	check_jump(OURS);
	inject_inner_fini(&i);
}

static void what_only_looks_like_a_call_is_left_alone(void **state)
{
	struct inject_inner i = { 0 };
	struct inject_calls c;

	(void)state;
	set_up(&c);
	/* The call at FIRST is a number of what begins before it. */
	put(CODE, "\x48\xb8", 2);
	put_call(CODE + 2, SPAWN);
	memset(memory + (CODE + 7 - BASE), 0x90, 4);
	memcpy(before, memory, sizeof(before));
	find(&i, &c);
	assert_int_equal(lead(&i, &c, true), 2);
	assert_memory_equal(memory + PAGE, before + PAGE, 11);
	assert_int_equal(goes_to(SECOND), JUMP);
	lead_back(&i, &c);
	assert_memory_equal(memory, before, JUMP - BASE);
	inject_inner_fini(&i);
}

static void calls_that_one_who_was_killed_has_led_are_found_again(void **state)
{
	struct inject_inner was = { 0 }, i = { 0 };
	struct inject_calls c;

	(void)state;
	set_up(&c);
	find(&was, &c);
	c.wrapper[K] = OURS + INJECT_PLACE_STRIDE;
	lead(&was, &c, true);
	c.wrapper[K] = OURS;
	find(&i, &c);
	assert_int_equal(lead(&i, &c, false), 3);
	assert_int_equal(lead(&i, &c, true), 3);
	check_jump(OURS);
	assert_int_equal(lead(&i, &c, true), 0);
	lead_back(&i, &c);
	assert_memory_equal(memory, before, JUMP - BASE);
	inject_inner_fini(&was);
	inject_inner_fini(&i);
}

static void a_call_that_was_led_elsewhere_meanwhile_stays_there(void **state)
{
	struct inject_inner i = { 0 };
	struct inject_calls c;

	(void)state;
	set_up(&c);
	find(&i, &c);
	lead(&i, &c, true);
	put_call(SECOND, OTHER);
	lead_back(&i, &c);
	assert_int_equal(goes_to(FIRST), SPAWN);
	assert_int_equal(goes_to(SECOND), OTHER);
	inject_inner_fini(&i);
}

static void where_there_is_no_room_or_no_index_nothing_is_led(void **state)
{
	struct inject_calls c;

	(void)state;
	for (unsigned way = 0; way < 6; way++) {
		struct inject_inner i = { 0 };

		set_up(&c);
		if (way == 0)
			put(JUMP - 1, "\xc3", 1);
		if (way == 1)
			put(JUMP, "\xff", 1);
		if (way == 2)
			put(INDEX, "\2", 1);
		if (way == 3)
			c.wrapper[K] = 0;
		if (way == 4)
			c.of[K].address = 0;
		if (way == 5)
			writes_max = 0;
		memcpy(before, memory, sizeof(before));
		find(&i, &c);
		assert_int_equal(lead(&i, &c, true), 0);
		assert_int_equal(lead(&i, &c, false), 0);
		assert_memory_equal(memory, before, sizeof(memory));
		inject_inner_fini(&i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_led_by_a_jump_behind_the_code_and_back),
		cmocka_unit_test(what_only_looks_like_a_call_is_left_alone),
		cmocka_unit_test(calls_that_one_who_was_killed_has_led_are_found_again),
		cmocka_unit_test(a_call_that_was_led_elsewhere_meanwhile_stays_there),
		cmocka_unit_test(where_there_is_no_room_or_no_index_nothing_is_led),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
