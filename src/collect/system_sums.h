/* SPDX-License-Identifier: Apache-2.0
 *
 * system_sums - times that BPF programs sum in the kernel, taken from there while they
 * run (wire/state_record.h, bpf/sums.bpf.h).
 *
 * Sums are numbered.  Before the numbers run out there is a turn: the programs give
 * numbers of the next generation, who keeps numbers gets new ones, and the old ones are
 * free once all that was charged to them has been delivered.  Where the sums outlive this
 * process another goes on with them, wherever it was killed.  One thread.
 *
 *	if (system_sums_want_turn(s)) {
 *		system_sums_begin_turn(s);
 *		(a program renews all numbers that are kept)
 *		system_sums_end_turn(s);
 *	}
 *	system_sums_take(s);
 *	(fetch the rings: what has been charged has been told before)
 *	system_sums_deliver(s, ctx, time);
 *	system_sums_put(s);
 *	(say for good that system_sums_version(s) is delivered)
 *	system_sums_commit(s);
 *	if (system_sums_closing(s) >= 0)
 *		system_sums_close(s);
 */
#ifndef DWELL_COLLECT_SYSTEM_SUMS_H
#define DWELL_COLLECT_SYSTEM_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "wire/state_record.h"

struct system_sums;

/* Of the programs, borrowed. */
struct system_sums_maps {
	int sums, numbers; /* maps */
	uint32_t *generation, *oldest, *next;
	/* What is delivered is kept there (system_delivered), in that version; -1: in
	 * memory.  And which generation's turn had ended, 0: none. */
	int delivered;
	uint64_t version;
	uint32_t finished;
};

must_use int system_sums_new(const struct system_sums_maps *maps,
			     struct system_sums **ret, struct err *e);
void system_sums_free(struct system_sums *s);
void system_sums_freep(struct system_sums **s);

bool system_sums_want_turn(const struct system_sums *s);
void system_sums_begin_turn(struct system_sums *s);
void system_sums_end_turn(struct system_sums *s);

/* What was charged since the last time; number 0: what could not be told. */
void system_sums_take(struct system_sums *s);
void system_sums_deliver(struct system_sums *s, void *ctx,
			 void (*time)(void *ctx, uint32_t number,
				      const struct state_record_sum *more));
/* What was delivered is not charged since then any more: from that version on. */
void system_sums_put(struct system_sums *s);
uint64_t system_sums_version(const struct system_sums *s);
void system_sums_commit(struct system_sums *s);
/* After a turn the old sums are free.  The table of keys (system_counts) that nobody
 * tells of any more; negative: there was no turn. */
int system_sums_closing(const struct system_sums *s);
uint32_t system_sums_generation(const struct system_sums *s);
void system_sums_close(struct system_sums *s);

size_t system_sums_bytes(const struct system_sums *s); /* in the kernel */

#endif
