/* SPDX-License-Identifier: Apache-2.0
 *
 * io_ledger - I/O calls of one program image summed up: who did what with which file.
 *
 * Stacks and files are the caller's numbers.  Zero-initialise, release with
 * io_ledger_fini().
 */
#ifndef DWELL_COLLECT_IO_LEDGER_H
#define DWELL_COLLECT_IO_LEDGER_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "wire/io_record.h"

struct io_call {
	uint32_t stack, file;
	uint32_t call;	/* index, as io_calls_name() has it */
	uint32_t error; /* its number, 0: none */
	uint64_t took_ns, asked, done;
	uint64_t time_ns; /* when it returned, or is given up */
};

/* Who does what with which file. */
struct io_sum {
	uint32_t stack, file, call;
	uint64_t n, ns; /* n: that have returned */
	uint64_t asked, done;
	uint32_t sizes[IO_RECORD_SIZES]; /* calls that did so many bytes */
	uint32_t times[IO_RECORD_TIMES]; /* calls that took so long */
};

struct io_sum_error {
	uint32_t sum, error; /* its index; the error's number */
	uint64_t n;
};

struct io_ledger {
	struct map sum_of, error_of; /* by key → index */
	VEC(struct io_sum) sums;
	VEC(struct io_sum_error) errors;
	uint64_t n_calls;
	uint64_t first_ns,
		last_ns; /* when calls of the sums returned; 0: there are none */
};

void io_ledger_fini(struct io_ledger *l);
void io_ledger_add(struct io_ledger *l, const struct io_call *c);
/* One that has not returned yet has its time. */
void io_ledger_add_time(struct io_ledger *l, const struct io_call *c);
/* Sums begin anew. */
void io_ledger_clear(struct io_ledger *l);

#endif
