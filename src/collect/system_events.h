/* SPDX-License-Identifier: Apache-2.0
 *
 * system_events - the events of each CPU that run a BPF program now and then.
 *
 * Periods are drawn anew now and then, so that what happens in step with an event is
 * neither always nor never seen.  Where a CPU cannot count all events at once they take
 * turns, and how long each was on is kept.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_EVENTS_H
#define DWELL_COLLECT_SYSTEM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_event.h"
#include "host/cpus.h"
#include "wire/stack_record.h"

struct bpf_program;
struct system_events;
struct system_pins;

struct system_events_settings {
	const struct cpus *cpus; /* borrowed */
	const struct system_event *events;
	size_t n_events;    /* 0: the CPU's clock */
	uint64_t period_ns; /* of that */
	bool is_fixed;	    /* every period is the same */
	uint32_t n_at_once; /* no more than that many are on; 0: as many as can be */
};

/* Since the start, on all CPUs. */
struct system_events_share {
	uint64_t on_ns, of_ns; /* it was on, and could have been */
	uint64_t counted;      /* meanwhile, in the event's unit */
};

/* Nothing is counted yet. */
must_use int system_events_new(const struct system_events_settings *settings,
			       struct system_events **ret, struct err *e);
void system_events_free(struct system_events *s);
void system_events_freep(struct system_events **s);

/* Run the program at a clock for this thread, for so much of its CPU time. */
must_use int system_events_try(struct bpf_program *program, uint64_t ns, struct err *e);
/* On those of the CPUs that are online.  The program's cookie is the event's number. */
must_use int system_events_start(struct system_events *s, struct bpf_program *program,
				 struct err *e);
/* What CPUs that came or went need, if it is time to look for them. */
void system_events_follow(struct system_events *s, uint64_t now_ns);
/* Draw the next periods, and it is the next events' turn.  An event that took few samples
 * on a CPU since the last time, by the stats of CPUs, keeps its period there. */
void system_events_jitter(struct system_events *s,
			  const struct stack_record_stats *stats);
/* Where a rate was asked for: periods by what was counted since the last time, from now
 * on. */
void system_events_tune(struct system_events *s, const struct stack_record_stats *stats);
/* Is one far above its rate since then? */
bool system_events_exceed(const struct system_events *s,
			  const struct stack_record_stats *stats);
/* Until then, by an event that has a rate. */
uint64_t system_events_counted(const struct system_events *s, size_t event);
/* They go on when this process is killed: each attachment is pinned under a name of that
 * turn. */
must_use int system_events_keep(struct system_events *s, const struct system_pins *pins,
				uint32_t turn, struct err *e);
/* From now on the kernel ends an event at which the program returns 1, and those of other
 * turns are not pinned any more. */
must_use int system_events_limit(struct system_events *s, struct err *e);
/* What is pinned is somebody else's to remove. */
void system_events_forget_pins(struct system_events *s);
void system_events_pause(struct system_events *s, bool is_paused);
void system_events_stop(struct system_events *s);

/* May one of them have been off for a part of the time? */
bool system_events_take_turns(const struct system_events *s);
/* Of each event, by its number. */
void system_events_shares(struct system_events *s,
			  struct system_events_share ret[SYSTEM_EVENTS_MAX]);

#endif
