/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/states_recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/system_states.h"

/* Samples that tell user's from system's time, a second. */
#define DEFAULT_HZ 1000
#define TRIAL_NS   1000000

extern const struct source_ops states_source;

_Static_assert(STATE_RECORD_N_EVENTS <= EXPERIMENT_EVENTS_MAX, "a column of each state");
_Static_assert(STATE_RECORD_N_EVENTS <= SYSTEM_COUNTS_EVENTS_MAX, "a key's event");

struct states {
	struct system_states *programs;
	uint64_t interval_ns;
	uint32_t event; /* of the recording, that the interval is told with */
};

static void free_states(void *programs)
{
	struct states *s = programs;

	system_states_free(s->programs);
	free(s);
}

static int load(const struct recorder_settings *x, const struct system_threads_sink *sink,
		void **ret, struct err *e)
{
	struct states *s = xcalloc(1, sizeof(*s));
	struct system_states_settings settings = {
		.whom = summing_whom(x),
		.period_ns = x->plans[0].choice.interval,
		.pins = x->has_pins ? x->keep : NULL,
	};
	int rc;

	s->interval_ns = settings.period_ns;
	rc = system_states_new(&settings, sink, &s->programs, e);
	if (rc < 0)
		free_states(s);
	else
		*ret = s;
	return rc;
}

static int try(const struct cpus *cpus, const struct system_threads_sink *sink,
	       struct err *e)
{
	struct system_states_settings settings = { .whom.cpus = cpus,
						   .period_ns = TRIAL_NS,
						   .is_trial = true };
	struct system_states *s = NULL;
	int rc = system_states_new(&settings, sink, &s, e);

	system_states_free(s);
	return rc;
}

static const struct system_programs *loaded(const void *programs)
{
	return system_states_programs(((const struct states *)programs)->programs);
}

static void events(void *programs, const struct plan *plans,
		   struct system_counts_events *ret)
{
	struct states *s = programs;

	memcpy(ret->ids, plans[0].events, STATE_RECORD_N_EVENTS * sizeof(*ret->ids));
	ret->code = system_states_code(s->programs);
	s->event = ret->ids[STATE_RECORD_USER];
}

static int start(void *programs, struct err *e)
{
	return system_states_start(((struct states *)programs)->programs, e);
}

static void jitter(void *programs)
{
	system_states_jitter(((struct states *)programs)->programs);
}

static void follow_cpus(void *programs, uint64_t now_ns)
{
	system_states_follow_cpus(((struct states *)programs)->programs, now_ns);
}

static void stop(void *programs)
{
	system_states_stop(((struct states *)programs)->programs);
}

static void note(void *programs, struct writer *w)
{
	const struct states *s = programs;

	facts_add_for(w, s->event, FACT_RATE, "requested-period", "ns", s->interval_ns);
}

static void status(unused const void *programs, const struct system_counts_stats *counts,
		   struct recorder_status *ret)
{
	ret->n_states = counts->samples;
}

static struct summing_trial trial;

const struct summing_kind states_recorder_kind = {
	.trial = &trial,
	.load = load,
	.try = try,
	.loaded = loaded,
	.events = events,
	.start = start,
	.jitter = jitter,
	.follow_cpus = follow_cpus,
	.stop = stop,
	.note = note,
	.status = status,
	.free = free_states,
};

static int states_open(const struct recorder_settings *x, struct recorder **ret,
		       struct err *e)
{
	return summing_open(&states_recorder, &states_recorder_kind, x, ret, e);
}

const struct recorder_ops states_recorder = {
	.source = &states_source,
	.hz = DEFAULT_HZ,
	.kept = &system_threads_states_kept,
	.open = states_open,
	.keep = summing_keep,
	.left = summing_left,
	SUMMING_RECORDER_OPS,
};
