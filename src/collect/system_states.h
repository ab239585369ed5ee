/* SPDX-License-Identifier: Apache-2.0
 *
 * system_states - the time of threads by state and stack, summed in the kernel.
 *
 * BPF programs at every switch of threads, and at a clock event of each CPU
 * (wire/state_record.h); this loads them, and fetches what they summed.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_STATES_H
#define DWELL_COLLECT_SYSTEM_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/state_code.h"
#include "collect/system_numbers.h"
#include "collect/system_rings.h"
#include "collect/system_rows.h"
#include "host/cpus.h"
#include "wire/state_record.h"

struct system_states;

struct system_states_settings {
	const struct cpus *cpus;
	uint64_t period_ns; /* of the samples that tell user's from system's time */
	bool is_everybody;  /* all threads, not only those of processes that are told */
	bool follows_children; /* of these */
	bool has_threads;      /* threads are told apart */
	bool has_processes;    /* processes of one name are told apart */
	uint32_t depth;	       /* frames of user code; 0: as many as there may be */
	/* It is not going to start: only those programs are loaded that tell whether the
	 * kernel takes such ones, without those that it takes long to verify. */
	bool is_trial;
};

struct system_states_sink {
	struct system_sink rings; /* its ctx is for both */
	void (*time)(void *ctx, uint32_t number, const struct state_record_sum *more);
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_states_new(const struct system_states_settings *settings,
			       const struct system_states_sink *sink,
			       struct system_states **ret, struct err *e);
void system_states_free(struct system_states *s);
void system_states_freep(struct system_states **s);

/* For system_rows_new(). */
void system_states_maps(const struct system_states *s, struct system_rows_maps *ret);

/* For system_numbers_new(). */
void system_states_numbers(const struct system_states *s,
			   struct system_numbers_maps *ret);

/* Follow this process; from its next exec on when awaits_exec. */
must_use int system_states_follow(struct system_states *s, pid_t pid, bool awaits_exec,
				  struct err *e);
/* Begin; what is paused charges nothing. */
must_use int system_states_start(struct system_states *s, struct err *e);
int system_states_fd(const struct system_states *s);
/* What the rings hold: images that were met, stacks. */
void system_states_fetch(struct system_states *s);
/* Is it time to drain, whatever the time? */
bool system_states_is_filling(const struct system_states *s);
/* And the time since the last drain, of what goes on if it is long ago; is_whole: in any
 * case.  The table of keys that nobody tells of any more, or negative. */
int system_states_drain(struct system_states *s, bool is_whole);
/* CPUs came or went. */
void system_states_follow_cpus(struct system_states *s);
void system_states_jitter(struct system_states *s);
void system_states_pause(struct system_states *s, bool is_paused);
/* Nothing is seen any more; what was under way is charged until now. */
void system_states_stop(struct system_states *s);

/* Where the kernel has its code; borrowed. */
const struct state_code *system_states_code(const struct system_states *s);
void system_states_stats(const struct system_states *s, struct stack_record_stats *ret);
/* Times that a file could not be numbered, as there were too many. */
uint32_t system_states_n_unnumbered(const struct system_states *s);
/* Memory of the maps and rings, without the rows. */
size_t system_states_bytes(const struct system_states *s);

#endif
