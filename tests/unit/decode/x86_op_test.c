/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_op.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <capstone/capstone.h>
#include <cmocka.h>

#include "decode/x86_writes.h"

#define R(n) (1u << (n))

static void sizes_operands_and_what_is_written_are_told(void **state)
{
	static const struct {
		const char *bytes;
		unsigned size, writes;
	} t[] = {
		{ "\x90", 1, R(0) },
		{ "\x48\x89\xe5", 3, R(X86_OP_RBP) },		      /* mov rbp, rsp */
		{ "\x88\xe5", 2, R(X86_OP_RCX) },		      /* mov ch, ah */
		{ "\x40\x88\xe5", 3, R(X86_OP_RBP) },		      /* mov bpl, spl */
		{ "\x41\x57", 2, R(X86_OP_RSP) },		      /* push r15 */
		{ "\x41\x5f", 2, R(15) | R(X86_OP_RSP) },	      /* pop r15 */
		{ "\x48\x81\xec\x00\x01\x00\x00", 7, R(X86_OP_RSP) }, /* sub rsp */
		{ "\x48\x83\xf8\x01", 4, 0 },			      /* cmp rax, 1 */
		{ "\x66\x81\xc3\x01\x02", 5, R(X86_OP_RBX) },	      /* add bx, n */
		{ "\x49\xbc\x01\x02\x03\x04\x05\x06\x07\x08", 10, R(12) },
		{ "\x66\xb8\x01\x02", 4, R(0) },
		{ "\xf6\xc3\x01", 3, 0 }, /* test bl, 1 */
		{ "\xf6\xdb", 2, R(X86_OP_RBX) },
		{ "\xf7\xe3", 2, R(0) | R(X86_OP_RDX) },
		{ "\x0f\xa2", 2, R(0) | R(1) | R(2) | R(3) },
		{ "\xc5\xfd\xd7\xec", 4, R(X86_OP_RBP) },     /* vpmovmskb */
		{ "\xc5\xf9\x7e\xed", 4, R(X86_OP_RBP) },     /* vmovd ebp, xmm5 */
		{ "\xf3\x0f\x7e\xed", 4, 0 },		      /* movq xmm5, xmm5 */
		{ "\xc4\xe2\xdb\xf6\xeb", 5, R(5) | R(4) },   /* mulx rbp, rsp, rbx */
		{ "\xc4\xe3\x7d\x39\xc5\x01", 6, 0 },	      /* vextracti128 */
		{ "\x62\xf1\x7c\x48\x28\x44\x24\x02", 8, 0 }, /* vmovaps, zmm */
		{ "\x67\xe8\x01\x02\x03\x04", 6, 0 },	      /* addr32 call */
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, 0 }, /* nop */
		{ "\x48\x8b\x05\x10\x20\x30\x40", 7, R(0) }, /* mov rax, n(rip) */
		{ "\x48\x66\x89\xd8", 4, R(0) },	     /* mov ax, bx */
		{ "\xc8\x10\x00\x00", 4, R(X86_OP_RSP) | R(X86_OP_RBP) }, /* enter */
		{ "\x64\x48\xa1\x28\0\0\0\0\0\0\0", 11, R(0) },	  /* mov rax, fs:n */
		{ "\x62\xf5\x7e\x08\x2d\xe9", 6, R(X86_OP_RBP) }, /* vcvtsh2si */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		struct x86_op op;

		memcpy(bytes, t[i].bytes, t[i].size);
		assert_true(x86_op_read(bytes, &op));
		assert_int_equal(op.size, t[i].size);
		assert_int_equal(x86_writes(&op), t[i].writes);
	}
}

static void a_memory_operand_has_its_base_and_distance(void **state)
{
	/* mov -0x18(%r12), %rax, and the same with an index */
	static const uint8_t plain[X86_OP_MAX_BYTES] = { 0x49, 0x8b, 0x44, 0x24, 0xe8 };
	static const uint8_t index[X86_OP_MAX_BYTES] = { 0x49, 0x8b, 0x44, 0x8c, 0xe8 };
	struct x86_op op;

	(void)state;
	assert_true(x86_op_read(plain, &op));
	assert_int_equal(op.base, 12);
	assert_int_equal(op.disp, -0x18);
	assert_false(op.has_index);
	assert_true(x86_op_read(index, &op));
	assert_true(op.has_index);
}

static void the_places_of_what_is_rewritten_are_told(void **state)
{
	static const struct {
		const char *bytes;
		unsigned size, modrm_off, disp_off;
		bool is_rip_relative;
	} t[] = {
		{ "\x48\x8b\x05\x10\x20\x30\x40", 7, 2, 3, true },
		{ "\xff\x25\x10\x20\x30\x40", 6, 1, 2, true },
		{ "\x83\x3d\x10\x20\x30\x40\x01", 7, 1, 2, true }, /* and a number */
		{ "\x62\xf1\x7c\x48\x28\x05\1\2\3\4", 10, 5, 6, true },
		{ "\x8b\x04\x25\1\2\3\4", 7, 1, 3, false }, /* an address */
		{ "\xff\x24\xc5\1\2\3\4", 7, 1, 3, false },
		{ "\x8b\x45\x08", 3, 1, 2, false },
		{ "\x8b\x03", 2, 1, 0, false },
		{ "\xb8\1\2\3\4", 5, 0, 0, false },
		{ "\x66\x0f\x78\xc3\1\2", 6, 3, 0, false },	/* extrq: two numbers */
		{ "\xf2\x0f\x78\xc3\1\2", 6, 3, 0, false },	/* insertq */
		{ "\x0f\x78\xc3", 3, 2, 0, false },		/* vmread: none */
		{ "\x62\xf1\x7e\x08\x78\xc3", 6, 5, 0, false }, /* vcvttss2usi: none */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		struct x86_op op;

		memcpy(bytes, t[i].bytes, t[i].size);
		assert_true(x86_op_read(bytes, &op));
		assert_int_equal(op.size, t[i].size);
		assert_int_equal(op.modrm_off, t[i].modrm_off);
		assert_int_equal(op.disp_off, t[i].disp_off);
		assert_int_equal(op.is_rip_relative, t[i].is_rip_relative);
	}
}

static void what_is_no_instruction_is_refused(void **state)
{
	static const char *const t[] = {
		"\x06",
		"\x0f\x04",
		"\x8f\xe8\x78\xc0\xc0\x01",
		"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66",
		"\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x48\x81\xc0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		struct x86_op op;

		memcpy(bytes, t[i], strlen(t[i]));
		assert_false(x86_op_read(bytes, &op));
	}
}

/* The number of a general register by any of its names, -1: it is none. */
static int number_of(csh cs, unsigned reg)
{
	static const char *const names[][4] = {
		{ "rax", "eax", "ax", "al" },	   { "rcx", "ecx", "cx", "cl" },
		{ "rdx", "edx", "dx", "dl" },	   { "rbx", "ebx", "bx", "bl" },
		{ "rsp", "esp", "sp", "spl" },	   { "rbp", "ebp", "bp", "bpl" },
		{ "rsi", "esi", "si", "sil" },	   { "rdi", "edi", "di", "dil" },
		{ "r8", "r8d", "r8w", "r8b" },	   { "r9", "r9d", "r9w", "r9b" },
		{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
		{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
		{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
		{ "ah", "ah", "ah", "ah" },	   { "ch", "ch", "ch", "ch" },
		{ "dh", "dh", "dh", "dh" },	   { "bh", "bh", "bh", "bh" },
	};
	const char *name = cs_reg_name(cs, reg);

	for (int i = 0; name && i < (int)(sizeof(names) / sizeof(names[0])); i++)
		for (int k = 0; k < 4; k++)
			if (strcmp(name, names[i][k]) == 0)
				return i % 16;
	return -1;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static uint16_t writes_of(csh cs, const cs_insn *insn)
{
	/* where capstone is wrong: test reads, and the others write less or rsp and back
	 */
	static const char *const exempt[] = { "test", "cdq", "cqo", "call", "ret", NULL };
	cs_regs read, written;
	uint8_t n_read, n_written;
	uint16_t writes = 0;

	if (is_one_of(insn->mnemonic, exempt))
		return 0;
	cs_regs_access(cs, insn, read, &n_read, written, &n_written);
	for (unsigned i = 0; i < n_written; i++) {
		int n = number_of(cs, written[i]);

		if (n >= 0)
			writes |= (uint16_t)R(n);
	}
	return writes;
}

static void compare(csh cs, const cs_insn *insn)
{
	uint8_t bytes[X86_OP_MAX_BYTES + 1] = { 0 };
	struct x86_op op;

	memcpy(bytes, insn->bytes, insn->size);
	if (!x86_op_read(bytes, &op))
		fail_msg("%s %s is refused", insn->mnemonic, insn->op_str);
	if (op.size != insn->size)
		fail_msg("%s %s: %u bytes, not %u", insn->mnemonic, insn->op_str, op.size,
			 insn->size);
	if (writes_of(cs, insn) & ~x86_writes(&op))
		fail_msg("%s %s writes %#x, not only %#x", insn->mnemonic, insn->op_str,
			 writes_of(cs, insn), x86_writes(&op));
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X))
			*(struct iovec *)ctx =
				(struct iovec){ (void *)(info->dlpi_addr + ph[i].p_vaddr),
						ph[i].p_memsz };
	return 1;
}

static void the_c_library_is_read_as_capstone_reads_it(void **state)
{
	struct iovec code = { 0 };
	const uint8_t *at;
	uint64_t address = 0;
	size_t left, n = 0;
	cs_insn *insn;
	csh cs;

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* minutes */
	dl_iterate_phdr(find_libc, &code);
	assert_non_null(code.iov_base);
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &cs), CS_ERR_OK);
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(cs);
	at = code.iov_base;
	left = code.iov_len;
	while (left) {
		if (cs_disasm_iter(cs, &at, &left, &address, insn)) {
			compare(cs, insn);
			n++;
		} else { /* it knows less */
			struct x86_op op;
			uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };

			memcpy(bytes, at, left < sizeof(bytes) ? left : sizeof(bytes));
			size_t size =
				x86_op_read(bytes, &op) && op.size <= left ? op.size : 1;

			at += size;
			left -= size;
		}
	}
	assert_in_range(n, 100000, SIZE_MAX);
	cs_free(insn, 1);
	cs_close(&cs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_operands_and_what_is_written_are_told),
		cmocka_unit_test(a_memory_operand_has_its_base_and_distance),
		cmocka_unit_test(the_places_of_what_is_rewritten_are_told),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(the_c_library_is_read_as_capstone_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
