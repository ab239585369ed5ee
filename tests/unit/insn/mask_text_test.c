/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/mask_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START	   0x1000
#define CODE(text) text, sizeof(text) - 1

/* As the GNU assembler makes them of these texts. */
static const struct {
	const char *code;
	size_t size;
	const char *mnemonic, *operands, *intel;
	uint64_t memory;
} t[] = {
	{ CODE("\xc4\xe1\xf5\x41\xc2"), "kandd", "%k2, %k1, %k0", "k0, k1, k2", 0 },
	{ CODE("\xc5\xec\x42\xd9"), "kandnw", "%k1, %k2, %k3", "k3, k2, k1", 0 },
	{ CODE("\xc4\xe1\xf8\x44\xf5"), "knotq", "%k5, %k6", "k6, k5", 0 },
	{ CODE("\xc5\xf5\x4b\xc2"), "kunpckbw", "%k2, %k1, %k0", "k0, k1, k2", 0 },
	{ CODE("\xc4\xe1\xf4\x4b\xc2"), "kunpckdq", "%k2, %k1, %k0", "k0, k1, k2", 0 },
	{ CODE("\xc5\xfb\x93\xc1"), "kmovd", "%k1, %eax", "eax, k1", 0 },
	{ CODE("\xc4\xe1\xfb\x92\xc8"), "kmovq", "%rax, %k1", "k1, rax", 0 },
	{ CODE("\xc4\xc1\x78\x92\xf9"), "kmovw", "%r9d, %k7", "k7, r9d", 0 },
	{ CODE("\xc5\xf9\x90\x54\x24\x10"), "kmovb", "0x10(%rsp), %k2",
	  "k2, byte ptr [rsp + 0x10]", 0 },
	{ CODE("\xc4\xe1\xf8\x91\x5c\xcd\xf8"), "kmovq", "%k3, -8(%rbp, %rcx, 8)",
	  "qword ptr [rbp + rcx*8 - 8], k3", 0 },
	{ CODE("\xc4\xe1\xf9\x98\xc8"), "kortestd", "%k0, %k1", "k1, k0", 0 },
	{ CODE("\xc5\xf9\x99\xc8"), "ktestb", "%k0, %k1", "k1, k0", 0 },
	{ CODE("\xc4\xe3\xf9\x31\xd1\x0c"), "kshiftrq", "$0xc, %k1, %k2", "k2, k1, 0xc",
	  0 },
	{ CODE("\xc4\xe3\x79\x32\xd1\x03"), "kshiftlb", "$3, %k1, %k2", "k2, k1, 3", 0 },
	{ CODE("\x62\xf1\x7d\x20\x74\x07"), "vpcmpeqb", "(%rdi), %ymm16, %k0",
	  "k0, ymm16, ymmword ptr [rdi]", 0 },
	{ CODE("\x62\xf1\x75\x22\x74\x4c\x06\xff"), "vpcmpeqb",
	  "-0x20(%rsi, %rax), %ymm17, %k1 {%k2}",
	  "k1 {k2}, ymm17, ymmword ptr [rsi + rax - 0x20]", 0 },
	{ CODE("\x62\xf3\x6d\x22\x3f\x0f\x04"), "vpcmpneqb", "(%rdi), %ymm18, %k1 {%k2}",
	  "k1 {k2}, ymm18, ymmword ptr [rdi]", 0 },
	{ CODE("\x62\xf3\x6d\x48\x3e\xd9\x01"), "vpcmpltub", "%zmm1, %zmm2, %k3",
	  "k3, zmm2, zmm1", 0 },
	{ CODE("\x62\x93\x85\x08\x3f\xdf\x03"), "vpcmpw", "$3, %xmm31, %xmm15, %k3",
	  "k3, xmm15, xmm31, 3", 0 },
	{ CODE("\x62\x91\x5d\x40\x76\x4c\xa5\x04"), "vpcmpeqd",
	  "0x100(%r13, %r12, 4), %zmm20, %k1",
	  "k1, zmm20, zmmword ptr [r13 + r12*4 + 0x100]", 0 },
	{ CODE("\x62\xf3\xfd\x58\x1e\x08\x05"), "vpcmpnltuq", "(%rax){1to8}, %zmm0, %k1",
	  "k1, zmm0, qword ptr [rax]{1to8}", 0 },
	{ CODE("\x62\xf2\x66\x18\x27\x15\x08\x00\x00\x00"), "vptestnmd",
	  "8(%rip){1to4}, %xmm3, %k2", "k2, xmm3, dword ptr [rip + 8]{1to4}", 0x1012 },
	{ CODE("\x62\xf2\x7d\x28\x26\xc0"), "vptestmb", "%ymm0, %ymm0, %k0",
	  "k0, ymm0, ymm0", 0 },
	{ CODE("\x62\xf2\x7d\x28\x26\x80\xe0\x1f\x00\x00"), "vptestmb",
	  "0x1fe0(%rax), %ymm0, %k0", "k0, ymm0, ymmword ptr [rax + 0x1fe0]", 0 },
	{ CODE("\x62\xf2\x7d\x28\x26\x80\x01\x10\x00\x00"), "vptestmb",
	  "0x1001(%rax), %ymm0, %k0", "k0, ymm0, ymmword ptr [rax + 0x1001]", 0 },
	{ CODE("\x62\xe3\x75\x20\x25\x54\x17\xff\xde"), "vpternlogd",
	  "$0xde, -0x20(%rdi, %rdx), %ymm17, %ymm18",
	  "ymm18, ymm17, ymmword ptr [rdi + rdx - 0x20], 0xde", 0 },
	{ CODE("\x62\xf3\xfd\xc9\x25\xc0\xff"), "vpternlogq",
	  "$0xff, %zmm0, %zmm0, %zmm0 {%k1} {z}", "zmm0 {k1} {z}, zmm0, zmm0, 0xff", 0 },
	{ CODE("\x62\xe2\x7d\x28\x7a\xc6"), "vpbroadcastb", "%esi, %ymm16", "ymm16, esi",
	  0 },
	{ CODE("\x62\x42\xfd\xc9\x7c\xfa"), "vpbroadcastq", "%r10, %zmm31 {%k1} {z}",
	  "zmm31 {k1} {z}, r10", 0 },
	{ CODE("\xc5\xf9\x90\x0c\x25\x45\x23\x01\x00"), "kmovb", "0x12345, %k1",
	  "k1, byte ptr [0x12345]", 0 },
	{ CODE("\xc4\xa1\x78\x90\x0c\x4d\x00\x00\x00\x00"), "kmovw", "(, %r9, 2), %k1",
	  "k1, word ptr [r9*2]", 0 },
};

static void masks_are_read_as_they_were_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const uint8_t *code = (const uint8_t *)t[i].code;
		struct disasm_instruction a = { 0 }, b = { 0 };

		assert_int_equal(mask_text_read(code, t[i].size, START, false, &a),
				 t[i].size);
		assert_int_equal(mask_text_read(code, t[i].size, START, true, &b),
				 t[i].size);
		assert_int_equal(a.size, t[i].size);
		assert_string_equal(a.mnemonic, t[i].mnemonic);
		assert_string_equal(b.mnemonic, t[i].mnemonic);
		assert_string_equal(a.operands, t[i].operands);
		assert_string_equal(b.operands, t[i].intel);
		assert_int_equal(a.has_memory, t[i].memory != 0);
		assert_int_equal(a.memory, t[i].memory);
	}
}

static void nothing_behind_the_end_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (size_t n = 0; n < t[i].size; n++) {
			/* On the heap, where a checker sees what is read beyond. */
			uint8_t *part = malloc(n ? n : 1);
			struct disasm_instruction in = { 0 };

			assert_non_null(part);
			memcpy(part, t[i].code, n);
			assert_int_equal(mask_text_read(part, n, START, false, &in), 0);
			assert_int_equal(in.size, 0);
			free(part);
		}
}

/* Of these the length is known, or nothing at all. */
static void what_is_none_of_these_is_left_alone(void **state)
{
	static const struct {
		const char *code;
		size_t size;
	} none[] = {
		/* vpmadd52luq %ymm1,%ymm2,%ymm3; vmovdqa (%rdi),%ymm0; not %rax */
		{ CODE("\x62\xf2\xed\x28\xb4\xd9") },
		{ CODE("\xc5\xfd\x6f\x07") },
		{ CODE("\x48\xf7\xd0") },
		/* vpcmpeqb to %k8, to %k0 {z}; of 1024 bits; with bytes that come again
		 */
		{ CODE("\x62\x71\x7d\x20\x74\x07") },
		{ CODE("\x62\xf1\x7d\xa0\x74\x07") },
		{ CODE("\x62\xf1\x7d\x60\x74\x07") },
		{ CODE("\x62\xf1\x7d\x30\x74\x07") },
		/* kandd of 128 bits, with memory; knotq with a third register; kmovd of
		 * %k9 to memory */
		{ CODE("\xc4\xe1\xf1\x41\xc2") },
		{ CODE("\xc4\xe1\xf5\x41\x02") },
		{ CODE("\xc4\xe1\xf0\x44\xf5") },
		{ CODE("\xc4\x61\xf9\x91\x08") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct disasm_instruction in = { 0 };

		assert_int_equal(mask_text_read((const uint8_t *)none[i].code,
						none[i].size, START, false, &in),
				 0);
		assert_int_equal(in.mnemonic[0], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_are_read_as_they_were_written),
		cmocka_unit_test(nothing_behind_the_end_is_read),
		cmocka_unit_test(what_is_none_of_these_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
