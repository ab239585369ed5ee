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
/* In the directory: the library, as the dynamic linker is told, and one of those that are
 * meant. */
#define WIRE_TRACER_PRELOAD "$PLATFORM/libdwell-tracer.so"
#define WIRE_TRACER_LIBRARY "lib/libdwell-tracer.so"

/* What the recorder asks for, in wire_sampler_control.traces. */
enum wire_tracer_trace {
	WIRE_TRACER_HEAP = 1,
	WIRE_TRACER_SYNC = 2,
	WIRE_TRACER_FPE = 4,
	WIRE_TRACER_REGIONS = 8,
	WIRE_TRACER_IO = 16,
	/* Always: what a program says of itself, marks and names of threads. */
	WIRE_TRACER_MARKS = 32,
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
	/* At the end. */
	WIRE_TRACER_OURS = 25,	   /* struct wire_tracer_unmap: the tracer's own memory */
	WIRE_TRACER_HEAP_END = 26, /* struct wire_tracer_heap_end */
	WIRE_TRACER_HEAP_LAST = 31,
	/* Of waiting: up to 47; the structs are in wire/tracer_sync.h. */
	WIRE_TRACER_SYNC_START = 32, /* struct wire_tracer_sync_start */
	WIRE_TRACER_PLACE = 33,	     /* struct wire_tracer_place */
	WIRE_TRACER_WAIT = 34,	     /* struct wire_tracer_wait */
	WIRE_TRACER_RELEASE = 35,    /* struct wire_tracer_release */
	WIRE_TRACER_SYNC_LAST = 47,
	/* 48 to 55 are of WIRE_TRACER_FPE, 56 to 71 of _REGIONS, 72 to 79 of _IO. */
	WIRE_TRACER_FPE_RAISED = 48, /* struct wire_tracer_fpe */
	WIRE_TRACER_FPE_AGAIN = 49,  /* struct wire_tracer_fpe_again */
	WIRE_TRACER_FPE_LAST = 55,
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

/* The program is about to end, and waits to be looked through for what still points to
 * its blocks: until wire_sampler_ring.request has WIRE_SAMPLER_GO_ON. */
struct wire_tracer_heap_end {
	uint64_t time_ns;
	uint64_t stack_pointer; /* of the thread that ends it */
	uint64_t
		token_address; /* where its memory has token, to be sure of the process */
	uint64_t token;
	uint32_t tid;
	uint32_t flags; /* enum wire_tracer_heap_end_flag */
};

enum wire_tracer_heap_end_flag {
	WIRE_TRACER_IS_GLIBC = 1, /* whose allocator's areas are known by their shape */
	WIRE_TRACER_HAS_UNKNOWN = 2, /* blocks that were taken during a pause */
};

/* As x86-64's units have them, and one that is theirs not. */
enum wire_tracer_fpe_type {
	WIRE_TRACER_FPE_INVALID = 1,
	WIRE_TRACER_FPE_DENORMAL = 2,
	WIRE_TRACER_FPE_DIVIDE = 4,
	WIRE_TRACER_FPE_OVERFLOW = 8,
	WIRE_TRACER_FPE_UNDERFLOW = 16,
	WIRE_TRACER_FPE_INEXACT = 32,
	WIRE_TRACER_FPE_INTEGER = 64, /* a division of integers has no result */
	WIRE_TRACER_FPE_TYPES = 127,
	/* No type, but asked for beside them: invalid ones of the x87 unit, too. */
	WIRE_TRACER_FPE_X87 = 128,
};

/* An instruction, the innermost of the stack, raises exceptions of these types. */
struct wire_tracer_fpe {
	uint64_t time_ns;
	uint64_t stack; /* id */
	uint32_t types, pad;
};

/* One that was said to raise some raised others, when it was made again; or none. */
struct wire_tracer_fpe_again {
	uint64_t stack; /* id */
	uint32_t was, is;
};

_Static_assert(sizeof(struct wire_tracer_stack) == 24, "layout");
_Static_assert(sizeof(struct wire_tracer_alloc) == 32, "layout");
_Static_assert(sizeof(struct wire_tracer_free) == 16, "layout");
_Static_assert(sizeof(struct wire_tracer_unmap) == 24, "layout");
_Static_assert(sizeof(struct wire_tracer_heap_end) == 40, "layout");
_Static_assert(sizeof(struct wire_tracer_fpe) == 24, "layout");
_Static_assert(sizeof(struct wire_tracer_fpe_again) == 16, "layout");

#endif
