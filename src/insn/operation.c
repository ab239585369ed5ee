/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decode/x86_op.h"
#include "insn/operation_x86.h"

struct operation_reader {
	csh handle;
	cs_insn *in;
	uint8_t class_of[X86_INS_ENDING]; /* + 1; 0: not asked for yet */
};

int operation_reader_new(unsigned machine, struct operation_reader **ret, struct err *e)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;

	if (machine != EM_X86_64)
		return err_set(e, ERR_UNSUPPORTED,
			       "no machine models for ELF machine number %u", machine);
	r = xcalloc(1, sizeof(*r));

	cs_err rc = cs_open(CS_ARCH_X86, CS_MODE_64, &r->handle);

	if (rc != CS_ERR_OK)
		return err_set(e, ERR_UNSUPPORTED, "decoder: %s", cs_strerror(rc));
	cs_option(r->handle, CS_OPT_DETAIL, CS_OPT_ON);
	r->in = cs_malloc(r->handle);
	if (!r->in)
		return err_set(e, ERR_LIMIT, "decoder: out of memory");
	*ret = steal(&r);
	return 0;
}

void operation_reader_free(struct operation_reader *r)
{
	if (!r)
		return;
	if (r->in)
		cs_free(r->in, 1);
	if (r->handle)
		cs_close(&r->handle);
	free(r);
}

void operation_reader_freep(struct operation_reader **r)
{
	operation_reader_free(*r);
}

static bool read_unknown(const uint8_t *code, size_t size, struct operation *ret)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	struct x86_op x;

	memcpy(bytes, code, size < sizeof(bytes) ? size : sizeof(bytes));
	if (!x86_op_read(bytes, &x) || x.size > size)
		return false;
	operation_x86_describe_unknown(&x, ret);
	return true;
}

bool operation_read(struct operation_reader *r, const uint8_t *code, size_t size,
		    uint64_t address, struct operation *ret)
{
	const uint8_t *at = code;
	size_t left = size;
	uint8_t *class;

	if (!cs_disasm_iter(r->handle, &at, &left, &address, r->in))
		return read_unknown(code, size, ret);
	class = &r->class_of[r->in->id < X86_INS_ENDING ? r->in->id : 0];
	if (!*class)
		*class = 1 +
			 (uint8_t)operation_x86_class(cs_insn_name(r->handle, r->in->id));
	operation_x86_describe(r->in, (enum operation_class)(*class - 1), ret);
	return true;
}

const char *operation_mnemonic(const struct operation_reader *r, uint16_t id)
{
	return cs_insn_name(r->handle, id);
}

static const char *const class_texts[] = {
#define OPERATION(name, text) text,
#include "insn/operations.def"
#undef OPERATION
};

const char *operation_class_text(enum operation_class class)
{
	return class_texts[class];
}

const char *operation_register_name(unsigned reg)
{
	static const char *const names[OPERATION_N_REGS] = {
		"rax",	 "rcx",	  "rdx",   "rbx",   "rsp",   "rbp",   "rsi",   "rdi",
		"r8",	 "r9",	  "r10",   "r11",   "r12",   "r13",   "r14",   "r15",
		"zmm0",	 "zmm1",  "zmm2",  "zmm3",  "zmm4",  "zmm5",  "zmm6",  "zmm7",
		"zmm8",	 "zmm9",  "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15",
		"zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23",
		"zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31",
		"k0",	 "k1",	  "k2",	   "k3",    "k4",    "k5",    "k6",    "k7",
		"flags", "st",	  "fs/gs",
	};

	return reg < OPERATION_N_REGS ? names[reg] : "?";
}
