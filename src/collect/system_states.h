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
#include "collect/system_programs.h"
#include "wire/state_record.h"

struct system_states;

struct system_states_settings {
	struct system_threads_whom whom;
	uint64_t period_ns; /* of the samples that tell user's from system's time */
	/* It is not going to start: only those programs are loaded that tell whether the
	 * kernel takes such ones, without those that it takes long to verify. */
	bool is_trial;
	const char *pins; /* under that name it goes on without us; NULL: not */
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_states_new(const struct system_states_settings *settings,
			       const struct system_threads_sink *sink,
			       struct system_states **ret, struct err *e);
void system_states_free(struct system_states *s);
void system_states_freep(struct system_states **s);

const struct system_programs *system_states_programs(const struct system_states *s);
/* Begin; what is paused charges nothing. */
must_use int system_states_start(struct system_states *s, struct err *e);
/* CPUs came or went. */
void system_states_follow_cpus(struct system_states *s, uint64_t now_ns);
void system_states_jitter(struct system_states *s);
/* Nothing is seen any more; what was under way is charged until now. */
void system_states_stop(struct system_states *s);

/* Where the kernel has its code; borrowed. */
const struct state_code *system_states_code(const struct system_states *s);
#endif
