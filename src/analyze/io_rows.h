/* SPDX-License-Identifier: Apache-2.0
 *
 * io_rows - the I/O of a profile, in rows by file, connection, call, stack, process or
 * thread.
 *
 * Stacks of the experiment io end in a label of the call and one of the file, and those
 * of its errors, sizes and durations in one of these besides; those of calls that had not
 * returned may say so much as that they began before.  Borrows the profile.
 */
#ifndef DWELL_ANALYZE_IO_ROWS_H
#define DWELL_ANALYZE_IO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/power_steps.h"
#include "analyze/profile.h"
#include "base/map.h"
#include "base/vec.h"

enum io_rows_by {
	IO_ROWS_BY_FILE,       /* connections joined as io_peers.h does it */
	IO_ROWS_BY_CONNECTION, /* the same, and each for itself */
	IO_ROWS_BY_CALL,
	IO_ROWS_BY_STACK,
	IO_ROWS_BY_PROCESS,
	IO_ROWS_BY_THREAD,
	IO_ROWS_N_BYS,
};

struct io_rows_sums {
	uint64_t calls, errors;
	uint64_t read_bytes, written_bytes, asked_bytes, ns;
	struct power_steps sizes; /* bytes that each call moved, of those that do */
	struct power_steps times; /* ns that each took */
};

struct io_row {
	char *name;
	uint32_t *frames; /* functions, the innermost first; of a stack */
	size_t n_frames;
	uint32_t n_connections; /* that are joined; 0, 1: none */
	struct io_rows_sums sums;
};

/* A call that had not returned when its thread ended, or the recording. */
struct io_rows_unfinished {
	char *thread;	     /* "name (tid)" */
	uint32_t file, call; /* functions */
	uint32_t pid, tid;
	uint64_t n; /* more than 1: threads are not told apart */
	/* So far; since the recording began, UINT64_MAX: before, or not known. */
	uint64_t ns, since_ns;
	uint32_t *frames; /* functions, the innermost first */
	size_t n_frames;
};

/* Calls of one kind of one file. */
struct io_rows_pair {
	uint32_t file, call; /* functions */
	struct io_rows_sums sums;
};

struct io_rows {
	VEC(struct io_row) rows;
	VEC(struct io_rows_pair) pairs;
	VEC(struct io_rows_unfinished) unfinished; /* the longest first */
	struct io_row total;
	size_t n_joined;    /* rows that are of several connections */
	bool has_io;	    /* the recordings have it at all */
	bool sees_requests; /* of io_uring */
	bool is_wrapped;    /* some of it comes from wrappers in programs */
};

must_use int io_rows_make(const struct profile *p, enum io_rows_by by,
			  struct io_rows *ret, struct err *e);
void io_rows_fini(struct io_rows *r);

/* "read" of "[syscall read]", "io_uring read" of "[io_uring read]"; ret has room for it.
 */
void io_rows_call_name(const char *label, char *ret, size_t cap);

/* Calls that move little although the file would give more: they are nearly all of them,
 * and many.  How many blocks of so many bytes would do; 0: it is not so. */
#define IO_ROWS_BLOCK_BYTES UINT64_C(65536)
uint64_t io_rows_blocks_instead(const struct profile *p, const struct io_rows_pair *pair);

#endif
