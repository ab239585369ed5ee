/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_forward - where a thread went on from where a sample saw it.
 *
 * Goes over the code from the sampled instruction on with the sampled registers, as long
 * as all that decides the way is known, and tells the directions of branches.  What it
 * tells is never a guess: whatever may be changed by an instruction that is not executed
 * here, or stored nobody knows where, counts as unknown from there on.
 *
 * Memory is taken to be as the caller tells until the path itself stores to it, code to
 * change only where it is seen to be stored to, and no signal to come between.
 * Freestanding: no allocation, bounded, thread-safe.
 */
#ifndef DWELL_DECODE_X86_FORWARD_H
#define DWELL_DECODE_X86_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/x86_flow.h"
#include "decode/x86_memory.h"
#include "decode/x86_op.h"

#define X86_FORWARD_MAX_BRANCHES 32
#define X86_FORWARD_MAX_INSNS	 4096

struct x86_forward_state {
	uint64_t regs[X86_OP_N_REGS]; /* in the instruction set's order */
	uint64_t ip;		      /* of what is executed next */
	uint64_t flags;		      /* rflags */
	uint16_t known_regs;	      /* bit i: register i */
	uint32_t known_flags; /* those of rflags, others than these are ignored: */
#define X86_FORWARD_FLAGS 0xcd5u
};

/* Gives the code at addr, up to X86_OP_MAX_BYTES, and how many they are: fewer at the end
 * of what is known. */
typedef unsigned x86_forward_code_fn(void *ctx, uint64_t addr, uint8_t *to);

struct x86_forward_source {
	x86_forward_code_fn *code;
	x86_memory_read_fn *read;     /* memory at the sample; NULL: none is known */
	x86_memory_read_fn *constant; /* what nobody can store to; NULL: none is known */
	void *ctx;		      /* of all */
};

struct x86_forward_limits {
	unsigned n_insns;    /* to go over, X86_FORWARD_MAX_INSNS at most */
	unsigned n_branches; /* to tell, X86_FORWARD_MAX_BRANCHES at most */
	bool is_in_function; /* do not follow calls and returns */
};

enum x86_forward_way {
	X86_FORWARD_UNKNOWN, /* the path ends here */
	X86_FORWARD_NOT_TAKEN,
	X86_FORWARD_TAKEN,
};

/* Conditional branches, and what jumps, calls or returns to where an operand says. */
struct x86_forward_branch {
	uint64_t addr;
	uint64_t to;  /* where it goes on: the target or the next; 0: unknown */
	uint8_t flow; /* enum x86_flow */
	uint8_t way;  /* enum x86_forward_way */
};

enum x86_forward_end {
	X86_FORWARD_LIMIT,
	X86_FORWARD_AT_BRANCH,	 /* whose way is unknown */
	X86_FORWARD_AT_CALL,	 /* or return, which was not to be followed */
	X86_FORWARD_AT_KERNEL,	 /* a system call or trap */
	X86_FORWARD_AT_CODE,	 /* that is not known, or changed on the way */
	X86_FORWARD_AT_STRANGER, /* an instruction of which nothing is known */
};

struct x86_forward_path {
	unsigned n_insns; /* gone over */
	unsigned n_branches;
	enum x86_forward_end end;
	struct x86_forward_state last; /* of what is known at its end */
	struct x86_forward_branch branches[X86_FORWARD_MAX_BRANCHES];
};

void x86_forward(const struct x86_forward_state *from,
		 const struct x86_forward_source *source,
		 const struct x86_forward_limits *limits, struct x86_forward_path *ret);

#endif
