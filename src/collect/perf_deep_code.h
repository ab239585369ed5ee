/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
 *
 * perf_deep_code - the BPF program that copies stacks.
 *
 * It runs at a sample and writes it instead of perf: records of `struct perf_deep_piece`
 * for the stack, up to the known end of the thread's, or as far as it can be read and the
 * limit allows; the last of them, mostly the only one, is the sample.  Pages that were
 * never touched are left out: large frames have such in their middle.  Before them comes
 * the red zone below the stack pointer, where there is one.
 */
#ifndef DWELL_COLLECT_PERF_DEEP_CODE_H
#define DWELL_COLLECT_PERF_DEEP_CODE_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/perf_regs.h"

/* A record has 16 bits for its size. */
#define PERF_DEEP_CODE_PIECE_BYTES (14u * 4096)
#define PERF_DEEP_CODE_MAX	   320 /* instructions */

/* What the program writes, and its scratch memory. */
struct perf_deep_piece {
	uint64_t sp;   /* of the sample that it belongs to */
	uint64_t addr; /* of bytes[0] */
	uint64_t size;
	uint64_t wanted; /* the program's own: of the copy that is tried */
	uint64_t stream; /* 0: there is more; else this is the sample, its stream + 1 */
	uint64_t tag;	 /* the program's own: the stream of the sample's last piece */
	uint64_t data_addr;		      /* of the sample: where it faulted */
	uint8_t regs[PERF_REGS_KERNEL_BYTES]; /* as the kernel keeps the user's */
	uint8_t bytes[PERF_DEEP_CODE_PIECE_BYTES];
};

struct assembler;

struct perf_deep_code_input {
	int bases;  /* a hash: thread id (32 bits) → where its stack ends (64 bits), or
		     * UINT64_MAX: somewhere above what was copied */
	int wishes; /* an array of one: not 0 if the red zone is to be copied (64 bits) */
	int scratch;	      /* an array with a struct perf_deep_piece for each CPU */
	int output;	      /* an array of perf events, one per CPU */
	uint32_t red_bytes;   /* below the stack pointer, 0: none */
	uint32_t limit_bytes; /* from the stack pointer on */
};

/* Returns the number of instructions, at most PERF_DEEP_CODE_MAX. */
size_t perf_deep_code(const struct perf_deep_code_input *in, struct bpf_insn *ret);
/* What runs at the samples of a stream: notes whose they are and goes on with the first
 * of an array of programs, which is the above.  To have the kernel check that once for
 * each stream would take longer than all else at the start. */
size_t perf_deep_code_entry(const struct perf_deep_code_input *in, int programs,
			    uint32_t stream, struct bpf_insn *ret);
/* For programs with a piece in r9: the user's registers into it; r7 = their
 * stack pointer. */
void perf_deep_code_registers(struct assembler *a);

#endif
