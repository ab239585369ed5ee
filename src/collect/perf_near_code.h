/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
 *
 * perf_near_code - the BPF program that copies memory near what registers point to.
 *
 * It runs at a sample before the one that copies the stack (perf_deep_code), which it
 * goes on with, and writes a record of the same kind: a `struct perf_deep_piece` without
 * an address, whose bytes are `struct perf_near_place`, one behind the other.  Beside
 * where registers point to, outside the stack, it copies places that the reader of
 * records wished for (perf_wishes).  What cannot be read is left out.
 */
#ifndef DWELL_COLLECT_PERF_NEAR_CODE_H
#define DWELL_COLLECT_PERF_NEAR_CODE_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/perf_pieces.h"
#include "collect/perf_wishes.h"

#define PERF_NEAR_CODE_MAX 320 /* instructions */

struct perf_near_place {
	uint64_t addr; /* of bytes[0] */
	uint8_t bytes[PERF_PIECES_PLACE_BYTES];
};

struct perf_near_code_input {
	int wishes; /* an array of PERF_WISHES_SLOTS of 64 bits: as of perf_wishes */
	int scratch, output;  /* as of perf_deep_code */
	int programs;	      /* an array: which to go on with */
	uint32_t next;	      /* its index there */
	uint32_t stack_bytes; /* from the stack pointer on: copied with the stack */
};

/* Returns the number of instructions, at most PERF_NEAR_CODE_MAX. */
size_t perf_near_code(const struct perf_near_code_input *in, struct bpf_insn *ret);

#endif
