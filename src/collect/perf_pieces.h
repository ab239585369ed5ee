/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_pieces - a copied stack and what is around it, from the records in front of its
 * sample.
 *
 * On each CPU the pieces belong to the sample that comes next, and say what its stack
 * pointer is.  Those that continue each other are one run; between runs there may be
 * memory that could not be read.
 */
#ifndef DWELL_COLLECT_PERF_PIECES_H
#define DWELL_COLLECT_PERF_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Of the psABI: what a leaf function may use below its stack pointer. */
#if defined(__x86_64__)
#define PERF_PIECES_RED_BYTES 128
#else
#define PERF_PIECES_RED_BYTES 0
#endif

#define PERF_PIECES_RUNS_MAX 80
/* What is copied near what a register points to. */
#define PERF_PIECES_PLACE_BYTES 256

struct perf_pieces_run {
	uint64_t addr;		 /* of the first byte */
	size_t off, size;	 /* in bytes */
	const uint8_t *in_place; /* in the record, or NULL: in bytes from off on */
	bool is_near;		 /* what a register pointed to: no stack */
};

struct perf_pieces_cpu {
	uint64_t sp; /* of the sample that they belong to */
	struct buf bytes;
	struct perf_pieces_run runs[PERF_PIECES_RUNS_MAX];
	unsigned n_runs;
};

struct perf_pieces {
	struct perf_pieces_cpu *cpus;
	uint32_t n_cpus;
	const struct perf_pieces_cpu *current; /* of the current sample, or NULL */
	uint64_t sp;
	bool is_red_missed; /* a word below sp was asked for and is not there */
};

void perf_pieces_init(struct perf_pieces *p, uint32_t n_cpus);
void perf_pieces_fini(struct perf_pieces *p);

/* What a piece says of the sample that it is the last of. */
struct perf_pieces_sample {
	uint64_t stream; /* its index */
	uint64_t data_addr;
	const uint8_t *regs; /* PERF_REGS_KERNEL_BYTES, in the piece */
};

/* A struct perf_deep_piece as it was written; without an address its bytes are of several
 * places (struct perf_near_place).  True: it is a sample's last, *ret says
 * which, and the piece stays where it is until perf_pieces_end(). */
bool perf_pieces_take(struct perf_pieces *p, uint32_t cpu, const void *piece, size_t size,
		      struct perf_pieces_sample *ret);
/* The sample of some may be missing: all are nobody's. */
void perf_pieces_forget(struct perf_pieces *p);

/* A sample of a CPU came, whose stack begins at sp: are there pieces of it?  They are
 * read with perf_pieces_read() until perf_pieces_end(), which is due in any case. */
bool perf_pieces_begin(struct perf_pieces *p, uint32_t cpu, uint64_t sp);
/* The bytes from sp on that are there in one run, and how many; NULL: none. */
const uint8_t *perf_pieces_stack(const struct perf_pieces *p, size_t *ret_size);
/* For struct unwind_memory; ctx is the struct perf_pieces. */
bool perf_pieces_read(void *ctx, uint64_t addr, uint64_t *ret);
/* The same of what is near registers: no stack that a walk may take for its own. */
bool perf_pieces_read_near(const struct perf_pieces *p, uint64_t addr, uint64_t *ret);
/* Whether the red zone was asked for in vain. */
bool perf_pieces_end(struct perf_pieces *p, uint32_t cpu);

#endif
