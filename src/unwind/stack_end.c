/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/stack_end.h"

#include <string.h>

/* Start functions keep few registers and have small frames. */
#define WORDS_MAX 32

/* Of musl's _start: xor %rbp, %rbp; mov %rsp, %rdi; lea n(%rip), %rsi; and $-16, %rsp;
 * call.  There is nothing behind the call. */
static const uint8_t start_begin[] = { 0x48, 0x31, 0xed, 0x48, 0x89,
				       0xe7, 0x48, 0x8d, 0x35 };
static const uint8_t start_end[] = { 0x48, 0x83, 0xe4, 0xf0, 0xe8 };
#define START_GAP   4 /* n */
#define START_BYTES (sizeof(start_begin) + START_GAP + sizeof(start_end) + 4)

/* Of its clone, behind the call: mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall;
 * hlt. */
static const uint8_t clone_end[] = {
	0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4
};

static bool read_bytes(const struct no_table_code *code, uint64_t addr, uint8_t *ret,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i += 8) {
		uint64_t word;

		if (!code->read(code->ctx, addr + i, &word))
			return false;
		memcpy(ret + i, &word, n - i < 8 ? n - i : 8);
	}
	return true;
}

bool stack_end_is(const struct abi *abi, const struct no_table_code *code, uint64_t addr)
{
	uint8_t before[START_BYTES], after[sizeof(clone_end)];

	if (abi->has_link_register)
		return false;
	if (read_bytes(code, addr, after, sizeof(after)) &&
	    memcmp(after, clone_end, sizeof(clone_end)) == 0)
		return true;
	return read_bytes(code, addr - START_BYTES, before, sizeof(before)) &&
	       memcmp(before, start_begin, sizeof(start_begin)) == 0 &&
	       memcmp(before + sizeof(start_begin) + START_GAP, start_end,
		      sizeof(start_end)) == 0;
}

bool stack_end_find(const struct abi *abi, const struct no_table_code *code,
		    const struct stack_memory *m, uint64_t sp, uint64_t *ret)
{
	if (abi->has_link_register)
		return false;
	for (unsigned i = 0; i < WORDS_MAX; i++) {
		uint64_t word, slot = sp + (uint64_t)i * 8;

		if (!stack_memory_word(m, slot, &word))
			return false;
		if (!no_table_is_return(abi, code, word))
			continue;
		*ret = slot;
		return stack_end_is(abi, code, word);
	}
	return false;
}
