/* SPDX-License-Identifier: Apache-2.0
 *
 * operation_x86 - operations of x86-64, from what the disassembler tells of them.
 */
#ifndef DWELL_INSN_OPERATION_X86_H
#define DWELL_INSN_OPERATION_X86_H

#include "insn/operation.h"

struct cs_insn;
struct x86_op;

/* By its mnemonic; some depend on their operands, too: operation_x86_describe() tells. */
enum operation_class operation_x86_class(const char *mnemonic);
void operation_x86_describe(const struct cs_insn *in, enum operation_class class,
			    struct operation *ret);
/* One that the disassembler does not know. */
void operation_x86_describe_unknown(const struct x86_op *x, struct operation *ret);

#endif
