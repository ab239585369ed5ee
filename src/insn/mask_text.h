/* SPDX-License-Identifier: Apache-2.0
 *
 * mask_text - instructions of AVX-512 that make masks, or work with them, as text.
 *
 * The disassembler does not know these; the string functions of libc consist of them
 * where the processor has them.  Whatever has another prefix first is none.
 */
#ifndef DWELL_INSN_MASK_TEXT_H
#define DWELL_INSN_MASK_TEXT_H

#include <stdbool.h>

#include "insn/disasm.h"

/* x86-64 code, in the syntax of either; how many bytes it takes, 0: it is none of
 * these, and nothing is written. */
size_t mask_text_read(const uint8_t *code, size_t size, uint64_t address, bool is_intel,
		      struct disasm_instruction *ret);

#endif
