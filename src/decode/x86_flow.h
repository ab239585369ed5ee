/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_flow - where an instruction goes on.
 *
 * Freestanding.
 */
#ifndef DWELL_DECODE_X86_FLOW_H
#define DWELL_DECODE_X86_FLOW_H

struct x86_op;

/* From CONDITIONAL to CALL they have their target in imm. */
enum x86_flow {
	X86_FLOW_ON,	      /* to the next */
	X86_FLOW_CONDITIONAL, /* to the next or the target, as the flags say */
	X86_FLOW_LOOP,	      /* the same, as rcx says: loop, jrcxz */
	X86_FLOW_TRANSACTION, /* to the next; to the target if what follows is undone */
	X86_FLOW_JUMP,
	X86_FLOW_CALL,
	X86_FLOW_JUMP_TO, /* what an operand holds */
	X86_FLOW_CALL_TO,
	X86_FLOW_RETURN,
	X86_FLOW_SYSCALL,
	X86_FLOW_INT80, /* a system call of programs of 32 bits */
	X86_FLOW_FAR,	/* to another segment: jumps, calls, returns */
	X86_FLOW_TRAP,	/* to the kernel, and on from there or never: int3, int N */
	X86_FLOW_NEVER, /* cannot be executed by user code: ud2, hlt */
};

enum x86_flow x86_flow_of(const struct x86_op *op);

#endif
