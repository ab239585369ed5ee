/* SPDX-License-Identifier: Apache-2.0
 *
 * event_choice - an event and how often it is sampled, as users write it.
 *
 * "page-faults", "page-faults:101", "task-clock:250us", "cpu-clock@5200": after a colon
 * the interval in the event's unit, after an at sign samples per second of what measures
 * time or a counter counts.  What stands before may say more of a counter
 * (counter_text.h).  What triggers is behind a colon: "trigger:sched:sched_process_fork";
 * find is for what is in code.
 */
#ifndef DWELL_COLLECT_EVENT_CHOICE_H
#define DWELL_COLLECT_EVENT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/experiment.h"
#include "collect/trigger.h"

/* Of what whole CPUs count, or what is recorded of all threads: states, calls, triggers.
 * What measures time has period_ns unless it says otherwise, which may be 0: to be chosen
 * later; is_pc_only: without stacks. */
must_use int event_choice_parse(const char *text, uint64_t period_ns, bool is_pc_only,
				trigger_find_fn *find, struct experiment_choice *ret,
				struct err *e);

/* The same for any experiment or event; *ret_has_interval: the text says how often. */
must_use int event_choice_parse_any(const char *text, trigger_find_fn *find,
				    struct experiment_choice *ret, bool *ret_has_interval,
				    struct err *e);

#endif
