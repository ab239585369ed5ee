/* SPDX-License-Identifier: Apache-2.0
 *
 * system_clock - the clock of each CPU that runs a BPF program at every tick.
 *
 * Periods are drawn anew now and then, so that what happens in step with a clock is
 * neither always nor never seen.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_CLOCK_H
#define DWELL_COLLECT_SYSTEM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "host/cpus.h"
#include "wire/stack_record.h"

struct bpf_program;
struct system_clock;

/* Not ticking yet. */
struct system_clock *system_clock_new(const struct cpus *cpus, uint64_t period_ns,
				      bool is_fixed);
void system_clock_free(struct system_clock *c);
void system_clock_freep(struct system_clock **c);

/* Run the program for this thread, for some milliseconds. */
must_use int system_clock_try(struct bpf_program *program, struct err *e);
/* On those of the CPUs that are online. */
must_use int system_clock_start(struct system_clock *c, struct bpf_program *program,
				struct err *e);
/* CPUs came or went. */
void system_clock_follow(struct system_clock *c);
/* Draw the next periods.  A CPU that took no sample since the last time, by the stats of
 * CPUs, is idle and left alone. */
void system_clock_jitter(struct system_clock *c, const struct stack_record_stats *stats);
void system_clock_pause(struct system_clock *c, bool is_paused);
void system_clock_stop(struct system_clock *c);

#endif
