/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decode/x86_op.h"
#include "insn/operation_aarch64.h"
#include "insn/operation_x86.h"

#define N_REGS OPERATION_N_REGS

struct operation_reader {
	const struct machine *machine;
	csh handle; /* 0: reads without the disassembler */
	cs_insn *in;
	uint8_t class_of[X86_INS_ENDING]; /* + 1; 0: not asked for yet */
};

struct machine {
	unsigned number; /* EM_… of <elf.h> */
	bool is_disassembled;
	bool (*read)(struct operation_reader *r, const uint8_t *code, size_t size,
		     uint64_t address, struct operation *ret);
	const char *(*mnemonic)(const struct operation_reader *r, uint16_t id);
	const char *const *registers;
	operation_registers
		changed_by_calls; /* by the usual ABI, and what is told there */
};

static bool read_unknown_x86(const uint8_t *code, size_t size, struct operation *ret)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	struct x86_op x;

	memcpy(bytes, code, size < sizeof(bytes) ? size : sizeof(bytes));
	if (!x86_op_read(bytes, &x) || x.size > size)
		return false;
	operation_x86_describe_unknown(&x, ret);
	return true;
}

static bool read_x86(struct operation_reader *r, const uint8_t *code, size_t size,
		     uint64_t address, struct operation *ret)
{
	const uint8_t *at = code;
	size_t left = size;
	uint8_t *class;

	if (!cs_disasm_iter(r->handle, &at, &left, &address, r->in))
		return read_unknown_x86(code, size, ret);
	class = &r->class_of[r->in->id < X86_INS_ENDING ? r->in->id : 0];
	if (!*class)
		*class = 1 +
			 (uint8_t)operation_x86_class(cs_insn_name(r->handle, r->in->id));
	operation_x86_describe(r->in, (enum operation_class)(*class - 1), ret);
	return true;
}

static const char *mnemonic_x86(const struct operation_reader *r, uint16_t id)
{
	return cs_insn_name(r->handle, id);
}

static bool read_aarch64(struct operation_reader *r, const uint8_t *code, size_t size,
			 uint64_t address, struct operation *ret)
{
	(void)r;
	return size >= 4 && operation_aarch64_describe(code, address, ret);
}

static const char *mnemonic_aarch64(const struct operation_reader *r, uint16_t id)
{
	(void)r;
	return operation_aarch64_mnemonic(id);
}

#define EIGHT(prefix, at, a, b, c, d, e, f, g, h)                                        \
	[at] = prefix #a, [at + 1] = prefix #b, [at + 2] = prefix #c,                    \
	[at + 3] = prefix #d, [at + 4] = prefix #e, [at + 5] = prefix #f,                \
	[at + 6] = prefix #g, [at + 7] = prefix #h
#define THIRTY_ONE(prefix, at)                                                           \
	EIGHT(prefix, at, 0, 1, 2, 3, 4, 5, 6, 7),                                       \
		EIGHT(prefix, at + 8, 8, 9, 10, 11, 12, 13, 14, 15),                     \
		EIGHT(prefix, at + 16, 16, 17, 18, 19, 20, 21, 22, 23),                  \
		[at + 24] = prefix "24", [at + 25] = prefix "25",                        \
		      [at + 26] = prefix "26", [at + 27] = prefix "27",                  \
		      [at + 28] = prefix "28", [at + 29] = prefix "29",                  \
		      [at + 30] = prefix "30"

static const char *const registers_x86[N_REGS] = {
	"rax",
	"rcx",
	"rdx",
	"rbx",
	"rsp",
	"rbp",
	"rsi",
	"rdi",
	EIGHT("r", 8, 8, 9, 10, 11, 12, 13, 14, 15),
	THIRTY_ONE("zmm", OPERATION_REG_VECTOR),
	[OPERATION_REG_VECTOR + 31] = "zmm31",
	EIGHT("k", OPERATION_REG_MASK, 0, 1, 2, 3, 4, 5, 6, 7),
	[OPERATION_REG_FLAGS] = "flags",
	[OPERATION_REG_X87] = "st",
	[OPERATION_REG_SEGMENT_BASE] = "fs/gs",
};

static const char *const registers_aarch64[N_REGS] = {
	THIRTY_ONE("x", OPERATION_REG_GENERAL),
	[OPERATION_REG_GENERAL + 31] = "sp",
	THIRTY_ONE("v", OPERATION_REG_VECTOR),
	[OPERATION_REG_VECTOR + 31] = "v31",
	EIGHT("p", OPERATION_REG_MASK, 0, 1, 2, 3, 4, 5, 6, 7),
	EIGHT("p", OPERATION_REG_MASK + 8, 8, 9, 10, 11, 12, 13, 14, 15),
	[OPERATION_REG_FLAGS] = "flags",
};

/* n registers from that one on. */
#define SET(first, n) ((((operation_registers)1 << (n)) - 1) << (first))
#define NOT_GENERAL   SET(OPERATION_N_GENERAL, OPERATION_N_REGS - OPERATION_N_GENERAL)

static const struct machine machines[] = {
	/* All but rbx, rsp, rbp, and r12 to r15. */
	{ EM_X86_64, true, read_x86, mnemonic_x86, registers_x86,
	  NOT_GENERAL | SET(0, 3) | SET(6, 6) },
	/* All but x19 to x29, sp, and v8 to v15. */
	{ EM_AARCH64, false, read_aarch64, mnemonic_aarch64, registers_aarch64,
	  (NOT_GENERAL & ~SET(OPERATION_REG_VECTOR + 8, 8)) | SET(0, 19) | SET(30, 1) },
};

static const struct machine *find_machine(unsigned number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].number == number)
			return &machines[i];
	return NULL;
}

operation_registers operation_changed_by_calls(unsigned machine)
{
	const struct machine *m = find_machine(machine);

	return m ? m->changed_by_calls : 0;
}

static int open_disassembler(struct operation_reader *r, struct err *e)
{
	cs_err rc = cs_open(CS_ARCH_X86, CS_MODE_64, &r->handle);

	if (rc != CS_ERR_OK)
		return err_set(e, ERR_UNSUPPORTED, "decoder: %s", cs_strerror(rc));
	cs_option(r->handle, CS_OPT_DETAIL, CS_OPT_ON);
	r->in = cs_malloc(r->handle);
	return r->in ? 0 : err_set(e, ERR_LIMIT, "decoder: out of memory");
}

int operation_reader_new(unsigned machine, struct operation_reader **ret, struct err *e)
{
	own(operation_reader_freep) struct operation_reader *r = xcalloc(1, sizeof(*r));
	int rc = 0;

	r->machine = find_machine(machine);
	if (!r->machine)
		return err_set(e, ERR_UNSUPPORTED,
			       "no machine models for ELF machine number %u", machine);
	if (r->machine->is_disassembled)
		rc = open_disassembler(r, e);
	if (rc < 0)
		return rc;
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

bool operation_read(struct operation_reader *r, const uint8_t *code, size_t size,
		    uint64_t address, struct operation *ret)
{
	return r->machine->read(r, code, size, address, ret);
}

const char *operation_mnemonic(const struct operation_reader *r, uint16_t id)
{
	return r->machine->mnemonic(r, id);
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

const char *operation_register_name(const struct operation_reader *r, unsigned reg)
{
	const char *name = reg < N_REGS ? r->machine->registers[reg] : NULL;

	return name ? name : "?";
}
