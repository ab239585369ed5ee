/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer - what the tracer in the target writes into its ring, besides what the sampler
 * says there too.
 *
 * The tracer meets the recorder as the sampler does (wire/sampler.h): a directory with a
 * control file, a ring for each process image, records of the same shape that begin with
 * the image and name modules before their first frame.  These are the kinds of its own.
 * The order of the records of a ring is the order of what happened: memory is said to be
 * free before it is, and to be taken after it is.
 *
 * Freestanding.  The recorder trusts nothing it reads here.
 */
#ifndef DWELL_WIRE_TRACER_H
#define DWELL_WIRE_TRACER_H

#include <stdint.h>

/* The target's environment: the directory, an absolute path. */
#define WIRE_TRACER_ENV "DWELL_TRACER"

/* What the recorder asks for, in wire_sampler_control.traces. */
enum wire_tracer_trace {
	WIRE_TRACER_HEAP = 1,
	WIRE_TRACER_SYNC = 2,
	WIRE_TRACER_FPE = 4,
	WIRE_TRACER_REGIONS = 8,
};

/* Beyond enum wire_sampler_kind.  Never renumber. */
enum wire_tracer_kind {
	WIRE_TRACER_STACK = 16, /* struct wire_tracer_stack + frames: of all traces */
	/* Of the heap: up to 31. */
	WIRE_TRACER_ALLOC = 17,	 /* struct wire_tracer_alloc */
	WIRE_TRACER_FREE = 18,	 /* struct wire_tracer_free */
	WIRE_TRACER_MOVE = 19,	 /* struct wire_tracer_free: freed for another size */
	WIRE_TRACER_UNMOVE = 20, /* struct wire_tracer_free: that failed, it is there */
	/* Of memory that the program maps itself. */
	WIRE_TRACER_MAP = 21,	/* struct wire_tracer_alloc */
	WIRE_TRACER_UNMAP = 22, /* struct wire_tracer_unmap */
	WIRE_TRACER_MAP_MOVE =
		23, /* struct wire_tracer_unmap: for another size or place */
	WIRE_TRACER_MAP_STAYS =
		24, /* struct wire_tracer_unmap: that failed, it is there */
	WIRE_TRACER_HEAP_LAST = 31,
	/* 32 to 47 are of WIRE_TRACER_SYNC, 48 to 55 of _FPE, 56 to 71 of _REGIONS. */
};

/* A stack, before the first record that names it.  The same one may come again. */
struct wire_tracer_stack {
	uint64_t id;
	uint64_t time_ns;
	uint32_t tid;
	uint16_t n_frames, stop; /* enum unwind_stop */
				 /* frames[]: as in a sample that shares none */
};

/* An allocation of which no stack could be taken has this id, without a definition. */
#define WIRE_TRACER_NO_STACK 0

struct wire_tracer_alloc {
	uint64_t time_ns;
	uint64_t address, size_bytes;
	uint64_t stack; /* id */
};

struct wire_tracer_free {
	uint64_t time_ns;
	uint64_t address;
};

struct wire_tracer_unmap {
	uint64_t time_ns;
	uint64_t address, size_bytes;
};

_Static_assert(sizeof(struct wire_tracer_stack) == 24, "layout");
_Static_assert(sizeof(struct wire_tracer_alloc) == 32, "layout");
_Static_assert(sizeof(struct wire_tracer_free) == 16, "layout");
_Static_assert(sizeof(struct wire_tracer_unmap) == 24, "layout");

#endif
