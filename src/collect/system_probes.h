/* SPDX-License-Identifier: Apache-2.0
 *
 * system_probes - system calls and triggers by thread and stack, summed in the kernel.
 *
 * BPF programs (wire/probe_record.h); this loads them, and fetches what they summed.  One
 * thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_PROBES_H
#define DWELL_COLLECT_SYSTEM_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_rings.h"
#include "collect/system_rows.h"
#include "host/cpus.h"
#include "wire/probe_record.h"
#include "wire/state_record.h"

struct system_probes;

/* A tracepoint, and the field of it that is summed. */
struct system_probes_trigger {
	const char *group, *name; /* borrowed */
	struct probe_record_field field;
};

struct system_probes_settings {
	const struct cpus *cpus;
	bool has_calls; /* system calls */
	struct system_probes_trigger triggers[PROBE_RECORD_TRIGGERS_MAX];
	size_t n_triggers;
	bool is_everybody; /* all threads, not only those of processes that are told */
	bool follows_children; /* of these */
};

struct system_probes_sink {
	struct system_sink rings; /* its ctx is for both */
	void (*sum)(void *ctx, uint32_t number, const struct state_record_sum *more);
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_probes_new(const struct system_probes_settings *settings,
			       const struct system_probes_sink *sink,
			       struct system_probes **ret, struct err *e);
void system_probes_free(struct system_probes *s);
void system_probes_freep(struct system_probes **s);

/* For system_rows_new(). */
void system_probes_maps(const struct system_probes *s, struct system_rows_maps *ret);

/* Follow this process; from its next exec on when awaits_exec. */
must_use int system_probes_follow(struct system_probes *s, pid_t pid, bool awaits_exec,
				  struct err *e);
/* Begin; what is paused sums nothing. */
must_use int system_probes_start(struct system_probes *s, struct err *e);
int system_probes_fd(const struct system_probes *s);
/* What the rings hold: images that were met, stacks. */
void system_probes_fetch(struct system_probes *s);
/* And what came to the sums since the last drain.  The table of keys that nobody tells of
 * any more, or negative. */
int system_probes_drain(struct system_probes *s);
void system_probes_pause(struct system_probes *s, bool is_paused);
/* Nothing is seen any more; calls that are under way have taken the time until now. */
void system_probes_stop(struct system_probes *s);

void system_probes_stats(const struct system_probes *s, struct stack_record_stats *ret);

#endif
