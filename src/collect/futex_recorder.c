/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/futex_recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/futex_calls.h"
#include "collect/io_steps.h"
#include "collect/system_futex.h"

extern const struct source_ops futex_source;

_Static_assert((int)EXPERIMENT_SYNC_N_EVENTS <= SYSTEM_COUNTS_EVENTS_MAX,
	       "a number of each column");
_Static_assert(IO_RECORD_TIMES + 1 <= SYSTEM_COUNTS_MORE_MAX, "there is room for each");

struct futex_programs {
	struct system_futex_settings settings;
	struct system_futex *programs;
	struct io_steps steps;
	struct system_counts_how how;
	struct system_futex_counts before; /* in earlier recordings */
	uint64_t threshold_ns;
};

static void free_futex(void *programs)
{
	struct futex_programs *s = programs;

	system_futex_free(s->programs);
	free(s);
}

static void how_label(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "%s", futex_calls_how(label));
}

static size_t more(void *ctx, uint32_t number,
		   struct system_counts_more ret[SYSTEM_COUNTS_MORE_MAX])
{
	struct futex_programs *s = ctx;
	struct futex_record_more m;
	size_t n = 0;

	system_futex_take_more(s->programs, number, &m);
	for (size_t i = 0; i < IO_RECORD_TIMES; i++)
		if (m.times[i])
			ret[n++] = (struct system_counts_more){
				.event = EXPERIMENT_SYNC_DURATIONS,
				.weight = m.times[i],
				.label = s->steps.times[i]
			};
	if (m.n_unfinished)
		ret[n++] = (struct system_counts_more){
			.event = EXPERIMENT_SYNC_UNFINISHED,
			.weight = m.unfinished_ns,
			.count = m.n_unfinished,
			.label = m.n_begun_before ? "[begun before]" : NULL,
		};
	return n;
}

static struct futex_programs *new_programs(uint64_t threshold_ns)
{
	struct futex_programs *s = xcalloc(1, sizeof(*s));
	const struct system_counts_parts none = { .ns = SYSTEM_COUNTS_NONE,
						  .count = SYSTEM_COUNTS_NONE,
						  .n_waits = SYSTEM_COUNTS_NONE,
						  .wait_ns = SYSTEM_COUNTS_NONE,
						  .pair = EXPERIMENT_SYNC_HOLDERS,
						  .each = SYSTEM_COUNTS_NONE,
						  .woken_by = "[woken by]" };
	struct system_counts_parts wait = none, lock = none;

	wait.ns = EXPERIMENT_SYNC_TIME;
	wait.count = EXPERIMENT_SYNC_WAITS;
	lock.ns = EXPERIMENT_SYNC_LOCK_TIME;
	lock.count = EXPERIMENT_SYNC_LOCK_WAITS;
	lock.woken_by = "[held by]";
	wait.each = EXPERIMENT_SYNC_EACH;
	lock.each = EXPERIMENT_SYNC_EACH_LOCK;
	io_steps_name(&s->steps);
	s->threshold_ns = threshold_ns;
	s->how = (struct system_counts_how){
		.parts = { [FUTEX_RECORD_WAIT] = wait,
			   [FUTEX_RECORD_LOCK] = lock,
			   [FUTEX_RECORD_WAKER] = none },
		.label = how_label,
		.ctx = s,
		.more = more,
	};
	return s;
}

/* What a call takes that need not wait is nothing here: it does not get into the kernel.
 */
static uint64_t threshold_ns(const struct recorder_settings *x)
{
	uint64_t ns = x->plans[0].wait_threshold_ns;

	return ns == SOURCE_THRESHOLD_MEASURED ? 0 : ns;
}

static struct system_futex_settings settings_of(const struct recorder_settings *x)
{
	return (struct system_futex_settings){
		.whom = summing_whom(x),
		.threshold_ns = threshold_ns(x),
		.has_no_addresses = !x->scope,
		.tells_each = summing_tells_each(x),
		.cookie = x->cookie,
	};
}

static int load(const struct recorder_settings *x, const struct system_threads_sink *sink,
		void **ret, struct err *e)
{
	struct system_futex_settings settings = settings_of(x);
	struct futex_programs *s = new_programs(settings.threshold_ns);
	int rc = system_futex_new(&settings, sink, &s->programs, e);

	s->settings = settings;
	if (rc < 0)
		free_futex(s);
	else
		*ret = s;
	return rc;
}

static bool go_on(void *programs, const struct recorder_settings *x)
{
	const struct futex_programs *s = programs;
	struct system_futex_settings wanted = settings_of(x);

	return s->settings.threshold_ns == wanted.threshold_ns &&
	       s->settings.has_no_addresses == wanted.has_no_addresses &&
	       s->settings.tells_each == wanted.tells_each &&
	       s->settings.cookie == wanted.cookie &&
	       summing_is_same_whom(&s->settings.whom, &wanted.whom);
}

static int try(const struct cpus *cpus, const struct system_threads_sink *sink,
	       struct err *e)
{
	struct system_futex_settings settings = { .whom.cpus = cpus };
	struct system_futex *s = NULL;
	int rc = system_futex_new(&settings, sink, &s, e);

	system_futex_free(s);
	return rc;
}

static const struct system_programs *loaded(const void *programs)
{
	return system_futex_programs(((const struct futex_programs *)programs)->programs);
}

static void events(void *programs, const struct plan *plans,
		   struct system_counts_events *ret)
{
	struct futex_programs *s = programs;

	for (unsigned i = 0; i < EXPERIMENT_SYNC_N_EVENTS; i++)
		ret->ids[i] = plans[0].events[i];
	ret->how = &s->how;
}

static int start(void *programs, struct err *e)
{
	return system_futex_start(((struct futex_programs *)programs)->programs, e);
}

static void stop(void *programs)
{
	system_futex_stop(((struct futex_programs *)programs)->programs);
}

static void note(void *programs, struct writer *w)
{
	struct futex_programs *s = programs;
	struct system_futex_counts now;

	system_futex_counts(s->programs, &now);
	if (now.n_untimed > s->before.n_untimed)
		facts_loss(w, "untimed-waits", now.n_untimed - s->before.n_untimed);
	if (now.n_short > s->before.n_short) {
		facts_add(w, FACT_TARGET, "wait-threshold", "ns", s->threshold_ns);
		facts_add(w, FACT_TARGET, "short-waits", "count",
			  now.n_short - s->before.n_short);
		facts_add(w, FACT_TARGET, "short-wait-time", "ns",
			  now.short_ns - s->before.short_ns);
	}
	s->before = now;
}

static void status(unused const void *programs, const struct system_counts_stats *counts,
		   struct recorder_status *ret)
{
	for (unsigned i = FUTEX_RECORD_WAIT; i <= FUTEX_RECORD_LOCK; i++)
		ret->n_waits += counts->of_events[i];
}

static struct summing_trial trial;

const struct summing_kind futex_recorder_kind = {
	.trial = &trial,
	.load = load,
	.try = try,
	.go_on = go_on,
	.loaded = loaded,
	.events = events,
	.start = start,
	.stop = stop,
	.note = note,
	.status = status,
	.free = free_futex,
};

static int futex_open(const struct recorder_settings *x, struct recorder **ret,
		      struct err *e)
{
	return summing_open(&futex_recorder, &futex_recorder_kind, x, ret, e);
}

const struct recorder_ops futex_recorder = {
	.source = &futex_source,
	.open = futex_open,
	SUMMING_RECORDER_OPS,
};
