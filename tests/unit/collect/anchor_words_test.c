/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"
#include "memory_of_others.h"

#define PAGE 4096

enum { RBX = 3, RSP, R12 = 12 };

/* Three pages, of which the last is nobody's. */
static uint64_t *two_pages(void)
{
	char *at = mmap(NULL, (size_t)3 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(munmap(at + 2 * PAGE, PAGE), 0);
	return (uint64_t *)at;
}

static void words_near_registers_are_known(void **state)
{
	own(anchor_words_fini) struct anchor_words w = { 0 };
	const struct anchor_words_named none = { 0 };
	uint64_t *at = two_pages(), value;
	struct count_stand stand = { .tid = getpid() };

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	stand.native.regs[RSP] = (uint64_t)(at + 512) - 16;
	stand.native.regs[RBX] = (uint64_t)at + 3;
	stand.native.regs[R12] = 77; /* no address */
	at[0] = 5;
	at[510] = 6;
	at[1023] = 8;
	anchor_words_take(&w, &stand, &none);
	assert_true(anchor_words_find(&w, (uint64_t)at, &value));
	assert_int_equal(value, 5);
	assert_true(anchor_words_find(&w, (uint64_t)(at + 510), &value));
	assert_int_equal(value, 6);
	/* Half of what would be the stack is not there. */
	assert_true(anchor_words_find(&w, (uint64_t)(at + 512), &value));
	assert_false(anchor_words_find(&w, (uint64_t)(at + 1024), &value));
	assert_false(anchor_words_find(&w, (uint64_t)(at + 200), &value));
	for (size_t i = 1; i < w.areas.n; i++)
		assert_true(w.areas.at[i - 1].addr + 8 * w.areas.at[i - 1].n <=
			    w.areas.at[i].addr);
	munmap(at, (size_t)2 * PAGE);
}

static void the_same_words_are_taken_again(void **state)
{
	own(anchor_words_fini) struct anchor_words w = { 0 }, again = { 0 };
	const struct anchor_words_named none = { 0 };
	uint64_t *at = two_pages(), value;
	struct count_stand stand = { .tid = getpid() };

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	stand.native.regs[RBX] = (uint64_t)(at + 520);
	stand.native.regs[R12] = (uint64_t)at;
	anchor_words_take(&w, &stand, &none);
	at[0] = 9;
	munmap(at + 512, PAGE);
	anchor_words_take_as(&again, &w, stand.tid);
	assert_true(anchor_words_find(&w, (uint64_t)at, &value));
	assert_int_equal(value, 0);
	assert_true(anchor_words_find(&again, (uint64_t)at, &value));
	assert_int_equal(value, 9);
	assert_true(anchor_words_find(&w, (uint64_t)(at + 520), &value));
	assert_false(anchor_words_find(&again, (uint64_t)(at + 520), &value));
	munmap(at, PAGE);
}

static void code_names_words_by_its_own_address(void **state)
{
	static const uint8_t code[] = {
		0x48, 0xff, 0x05, 0x10, 0x00, 0x00, 0x00, /* incq 0x10(%rip) */
		0x48, 0x01, 0xc8,			  /* add %rcx, %rax */
		0x48, 0xff, 0x43, 0x10,			  /* incq 0x10(%rbx) */
		0x83, 0x2d, 0xf0, 0xff, 0xff, 0xff, 0x01, /* subl $1, -0x10(%rip) */
		0x48, 0xff,				  /* cut off */
	};
	struct anchor_words_named named = { 0 };

	(void)state;
	anchor_words_name(&named, code, sizeof(code), 0x1000);
	assert_int_equal(named.at.n, 2);
	assert_int_equal(named.at.at[0], 0x1017);
	assert_int_equal(named.at.at[1], 0x1005);
	vec_fini(&named.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_near_registers_are_known),
		cmocka_unit_test(the_same_words_are_taken_again),
		cmocka_unit_test(code_names_words_by_its_own_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
