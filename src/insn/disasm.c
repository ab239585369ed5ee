/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/disasm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "decode/x86_op.h"
#include "insn/mask_text.h"

/* What differs between the machines. */
struct machine {
	unsigned number; /* EM_… */
	cs_arch arch;
	cs_mode mode;
	uint8_t unit_bytes; /* what to skip when it is no instruction */
	/* Of one that is but too new for the disassembler, 0: it is none; or NULL. */
	size_t (*unknown_bytes)(const uint8_t *code, size_t size);
	/* The same, as text, of some of these; or NULL. */
	size_t (*read_unknown)(const uint8_t *code, size_t size, uint64_t address,
			       bool is_intel, struct disasm_instruction *ret);
	void (*describe)(const cs_insn *in, struct disasm_instruction *ret);
};

struct disasm {
	const struct machine *machine;
	csh handle;
	cs_insn *in;
	bool is_intel;
	disasm_name_fn *name;
	void *name_ctx;
};

static bool has_group(const cs_insn *in, uint8_t group)
{
	for (uint8_t i = 0; i < in->detail->groups_count; i++)
		if (in->detail->groups[i] == group)
			return true;
	return false;
}

static void describe_x86(const cs_insn *in, struct disasm_instruction *ret)
{
	const cs_x86 *x = &in->detail->x86;

	ret->is_conditional =
		ret->is_jump && in->id != X86_INS_JMP && in->id != X86_INS_LJMP;
	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_IMM && (ret->is_call || ret->is_jump)) {
			ret->has_target = true;
			ret->target = (uint64_t)op->imm;
		} else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
			ret->has_memory = true;
			ret->memory = in->address + in->size + (uint64_t)op->mem.disp;
		}
	}
}

static size_t unknown_bytes_x86(const uint8_t *code, size_t size)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	struct x86_op x;

	memcpy(bytes, code, size < sizeof(bytes) ? size : sizeof(bytes));
	return x86_op_read(bytes, &x) && x.size <= size ? x.size : 0;
}

static bool falls_through_aarch64(const cs_insn *in)
{
	switch (in->id) {
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return true;
	}
	return in->detail->arm64.cc != ARM64_CC_INVALID &&
	       in->detail->arm64.cc != ARM64_CC_AL && in->detail->arm64.cc != ARM64_CC_NV;
}

/* The target is the last operand: tbz w0, #3, target. */
static void describe_aarch64(const cs_insn *in, struct disasm_instruction *ret)
{
	const cs_arm64 *a = &in->detail->arm64;
	const cs_arm64_op *last = a->op_count ? &a->operands[a->op_count - 1] : NULL;

	ret->is_call = in->id == ARM64_INS_BL || in->id == ARM64_INS_BLR;
	ret->is_return = in->id == ARM64_INS_RET;
	ret->is_jump = ret->is_jump && !ret->is_call && !ret->is_return;
	ret->is_conditional = ret->is_jump && falls_through_aarch64(in);
	if (!last || last->type != ARM64_OP_IMM)
		return;
	if (ret->is_call || ret->is_jump) {
		ret->has_target = true;
		ret->target = (uint64_t)last->imm;
	} else if (in->id == ARM64_INS_ADR || in->id == ARM64_INS_ADRP) {
		ret->has_memory = true;
		ret->memory = (uint64_t)last->imm;
	}
}

static const struct machine machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1, unknown_bytes_x86, mask_text_read,
	  describe_x86 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, 1, NULL, NULL, describe_x86 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4, NULL, NULL,
	  describe_aarch64 },
};

int disasm_new(const struct disasm_options *options, struct disasm **ret, struct err *e)
{
	own(disasm_freep) struct disasm *d = xcalloc(1, sizeof(*d));

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].number == options->machine)
			d->machine = &machines[i];
	if (!d->machine)
		return err_set(e, ERR_UNSUPPORTED,
			       "no disassembler for ELF machine number %u",
			       options->machine);

	cs_err rc = cs_open(d->machine->arch, d->machine->mode, &d->handle);

	if (rc != CS_ERR_OK)
		return err_set(e, ERR_UNSUPPORTED, "disassembler: %s", cs_strerror(rc));
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (d->machine->arch == CS_ARCH_X86)
		cs_option(d->handle, CS_OPT_SYNTAX,
			  options->is_intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	d->in = cs_malloc(d->handle);
	if (!d->in)
		return err_set(e, ERR_LIMIT, "disassembler: out of memory");
	d->is_intel = options->is_intel;
	d->name = options->name;
	d->name_ctx = options->name_ctx;
	*ret = steal(&d);
	return 0;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->in)
		cs_free(d->in, 1);
	if (d->handle)
		cs_close(&d->handle);
	free(d);
}

void disasm_freep(struct disasm **d)
{
	disasm_free(*d);
}

static size_t take_unknown(const uint8_t *code, size_t n, struct disasm_instruction *ret)
{
	size_t at = 0;

	ret->size = (uint8_t)n;
	strcpy(ret->mnemonic, "(unknown)");
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(ret->operands + at, sizeof(ret->operands) - at,
				       "%02x", code[i]);
	return n;
}

static size_t take_bad(const struct disasm *d, const uint8_t *code, size_t size,
		       struct disasm_instruction *ret)
{
	size_t unknown =
		d->machine->unknown_bytes ? d->machine->unknown_bytes(code, size) : 0;
	size_t n = size < d->machine->unit_bytes ? size : d->machine->unit_bytes, at = 0;

	if (unknown)
		return take_unknown(code, unknown, ret);
	ret->is_bad = true;
	ret->size = (uint8_t)n;
	strcpy(ret->mnemonic, "(bad)");
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(ret->operands + at, sizeof(ret->operands) - at,
				       "%s0x%02x", i ? " " : "", code[i]);
	return n;
}

/* "0x401000 <main>" for a target, "… # 0x4040 <table>" for data. */
static void add_name(struct disasm *d, struct disasm_instruction *ret)
{
	size_t at = strlen(ret->operands), room = sizeof(ret->operands) - at;
	uint64_t address = ret->has_target ? ret->target : ret->memory;
	char name[128];
	bool has_name;

	if (!ret->has_target && !ret->has_memory)
		return;
	has_name = d->name && d->name(d->name_ctx, address, name, sizeof(name));
	if (ret->has_memory && !ret->has_target) {
		int n = snprintf(ret->operands + at, room, "  # 0x%" PRIx64, address);

		if (n < 0 || (size_t)n >= room)
			return;
		at += (size_t)n;
		room -= (size_t)n;
	}
	if (has_name)
		snprintf(ret->operands + at, room, " <%s>", name);
}

size_t disasm_decode(struct disasm *d, const uint8_t *code, size_t size, uint64_t address,
		     struct disasm_instruction *ret)
{
	const uint8_t *at = code;
	size_t left = size;
	uint64_t next = address;

	*ret = (struct disasm_instruction){ .address = address };
	if (!size)
		return 0;
	if (!cs_disasm_iter(d->handle, &at, &left, &next, d->in)) {
		if (!d->machine->read_unknown ||
		    !d->machine->read_unknown(code, size, address, d->is_intel, ret))
			return take_bad(d, code, size, ret);
		add_name(d, ret);
		return ret->size;
	}
	ret->size = (uint8_t)d->in->size;
	ret->is_call = has_group(d->in, CS_GRP_CALL);
	ret->is_return = has_group(d->in, CS_GRP_RET) || has_group(d->in, CS_GRP_IRET);
	ret->is_jump = has_group(d->in, CS_GRP_JUMP);
	snprintf(ret->mnemonic, sizeof(ret->mnemonic), "%s", d->in->mnemonic);
	snprintf(ret->operands, sizeof(ret->operands), "%s", d->in->op_str);
	d->machine->describe(d->in, ret);
	add_name(d, ret);
	return ret->size;
}
