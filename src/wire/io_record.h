/* SPDX-License-Identifier: Apache-2.0
 *
 * io_record - what the kernel's side of I/O tells the collector.
 *
 * Like system calls (wire/probe_record.h): a sum is of a thread, a stack, a call and a
 * file; its ns is the time in it, its count how often it returned, its wait_ns the bytes
 * that were read or written; a pair is of a sum and an error's number.  What else is
 * known of a sum is beside it, by its number: struct io_record_more.  Files are told once
 * and have numbers from then on.
 *
 * Freestanding; shared with BPF programs.
 */
#ifndef DWELL_WIRE_IO_RECORD_H
#define DWELL_WIRE_IO_RECORD_H

#include <stdint.h>

#include "wire/stack_record.h"
#include "wire/state_record.h"

/* What a sum is, by where its bytes went. */
enum io_record_event { IO_RECORD_READ, IO_RECORD_WRITE, IO_RECORD_OTHER };

/* Where a call has its file. */
enum io_record_file_at {
	IO_RECORD_NO_FILE_AT,
	IO_RECORD_FIRST,    /* its first argument is a descriptor */
	IO_RECORD_SECOND,   /* the second */
	IO_RECORD_RETURNED, /* it returns one */
	/* It returns one, of the path that its first or second argument points to. */
	IO_RECORD_OPENED_FIRST,
	IO_RECORD_OPENED_SECOND,
};

/* How many bytes a call asks for. */
enum io_record_asks {
	IO_RECORD_ASKS_NONE,
	IO_RECORD_ASKS_THIRD,  /* its third argument says */
	IO_RECORD_ASKS_FOURTH, /* the fourth */
	IO_RECORD_ASKS_FIFTH,
	IO_RECORD_ASKS_PARTS,	 /* of the parts that the second and third list */
	IO_RECORD_ASKS_MESSAGE,	 /* of those of the message that the second is */
	IO_RECORD_ASKS_MESSAGES, /* of so many messages; it returns how many there were */
};

struct io_record_call {
	uint8_t index; /* 1 more than that in the collector's table; 0: it is no I/O */
	uint8_t event; /* enum io_record_event */
	uint8_t file;  /* enum io_record_file_at */
	uint8_t asks;  /* enum io_record_asks */
};

/* Where a request of an io_uring has its file. */
enum io_record_request_file {
	IO_RECORD_REQUEST_NO_FILE,
	IO_RECORD_REQUEST_FIRST,   /* the descriptor that each may have */
	IO_RECORD_REQUEST_SPLICED, /* that which is spliced from */
	IO_RECORD_REQUEST_CLOSED,  /* that which is closed */
	IO_RECORD_REQUEST_OPENED,  /* it has a path */
};

/* How many bytes it asks for. */
enum io_record_request_asks {
	IO_RECORD_REQUEST_ASKS_NONE,
	IO_RECORD_REQUEST_ASKS_BYTES,
	IO_RECORD_REQUEST_ASKS_PARTS,
	IO_RECORD_REQUEST_ASKS_PACKET,	/* of a socket */
	IO_RECORD_REQUEST_ASKS_MESSAGE, /* of the parts of a message */
	IO_RECORD_REQUEST_ASKS_SPLICED,
};

/* Whether it may complete several times. */
enum io_record_request_shots {
	IO_RECORD_REQUEST_ONCE,
	IO_RECORD_REQUEST_SHOTS,
	IO_RECORD_REQUEST_SHOTS_ASKED, /* where it asks for that as what receives does */
};

/* By its operation. */
struct io_record_request {
	uint8_t index; /* behind those of calls; 0: it is no I/O */
	uint8_t event; /* enum io_record_event */
	uint8_t file, asks, shots;
};

/* Operations that are known are below. */
#define IO_RECORD_REQUESTS_MAX 64

/* Numbers of system calls are below. */
#define IO_RECORD_CALLS_MAX STATE_RECORD_CALLS_MAX

/* A label: the call's index, and the number of the file. */
#define IO_RECORD_FILE_SHIFT	     8
#define IO_RECORD_LABEL(index, file) ((uint32_t)(file) << IO_RECORD_FILE_SHIFT | (index))
#define IO_RECORD_INDEX_OF(label)    ((label)&0xff)
#define IO_RECORD_FILE_OF(label)     ((label) >> IO_RECORD_FILE_SHIFT)

/* Numbers of what is no file. */
enum io_record_number {
	IO_RECORD_NO_FILE,    /* the call is of none, or the descriptor is bad */
	IO_RECORD_UNTOLD,     /* the ring was full when it was met */
	IO_RECORD_UNNUMBERED, /* there were too many */
	IO_RECORD_UNASKED,    /* asking for it might end the program */
	IO_RECORD_FILES,      /* the first that is one */
};
#define IO_RECORD_FILES_MAX 131072
/* Paths of what could not be opened take no more of them than these. */
#define IO_RECORD_UNOPENED_MAX (IO_RECORD_FILES_MAX / 2)

/* Families of sockets, as the kernel numbers them. */
enum { IO_RECORD_UNIX = 1, IO_RECORD_INET = 2, IO_RECORD_INET6 = 10 };

/* A file that is met for the first time.  No more of it is told than the path has. */
struct io_record_file {
	uint16_t kind;	 /* STACK_RECORD_FILE */
	uint16_t family; /* of a socket; 0: it is none */
	uint32_t number;
	uint32_t mode;			  /* type and permissions, as stat() tells them */
	uint16_t type, protocol;	  /* of a socket */
	uint16_t local_port, remote_port; /* 0: none */
	uint32_t is_bare;		  /* the path is a name, as it is shown */
	uint8_t local[16], remote[16];	  /* addresses, in network order */
	struct stack_record_image file;	  /* inode, device and path */
};

/* The kernel moves no more in one call (MAX_RW_COUNT), and whoever wants all of a file
 * asks for half of all numbers. */
#define IO_RECORD_ASKED_MAX UINT64_C(0x7ffff000)

/* Powers of two: step 0 is of nothing, step i of 2^(i-1) up to below 2^i, the last one of
 * all that is more. */
#define IO_RECORD_SIZES 28
/* Step 0 is below 128 ns, each further one reaches twice as far. */
#define IO_RECORD_TIMES	     28
#define IO_RECORD_TIME_SHIFT 7

struct io_record_more {
	uint64_t asked;
	uint32_t sizes[IO_RECORD_SIZES]; /* calls that did so many bytes */
	uint32_t times[IO_RECORD_TIMES]; /* calls that took so long */
	/* Those that had not returned when their thread ended, or the recording, and the
	 * time of each until then; of these, since before it. */
	uint32_t n_unfinished, n_begun_before;
	uint64_t unfinished_ns;
};

/* So many sums of each generation have it. */
#define IO_RECORD_MORE_HALF 65536u
#define IO_RECORD_MORE_MAX  (2 * IO_RECORD_MORE_HALF)
#define IO_RECORD_MORE_NONE UINT32_MAX

static inline uint32_t io_record_more_slot(uint32_t number)
{
	uint32_t slot = STATE_RECORD_SLOT(number), half = slot / STATE_RECORD_HALF;
	uint32_t i = slot % STATE_RECORD_HALF;

	return i < IO_RECORD_MORE_HALF ? half * IO_RECORD_MORE_HALF + i
				       : IO_RECORD_MORE_NONE;
}

#endif
