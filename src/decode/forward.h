/* SPDX-License-Identifier: Apache-2.0
 *
 * forward - where a thread went on from where a sample saw it.
 *
 * An architecture's walk (x86_forward, arm_forward) goes over the code from the sampled
 * instruction on with the sampled registers, as long as all that decides the way is
 * known, and tells the directions of branches.  What it tells is never a guess: whatever
 * may be changed by an instruction that is not executed here, or stored nobody knows
 * where, counts as unknown from there on.
 *
 * Memory is taken to be as the caller tells until the path itself stores to it, code to
 * change only where it is seen to be stored to, and no signal to come between.
 * Freestanding: no allocation, bounded, thread-safe.
 */
#ifndef DWELL_DECODE_FORWARD_H
#define DWELL_DECODE_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/known_bits.h"
#include "decode/path_memory.h"

#define FORWARD_MAX_BRANCHES 32
#define FORWARD_MAX_ACCESSES 32
#define FORWARD_MAX_INSNS    4096
#define FORWARD_N_REGS	     32
#define FORWARD_CODE_BYTES   16 /* the longest instruction has room */

struct forward_state {
	uint64_t regs[FORWARD_N_REGS]; /* in the instruction set's order */
	uint64_t ip;		       /* of what is executed next */
	uint64_t flags;		       /* the CPU's register of them */
	uint32_t known_regs;	       /* bit i: register i */
	uint32_t known_flags;	       /* those that a walk does not go by are ignored */
};

/* Gives the code at addr, up to FORWARD_CODE_BYTES, and how many they are: fewer at the
 * end of what is known. */
typedef unsigned forward_code_fn(void *ctx, uint64_t addr, uint8_t *to);

struct forward_source {
	forward_code_fn *code;
	path_memory_read_fn *read;     /* memory at the sample; NULL: none is known */
	path_memory_read_fn *constant; /* what nobody can store to; NULL: none is known */
	void *ctx;		       /* of all */
};

struct forward_limits {
	unsigned n_insns;    /* to go over, FORWARD_MAX_INSNS at most */
	unsigned n_branches; /* to tell, FORWARD_MAX_BRANCHES at most */
	bool is_in_function; /* do not follow calls and returns */
};

enum forward_kind {
	FORWARD_CONDITIONAL,
	FORWARD_JUMP_TO, /* what an operand holds */
	FORWARD_CALL_TO,
	FORWARD_RETURN,
};

enum forward_way {
	FORWARD_UNKNOWN, /* the path ends here */
	FORWARD_NOT_TAKEN,
	FORWARD_TAKEN,
};

/* Conditional branches, and what jumps, calls or returns to where an operand says. */
struct forward_branch {
	uint64_t addr;
	uint64_t to;  /* where it goes on: the target or the next; 0: unknown */
	uint8_t kind; /* enum forward_kind */
	uint8_t way;  /* enum forward_way */
};

/* Of memory, by an instruction's operand, wherever that is told; not those that calls,
 * returns and the like make of the stack. */
struct forward_access {
	uint64_t ip;   /* of the instruction */
	uint64_t addr; /* 0: not known */
};

enum forward_end {
	FORWARD_LIMIT,
	FORWARD_AT_BRANCH,   /* whose way is unknown */
	FORWARD_AT_CALL,     /* or return, which was not to be followed */
	FORWARD_AT_KERNEL,   /* a system call or trap */
	FORWARD_AT_CODE,     /* that is not known, or changed on the way */
	FORWARD_AT_STRANGER, /* an instruction of which nothing is known */
};

struct forward_path {
	unsigned n_insns; /* gone over */
	unsigned n_branches;
	unsigned n_accesses; /* the first; there may be more */
	enum forward_end end;
	struct forward_state last; /* of what is known at its end */
	struct forward_branch branches[FORWARD_MAX_BRANCHES];
	struct forward_access accesses[FORWARD_MAX_ACCESSES];
};

typedef void forward_fn(const struct forward_state *from,
			const struct forward_source *source,
			const struct forward_limits *limits, struct forward_path *ret);

/* What follows is for the walks themselves. */
struct forward_walk {
	const struct forward_source *source;
	const struct forward_limits *limits;
	struct forward_path *path;
	uint64_t ip;
};

/* How an instruction was taken: the walk goes on, or it ended for path->end. */
typedef bool forward_went_on;

/* One instruction, the one at ip; machine: the registers. */
typedef forward_went_on forward_step_fn(struct forward_walk *w, void *machine);

/* From where w->ip is, until a step ends it or the limits do. */
void forward_run(struct forward_walk *w, forward_step_fn *step, void *machine);

forward_went_on forward_end(struct forward_walk *w, enum forward_end why);
/* is: one bit, whether the conditional branch at ip is taken. */
forward_went_on forward_either_way(struct forward_walk *w, struct known_bits is,
				   uint64_t next, uint64_t target);
forward_went_on forward_to(struct forward_walk *w, enum forward_kind kind,
			   struct known_bits to);

/* The instruction at ip accesses memory there. */
void forward_tell_access(struct forward_walk *w, struct known_bits addr);

/* Registers of a state, and back. */
void forward_load_regs(const struct forward_state *from, struct known_bits *regs,
		       unsigned n);
void forward_save_regs(const struct known_bits *regs, unsigned n,
		       struct forward_state *ret);

#endif
