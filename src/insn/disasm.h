/* SPDX-License-Identifier: Apache-2.0
 *
 * disasm - machine code as text, one instruction at a time.
 *
 * Bytes that are no instruction come out as one "(bad)" and decoding goes on behind
 * them, so a whole function is always shown; an instruction whose length is all that is
 * known of it as "(unknown)" with its bytes.  One thread per disasm.
 */
#ifndef DWELL_INSN_DISASM_H
#define DWELL_INSN_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct disasm;

/* What stands at an address, "memcpy@plt" or "main+0x12", written to text of cap
 * bytes; false: nothing that has a name. */
typedef bool disasm_name_fn(void *ctx, uint64_t address, char *text, size_t cap);

struct disasm_options {
	unsigned machine;     /* EM_… of <elf.h>, as symbolizer_machine() tells */
	bool is_intel;	      /* x86 in Intel's syntax instead of AT&T's */
	disasm_name_fn *name; /* or NULL */
	void *name_ctx;
};

struct disasm_instruction {
	uint64_t address;
	uint8_t size;
	bool is_bad;
	bool is_call, is_jump, is_return;
	bool is_conditional; /* a jump that may fall through */
	bool has_target;     /* call or jump to a known place */
	uint64_t target;
	bool has_memory; /* an operand relative to the instruction: its address */
	uint64_t memory;
	char mnemonic[32];
	char operands[192]; /* targets as "0x401000 <main+0x12>" */
};

must_use int disasm_new(const struct disasm_options *options, struct disasm **ret,
			struct err *e);
void disasm_free(struct disasm *d);
void disasm_freep(struct disasm **d);

/* Decodes the instruction at the start of the code; how many bytes it took, 0 only at
 * the end of the code. */
size_t disasm_decode(struct disasm *d, const uint8_t *code, size_t size, uint64_t address,
		     struct disasm_instruction *ret);

#endif
