/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/probes_recorder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/probe_names.h"
#include "collect/system_probes.h"
#include "collect/trigger.h"
#include "wire/probe_record.h"

extern const struct source_ops probes_source;

#define PLANS_MAX (1 + TRIGGER_MAX)

_Static_assert(TRIGGER_MAX <= PROBE_RECORD_TRIGGERS_MAX, "each has a cookie");
_Static_assert(3 * PLANS_MAX <= SYSTEM_COUNTS_EVENTS_MAX, "a number of each column");

struct probes {
	struct system_probes *programs;
	const struct trigger *triggers[TRIGGER_MAX]; /* by cookie */
	size_t n_triggers;
	bool has_calls;
	size_t n_plans;
	struct system_counts_how how;
};

static void free_probes(void *programs)
{
	struct probes *s = programs;

	system_probes_free(s->programs);
	free(s);
}

static void take_plan(struct probes *s, const struct plan *p)
{
	s->n_plans++;
	if (p->choice.experiment->trigger == EXPERIMENT_TRIGGER)
		s->triggers[s->n_triggers++] = trigger_of(p->choice.experiment);
	else
		s->has_calls = true;
}

static void add_tracepoint(struct system_probes_settings *settings,
			   const struct trigger *t, uint32_t number)
{
	settings->places[settings->n_places++] = (struct system_probes_place){
		.group = t->group,
		.name = t->name,
		.what = { .trigger = number, .value = t->told },
	};
}

static void add_code(struct system_probes_settings *settings, const struct trigger *t,
		     uint32_t number)
{
	for (size_t i = 0; i < t->code.n_places; i++) {
		const struct trigger_place *p = &t->code.places[i];

		settings->places[settings->n_places++] = (struct system_probes_place){
			.path = t->code.path,
			.offset = p->offset,
			.semaphore = p->semaphore,
			.what = { .trigger = number,
				  .is_return = t->kind == TRIGGER_RETURN,
				  .value = p->value },
		};
	}
}

static int add_places(struct system_probes_settings *settings, const struct trigger *t,
		      uint32_t number, struct err *e)
{
	size_t n = t->kind == TRIGGER_TRACEPOINT ? 1 : t->code.n_places;

	if (n > PROBE_RECORD_PLACES_MAX - settings->n_places)
		return err_set(e, ERR_LIMIT, "triggers have more than %d places together",
			       PROBE_RECORD_PLACES_MAX);
	if (t->kind == TRIGGER_TRACEPOINT)
		add_tracepoint(settings, t, number);
	else
		add_code(settings, t, number);
	return 0;
}

static int load_programs(struct probes *s, const struct recorder_settings *x,
			 const struct system_threads_sink *sink, struct err *e)
{
	struct system_probes_settings settings = {
		.whom = summing_whom(x),
		.has_calls = s->has_calls,
		.pins = x->has_pins ? x->keep : NULL,
	};

	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n_triggers; i++)
		rc = add_places(&settings, s->triggers[i], (uint32_t)i, e);
	return rc < 0 ? rc : system_probes_new(&settings, sink, &s->programs, e);
}

static int load(const struct recorder_settings *x, const struct system_threads_sink *sink,
		void **ret, struct err *e)
{
	struct probes *s = xcalloc(1, sizeof(*s));
	int rc;

	s->how.label = probe_names_call;
	s->how.pair_label = probe_names_error;
	for (size_t i = 0; i < x->n_plans; i++)
		take_plan(s, &x->plans[i]);
	rc = load_programs(s, x, sink, e);
	if (rc < 0)
		free_probes(s);
	else
		*ret = s;
	return rc;
}

static int try(const struct cpus *cpus, const struct system_threads_sink *sink,
	       struct err *e)
{
	struct system_probes_settings settings = { .whom.cpus = cpus, .has_calls = true };
	struct system_probes *s = NULL;
	int rc = system_probes_new(&settings, sink, &s, e);

	system_probes_free(s);
	return rc;
}

static const struct system_programs *loaded(const void *programs)
{
	return system_probes_programs(((const struct probes *)programs)->programs);
}

/* The events of a plan get numbers behind each other, from *n on. */
static uint8_t number_events(const struct plan *p, struct system_counts_events *events,
			     unsigned *n)
{
	uint8_t first = (uint8_t)*n;

	for (unsigned i = 0; i < p->choice.experiment->n_events; i++)
		events->ids[(*n)++] = p->events[i];
	return first;
}

static struct system_counts_parts parts_of_calls(uint8_t first)
{
	return (struct system_counts_parts){
		.ns = first + EXPERIMENT_CALL_TIME,
		.count = first + EXPERIMENT_CALLS,
		.n_waits = SYSTEM_COUNTS_NONE,
		.wait_ns = SYSTEM_COUNTS_NONE,
		.pair = first + EXPERIMENT_CALL_ERRORS,
		.each = SYSTEM_COUNTS_NONE,
	};
}

static uint8_t event_of(const struct plan *p, uint8_t first, unsigned i)
{
	return i < p->choice.experiment->n_events ? (uint8_t)(first + i)
						  : SYSTEM_COUNTS_NONE;
}

static struct system_counts_parts parts_of_trigger(const struct plan *p, uint8_t first)
{
	return (struct system_counts_parts){
		.ns = event_of(p, first, TRIGGER_SUM),
		.count = event_of(p, first, TRIGGER_COUNT),
		.n_waits = event_of(p, first, TRIGGER_NEGATIVE),
		.wait_ns = SYSTEM_COUNTS_NONE,
		.pair = SYSTEM_COUNTS_NONE,
		.each = SYSTEM_COUNTS_NONE,
	};
}

static void events(void *programs, const struct plan *plans,
		   struct system_counts_events *ret)
{
	struct probes *s = programs;
	unsigned n = 0, n_triggers = 0;

	for (size_t i = 0; i < s->n_plans; i++) {
		uint8_t first = number_events(&plans[i], ret, &n);

		if (plans[i].choice.experiment->trigger == EXPERIMENT_TRIGGER)
			s->how.parts[PROBE_RECORD_TRIGGER + n_triggers++] =
				parts_of_trigger(&plans[i], first);
		else
			s->how.parts[PROBE_RECORD_CALL] = parts_of_calls(first);
	}
	ret->how = &s->how;
}

static int start(void *programs, struct err *e)
{
	return system_probes_start(((struct probes *)programs)->programs, e);
}

static void stop(void *programs)
{
	system_probes_stop(((struct probes *)programs)->programs);
}

static void status(const void *programs, const struct system_counts_stats *counts,
		   struct recorder_status *ret)
{
	const struct probes *s = programs;

	ret->has_calls = s->has_calls;
	ret->n_calls = counts->of_events[PROBE_RECORD_CALL];
	for (size_t i = 0; i < s->n_triggers; i++) {
		ret->triggers[i] = s->triggers[i];
		ret->n_met[i] = counts->of_events[PROBE_RECORD_TRIGGER + i];
	}
	ret->n_triggers = s->n_triggers;
}

static struct summing_trial trial;

const struct summing_kind probes_recorder_kind = {
	.trial = &trial,
	.load = load,
	.try = try,
	.loaded = loaded,
	.events = events,
	.start = start,
	.stop = stop,
	.status = status,
	.free = free_probes,
};

static int probes_open(const struct recorder_settings *x, struct recorder **ret,
		       struct err *e)
{
	return summing_open(&probes_recorder, &probes_recorder_kind, x, ret, e);
}

const struct recorder_ops probes_recorder = {
	.source = &probes_source,
	.kept = &system_threads_probes_kept,
	.open = probes_open,
	.keep = summing_keep,
	.left = summing_left,
	SUMMING_RECORDER_OPS,
};
