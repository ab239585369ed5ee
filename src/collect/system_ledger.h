/* SPDX-License-Identifier: Apache-2.0
 *
 * system_ledger - how much of what the kernel counted is in a recording for sure.
 *
 * In a map of the kernel, which outlives the one who writes it.  An entry is there as a
 * whole or not at all, whenever its writer is killed.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_LEDGER_H
#define DWELL_COLLECT_SYSTEM_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_rings.h"

struct system_ledger;

struct system_ledger_entry {
	uint64_t recording;  /* which it is, 0: none yet */
	uint64_t bytes;	     /* of its file: what is behind them is counted elsewhere */
	uint64_t written_ns; /* by the clock that goes on while suspended */
	uint64_t samples, lost;	       /* by then */
	uint64_t unwritten;	       /* of the samples: they wait for the disk */
	uint64_t told_lost, told_late; /* by earlier recordings */
	uint32_t table;		       /* the one that was emptied last */
	uint32_t turn;		       /* whose programs count */
	/* Of sums (system_sums): */
	uint64_t version;	/* of what is delivered */
	uint64_t told_bytes[2]; /* of the records of each table (system_told) */
	uint32_t finished;	/* this generation's turn has ended, 0: none has */
	uint32_t zero;
};

/* Of so many rings. */
must_use int system_ledger_new(size_t n_rings, struct system_ledger **ret, struct err *e);
/* An earlier one's, which is then ours.  layout: as system_ledger_seal() was given, or it
 * is refused. */
must_use int system_ledger_open(int fd, size_t n_rings, uint64_t layout,
				struct system_ledger **ret, struct err *e);
/* What was written last under another layout; fd becomes ours and is closed.  False: it
 * is not to be understood. */
bool system_ledger_peek(int fd, size_t n_rings, struct system_ledger_entry *ret);
void system_ledger_free(struct system_ledger *l);
void system_ledger_freep(struct system_ledger **l);

int system_ledger_fd(const struct system_ledger *l);

/* From now on it may be opened. */
void system_ledger_seal(struct system_ledger *l, uint64_t layout);
/* places: of each ring. */
void system_ledger_write(struct system_ledger *l, const struct system_ledger_entry *entry,
			 const struct system_rings_place *places);
void system_ledger_read(const struct system_ledger *l, struct system_ledger_entry *entry,
			struct system_rings_place *places);

#endif
