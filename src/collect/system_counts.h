/* SPDX-License-Identifier: Apache-2.0
 *
 * system_counts - what the kernel counted, as samples of a recording.
 *
 * Between two drains, keys are remembered with what they stand for; then each that was
 * counted becomes one sample of a class of processes: those of one name, executable and
 * cgroup.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_COUNTS_H
#define DWELL_COLLECT_SYSTEM_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"
#include "unwind/stop.h"
#include "wire/stack_record.h"

struct system_counts;
struct system_images;

struct system_counts_stats {
	uint64_t samples; /* put into recordings */
	uint64_t strays;  /* counted under a key that nobody told of */
	uint64_t stops[UNWIND_N_STOPS];
};

struct system_counts *system_counts_new(struct system_images *images);
void system_counts_free(struct system_counts *c);
void system_counts_freep(struct system_counts **c);

/* From the sampler. */
void system_counts_stack(struct system_counts *c, const struct stack_record *r);
void system_counts_count(struct system_counts *c, unsigned table, uint64_t key,
			 uint32_t count);

/* Samples go into this recording from now on, as its event. */
void system_counts_begin(struct system_counts *c, struct writer *w, uint32_t event,
			 uint64_t period);
/* Everything counted in a table becomes samples of now; its keys are forgotten. */
void system_counts_write(struct system_counts *c, unsigned table, uint64_t now_ns);
/* What names need goes into the recording: maps of compilers, and the kernel's symbols
 * unless somebody else sees to these. */
must_use int system_counts_end(struct system_counts *c, bool has_symbols, struct err *e);

const struct system_counts_stats *system_counts_stats(const struct system_counts *c);

#endif
