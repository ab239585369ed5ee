/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"
#include "wire/state_record.h"

extern const struct experiment experiment_states;

#define COLUMN(event_name, event_unit, how, text)                                        \
	{                                                                                \
		.name = event_name, .unit = event_unit, .description = text,             \
		.flags = how                                                             \
	}
#define STATE(event_name, how, text) COLUMN(event_name, "ns", how, text)

/* Every moment of a thread is in one of the columns of states, by enum
 * state_record_state; the others are of wake-ups. */
const struct experiment experiment_states = {
	.name = "states",
	.summary = "what state each thread is in: running, or what it waits for",
	.trigger = EXPERIMENT_STATES,
	.has_variants = true,
	.unit = "ns",
	.on = 1000000,
	.hi = 200000,
	.lo = 10000000,
	.min = 10000,
	.max = UINT64_C(1000000000),
	.n_events = STATE_RECORD_N_EVENTS,
	.events = {
		[STATE_RECORD_USER] = STATE("user-cpu", EVENT_SAMPLED,
			"running, in the program; CPU time is exact, its parts are sampled"),
		[STATE_RECORD_SYSTEM] = STATE("system-cpu", EVENT_SAMPLED,
			"running, in the kernel, faults and interrupts too"),
		[STATE_RECORD_WAIT_CPU] = STATE("wait-cpu", EVENT_EXACT,
			"able to run, but another thread had the CPU"),
		[STATE_RECORD_LOCK] = STATE("user-lock", EVENT_EXACT,
			"waiting in a futex or semaphore: for a lock, condition or thread"),
		[STATE_RECORD_TEXT_FAULT] = STATE("text-fault", EVENT_EXACT,
			"waiting for a page of code"),
		[STATE_RECORD_DATA_FAULT] = STATE("data-fault", EVENT_EXACT,
			"waiting for a page of data"),
		[STATE_RECORD_OTHER_FAULT] = STATE("other-fault", EVENT_EXACT,
			"waiting for a page that the kernel touched, in a system call"),
		[STATE_RECORD_SLEEP] = STATE("sleep", EVENT_EXACT,
			"asleep until some time, or until a signal"),
		[STATE_RECORD_IO] = STATE("io-wait", EVENT_EXACT,
			"waiting in a system call of files, sockets or pipes"),
		[STATE_RECORD_STOPPED] = STATE("stopped", EVENT_EXACT,
			"stopped by a signal or a debugger"),
		[STATE_RECORD_OTHER] = STATE("other-wait", EVENT_EXACT,
			"waiting for anything else: a child, for instance"),
		[STATE_RECORD_TAKEN] = STATE("taken", EVENT_EXACT,
			"on a CPU that was given to others: by the hypervisor, and to "
			"interrupts where the kernel accounts for them"),
		[STATE_RECORD_UNACCOUNTED] = STATE("unaccounted", EVENT_EXACT,
			"in none of the other states: running, and ended before a sample"),
		[STATE_RECORD_WAKEUPS] = COLUMN("wakeups", "count", EVENT_EXACT,
			"waits that somebody ended, in the stacks of both"),
		[STATE_RECORD_LATENCY] = STATE("wakeup-latency", EVENT_EXACT,
			"from being woken to running, in the stacks of both"),
		[STATE_RECORD_WOKEN] = STATE("woken-wait", EVENT_EXACT,
			"waiting until woken, in the stacks of both"),
	},
};
