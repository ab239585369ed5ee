/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/stack_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/abi.h"

#define CODE_ADDR  0x1000
#define STACK_ADDR 0x7000
#define NEXT	   (CODE_ADDR + 56) /* behind a call of something else */

/* The whole of musl's _start, and the end of its clone. */
static const char start[] = "\x48\x31\xed\x48\x89\xe7\x48\x8d\x35\x15\xef\xbf\xff"
			    "\x48\x83\xe4\xf0\xe8\x0c\x00\x00\x00";
static const char clone[] = "\x5f\x41\xff\xd1\x89\xc7\x31\xc0\xb0\x3c\x0f\x05\xf4";
#define START_SIZE (sizeof(start) - 1)
#define CLONE_CALL 4
#define START_ENDS (CODE_ADDR + START_SIZE)
#define CLONE_GOES (CODE_ADDR + 32 + CLONE_CALL)

static uint8_t code_bytes[80];

static bool read_code(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	if (addr < CODE_ADDR || addr - CODE_ADDR > sizeof(code_bytes) - 8)
		return false;
	memcpy(ret, code_bytes + (addr - CODE_ADDR), 8);
	return true;
}

static bool is_code(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr >= CODE_ADDR && addr < CODE_ADDR + sizeof(code_bytes);
}

static const struct no_table_code code = { read_code, is_code, is_code, NULL };

static int set_up(void **state)
{
	(void)state;
	memset(code_bytes, 0x90, sizeof(code_bytes));
	memcpy(code_bytes, start, START_SIZE);
	memcpy(code_bytes + 32, clone, sizeof(clone) - 1);
	code_bytes[NEXT - CODE_ADDR - 5] = 0xe8;
	return 0;
}

static void start_code_is_known_by_its_bytes(void **state)
{
	(void)state;
	assert_true(stack_end_is(&abi_x86_64, &code, START_ENDS));
	assert_true(stack_end_is(&abi_x86_64, &code, CLONE_GOES));
	assert_false(stack_end_is(&abi_x86_64, &code, START_ENDS - 1));
	assert_false(stack_end_is(&abi_x86_64, &code, NEXT));
	assert_false(stack_end_is(&abi_x86_64, &code, 16));
	assert_false(stack_end_is(&abi_aarch64, &code, START_ENDS));
}

static bool find(const uint64_t *words, size_t size, uint64_t *ret)
{
	struct stack_memory m = { (const uint8_t *)words, STACK_ADDR, size, NULL, NULL };

	return stack_end_find(&abi_x86_64, &code, &m, STACK_ADDR, ret);
}

static void what_start_code_called_ends_at_its_return_address(void **state)
{
	static const uint64_t program[] = { 1, 2, START_ENDS, 3 };
	static const uint64_t thread[] = { CLONE_GOES };
	uint64_t slot;

	(void)state;
	assert_true(find(program, sizeof(program), &slot));
	assert_int_equal(slot, STACK_ADDR + 16);
	assert_true(find(thread, sizeof(thread), &slot));
	assert_int_equal(slot, STACK_ADDR);
}

static void a_return_address_before_it_is_another_frames(void **state)
{
	static const uint64_t nested[] = { 1, NEXT, START_ENDS };
	static const uint64_t none[] = { 1, 2, CODE_ADDR + 70 };
	uint64_t slot;

	(void)state;
	assert_false(find(nested, sizeof(nested), &slot));
	assert_false(find(none, sizeof(none), &slot));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_code_is_known_by_its_bytes),
		cmocka_unit_test(what_start_code_called_ends_at_its_return_address),
		cmocka_unit_test(a_return_address_before_it_is_another_frames),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
