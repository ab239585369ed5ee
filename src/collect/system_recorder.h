/* SPDX-License-Identifier: Apache-2.0
 *
 * system_recorder - whole CPUs profiled by the kernel's side, into one recording after
 * the other.
 *
 * Joins the sampler, the rows it walks by, the images it met and the counts.  The caller
 * waits on the descriptor and calls system_recorder_work() now and then.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_RECORDER_H
#define DWELL_COLLECT_SYSTEM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_counts.h"
#include "collect/system_sampler.h"
#include "store/writer.h"

struct symbol_store;
struct system_recorder;

/* Sums since the start. */
struct system_recorder_status {
	struct stack_record_stats kernel;
	struct system_counts_stats counts;
	struct system_late late;
	size_t rows_bytes, other_bytes; /* memory in the kernel */
	size_t n_images;		/* with rows */
	uint32_t n_gone, n_unnumbered;
	uint64_t n_again;	 /* images whose number had been another's */
	uint64_t longest_gap_ns; /* in which nobody emptied the rings */
};

#define SYSTEM_RECORDER_ROWS_BYTES ((size_t)24 << 20)
#define SYSTEM_RECORDER_JITTER_NS  UINT64_C(100000000)
#define SYSTEM_RECORDER_DRAIN_NS   UINT64_C(1000000000)

must_use int system_recorder_new(const struct system_sampler_settings *settings,
				 struct system_recorder **ret, struct err *e);
/* Before it starts: the symbols of what is met are kept there, which is borrowed. */
void system_recorder_keep_symbols(struct system_recorder *r,
				  struct symbol_store *symbols);
void system_recorder_free(struct system_recorder *r);
void system_recorder_freep(struct system_recorder **r);

/* Into this recording, as counts of its event, from now on. */
void system_recorder_begin(struct system_recorder *r, struct writer *w, uint32_t event);
must_use int system_recorder_start(struct system_recorder *r, struct err *e);
/* Readable when there is work. */
int system_recorder_fd(const struct system_recorder *r);
void system_recorder_work(struct system_recorder *r, uint64_t now_ns);
/* What was counted until now is in the recording at once. */
void system_recorder_drain(struct system_recorder *r, uint64_t now_ns);
/* Samples are counted, or not. */
void system_recorder_pause(struct system_recorder *r, bool is_paused);
void system_recorder_stop(struct system_recorder *r);
/* What was counted so far is in the recording then, with what its names need; but for the
 * kernel's symbols, if they are seen to elsewhere. */
must_use int system_recorder_end(struct system_recorder *r, uint64_t now_ns,
				 bool has_symbols, struct err *e);

void system_recorder_status(const struct system_recorder *r,
			    struct system_recorder_status *ret);

#endif
