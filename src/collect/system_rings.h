/* SPDX-License-Identifier: Apache-2.0
 *
 * system_rings - a ring of each CPU, through which its BPF programs tell of stacks.
 *
 * What was fetched stays in the ring until it is said that it is not needed any more: who
 * is killed before has lost nothing, if the rings outlive him.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_RINGS_H
#define DWELL_COLLECT_SYSTEM_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "host/cpus.h"
#include "wire/io_record.h"
#include "wire/stack_record.h"

/* Who hears of what was counted.  Of each table, a key's stack is told before its counts;
 * a drain ends the keys of one table. */
struct system_sink {
	void *ctx;
	void (*image)(void *ctx, const struct stack_record_image *r);
	void (*stack)(void *ctx, const struct stack_record *r);
	void (*count)(void *ctx, unsigned table, uint64_t key, uint32_t count);
	/* Of sums only. */
	void (*pair)(void *ctx, const struct stack_record_pair *r);
	void (*again)(void *ctx, const struct stack_record_again *r);
	void (*each)(void *ctx, const struct stack_record_each *r);
	/* Of I/O only. */
	void (*file)(void *ctx, const struct io_record_file *r);
};

struct system_rings;

#define SYSTEM_RINGS_BYTES ((size_t)2 << 20)

/* Rings of so many bytes, put into the map of rings by CPU. */
must_use int system_rings_new(int map_fd, const struct cpus *cpus, size_t bytes,
			      const struct system_sink *sink, struct system_rings **ret,
			      struct err *e);
/* Those that an earlier one put there; to be followed by system_rings_resume(). */
must_use int system_rings_take(int map_fd, const struct cpus *cpus, size_t bytes,
			       const struct system_sink *sink, struct system_rings **ret,
			       struct err *e);
/* Whom what comes is told from now on. */
void system_rings_tell(struct system_rings *r, const struct system_sink *sink);
void system_rings_free(struct system_rings *r);
void system_rings_freep(struct system_rings **r);

/* Readable when there is something to fetch at once. */
int system_rings_fd(const struct system_rings *r);
/* What was told since the last time. */
void system_rings_fetch(struct system_rings *r);
/* The same, and it is needed no more. */
void system_rings_consume(struct system_rings *r);
/* What was fetched is needed no more; final with system_rings_release(). */
void system_rings_pass(struct system_rings *r);

/* What is needed of a ring; positions in all that was ever told. */
struct system_rings_place {
	uint64_t start;	  /* from here on */
	uint64_t done[2]; /* but of that table only from here on */
};

/* Stacks of the table that is filled next are told from here on. */
void system_rings_mark(struct system_rings *r);
/* Of that table is nothing needed that was fetched, nor of the other what was told before
 * the last mark. */
void system_rings_done(struct system_rings *r, unsigned table);
/* That is final: there is room for more. */
void system_rings_release(struct system_rings *r);
/* Is one of them half full? */
bool system_rings_are_filling(const struct system_rings *r);
/* Of each ring, in the order of the CPUs; for another process to go on with. */
void system_rings_places(const struct system_rings *r, struct system_rings_place *ret);
void system_rings_resume(struct system_rings *r, const struct system_rings_place *places);

/* libbpf's own words go nowhere: what is wrong is in its results. */
void system_rings_silence_libbpf(void);

/* Sums over the CPUs of the kernel's counters. */
void system_rings_sum_stats(const struct stack_record_stats *stats, uint32_t n_cpus,
			    struct stack_record_stats *ret);

#endif
