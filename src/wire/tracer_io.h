/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_io - what the tracer in the target says of calls that read and write.
 *
 * Kinds 72 to 79 of wire/tracer.h.  A file is named by a hash of what tells it from
 * others: it is told before the first record that names it, and may be told again, with
 * another name, which is that of what comes behind.
 *
 * Freestanding.  The recorder trusts nothing it reads here.
 */
#ifndef DWELL_WIRE_TRACER_IO_H
#define DWELL_WIRE_TRACER_IO_H

#include <stdint.h>

enum wire_tracer_io_kind {
	WIRE_TRACER_IO_FILE = 72,  /* struct wire_tracer_io_file + its name */
	WIRE_TRACER_IO_BEGUN = 73, /* struct wire_tracer_io_begun */
	WIRE_TRACER_IO_DONE = 74,  /* struct wire_tracer_io_done */
	/* The same of one that returned in a pause: its time before that. */
	WIRE_TRACER_IO_LEFT = 75,
	WIRE_TRACER_IO_LAST = 79,
};

/* By their places in wire/io_calls.def: 1 is the first. */
enum wire_tracer_io_call {
	WIRE_TRACER_IO_NONE,
#define IO_CALL(name, event, file, asks) WIRE_TRACER_IO_OF_##name,
#include "wire/io_calls.def"
#undef IO_CALL
	WIRE_TRACER_IO_N_CALLS,
};

enum wire_tracer_io_flag {
	WIRE_TRACER_IO_IS_PATH = 1, /* that could not be opened: as the program gave it */
	WIRE_TRACER_IO_IS_GONE = 2, /* no folder has the file any more */
};

/* The name is that by which the kernel shows an open file, a socket's that to which it is
 * bound, or the other end is. */
struct wire_tracer_io_file {
	uint64_t id;
	uint64_t inode;
	uint32_t mode;			  /* type and permissions, as stat() tells them */
	uint32_t flags;			  /* enum wire_tracer_io_flag */
	uint16_t family, type;		  /* of a socket; 0: it is none */
	uint16_t local_port, remote_port; /* 0: none */
	uint8_t local[16], remote[16];	  /* addresses, in network order */
};

/* A call is of no file. */
#define WIRE_TRACER_IO_NO_FILE 0
/* Which one may not be asked for; those of files are odd. */
#define WIRE_TRACER_IO_UNASKED 2

/* A call that may wait for long, before it does: of a terminal, a pipe, a socket, or one
 * that moves bytes to another file. */
struct wire_tracer_io_begun {
	uint64_t time_ns, observed_ns; /* the second one without pauses */
	uint64_t stack;		       /* id */
	uint64_t file;		       /* id */
	uint64_t frame;		       /* of who makes the call: lower is further in */
	uint32_t call;		       /* enum wire_tracer_io_call */
	uint32_t pad;
};

/* One that has returned; what it took is without what was in pauses. */
struct wire_tracer_io_done {
	uint64_t time_ns, took_ns; /* when that was, and how long it took */
	uint64_t stack;		   /* id */
	uint64_t file;		   /* id */
	uint64_t asked, done;	   /* bytes */
	uint32_t call;		   /* enum wire_tracer_io_call */
	uint32_t error;		   /* its number, 0: none */
	uint64_t frame; /* of who made it: whatever is further in is over; 0: unknown */
};

_Static_assert(sizeof(struct wire_tracer_io_file) == 64, "layout");
_Static_assert(sizeof(struct wire_tracer_io_begun) == 48, "layout");
_Static_assert(sizeof(struct wire_tracer_io_done) == 64, "layout");

#endif
