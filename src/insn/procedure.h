/* SPDX-License-Identifier: Apache-2.0
 *
 * procedure - the machine code of one function as basic blocks and the ways between them.
 *
 * Of one or several ranges: compilers put what seldom runs elsewhere.  Calls do not end
 * a block, unless they never return.  What cannot be told is noted as unknown, never
 * invented: where an indirect jump leads that has no table, and who comes to code that
 * nothing known leads to (handlers of exceptions, targets of such jumps).  Any bytes are
 * allowed; blocks overlap where something jumps into an instruction's middle.
 *
 * Read by one thread, then constant.
 */
#ifndef DWELL_INSN_PROCEDURE_H
#define DWELL_INSN_PROCEDURE_H

#include "base/err.h"
#include "base/own.h"
#include "insn/code_step.h"

#define PROCEDURE_MAX_BYTES (64u << 20)
#define PROCEDURE_OUTSIDE   UINT32_MAX /* instead of a block */

struct procedure_range {
	uint64_t address;
	const uint8_t *code;
	size_t size;
};

/* Memory that is constant while the program runs, as after relocation: jump tables.
 * False: nothing is known to be there. */
typedef bool procedure_read_fn(void *ctx, uint64_t address, void *to, size_t bytes);
typedef bool procedure_never_returns_fn(void *ctx, uint64_t function);

struct procedure_options {
	unsigned machine;		      /* EM_… of <elf.h> */
	const struct procedure_range *ranges; /* by address, without overlaps */
	size_t n_ranges;
	uint64_t entry;				   /* in one of them */
	procedure_read_fn *read;		   /* or NULL */
	procedure_never_returns_fn *never_returns; /* or NULL */
	void *ctx;
};

enum procedure_end {
	PROCEDURE_END_ON, /* something else leads to the next instruction */
	PROCEDURE_END_BRANCH,
	PROCEDURE_END_JUMP,
	PROCEDURE_END_INDIRECT,
	PROCEDURE_END_TAIL_CALL, /* a jump to another procedure */
	PROCEDURE_END_RETURN,
	PROCEDURE_END_STOP, /* a trap, a call that never returns */
	PROCEDURE_END_LOST, /* no instruction is where it goes on */
};

enum procedure_way_kind {
	PROCEDURE_WAY_ON,
	PROCEDURE_WAY_TAKEN, /* jumps and branches */
	PROCEDURE_WAY_TABLE, /* one of the targets of an indirect jump */
	PROCEDURE_WAY_LEAVE, /* outside: returns, stops, unknown places */
	PROCEDURE_WAY_ENTRY, /* from outside */
};

struct procedure_block {
	uint64_t start, end;
	uint32_t first_step, n_steps;
	uint32_t first_out, n_out; /* ways */
	uint32_t first_in, n_in;   /* of procedure_ways_in() */
	uint8_t end_kind;	   /* enum procedure_end */
	bool is_entry;
	bool has_unknown_ways_in, has_unknown_ways_out;
	bool is_guessed; /* its ways out: how long its table is, or where */
};

struct procedure_way {
	uint32_t from, to; /* blocks, or PROCEDURE_OUTSIDE */
	uint8_t kind;	   /* enum procedure_way_kind */
};

struct procedure {
	const struct code_step_machine *machine; /* whose code it is */
	struct procedure_block *blocks;		 /* by start; each step is in one */
	struct code_step *steps;		 /* by block */
	struct procedure_way *ways; /* by from; none twice with the same kind */
	uint32_t *ways_in;	    /* indices of ways, by to */
	uint32_t n_blocks, n_steps, n_ways;
	uint64_t longest_bytes; /* of all blocks */
	uint32_t entry;		/* block; PROCEDURE_OUTSIDE: no instruction is there */
	uint32_t n_indirect;	/* jumps, */
	uint32_t n_unresolved;	/* of these: nothing is known of their targets, */
	uint32_t n_guessed;
};

must_use int procedure_new(const struct procedure_options *options,
			   struct procedure **ret, struct err *e);
void procedure_free(struct procedure *p);
void procedure_freep(struct procedure **p);

/* The block that an instruction at this address is in, PROCEDURE_OUTSIDE if none begins
 * there; of several that overlap any. */
uint32_t procedure_block_at(const struct procedure *p, uint64_t address);

#endif
