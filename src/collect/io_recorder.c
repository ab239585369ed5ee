/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/io_calls.h"
#include "collect/io_files.h"
#include "collect/io_steps.h"
#include "collect/probe_names.h"
#include "collect/system_io.h"
#include "collect/timer_directory.h"

extern const struct source_ops io_source;

_Static_assert((int)EXPERIMENT_IO_N_EVENTS <= SYSTEM_COUNTS_EVENTS_MAX,
	       "a number of each column");
_Static_assert(2 + IO_RECORD_SIZES + IO_RECORD_TIMES <= SYSTEM_COUNTS_MORE_MAX,
	       "there is room for each");

struct io_programs {
	struct system_io_settings settings;
	struct system_io *programs;
	struct io_files *files;
	struct io_steps steps;
	struct system_counts_how how;
	char *preload; /* what is loaded into the program, or NULL */
	uint64_t unsized_before, unmet_before; /* in earlier recordings */
};

static void free_io(void *programs)
{
	struct io_programs *s = programs;

	system_io_free(s->programs);
	io_files_free(s->files);
	free(s->preload);
	free(s);
}

static void call_label(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	io_calls_label(IO_RECORD_INDEX_OF(label), ret, SYSTEM_COUNTS_LABEL_MAX);
}

static bool is_request(uint32_t label)
{
	return io_calls_is_request(IO_RECORD_INDEX_OF(label));
}

static const char *file_label(void *ctx, uint32_t label)
{
	const struct io_programs *s = ctx;

	return io_files_name(s->files, IO_RECORD_FILE_OF(label));
}

/* The dynamic linker reads our library, too. */
static bool is_own_file(void *ctx, uint32_t label)
{
	const struct io_programs *s = ctx;

	return timer_directory_is_preloaded(s->preload, file_label(ctx, label));
}

static size_t add_steps(struct system_counts_more *ret, uint32_t event,
			const uint32_t *steps, char (*names)[IO_STEPS_NAME_MAX], size_t n)
{
	size_t n_added = 0;

	for (size_t i = 0; i < n; i++)
		if (steps[i])
			ret[n_added++] = (struct system_counts_more){ .event = event,
								      .weight = steps[i],
								      .label = names[i] };
	return n_added;
}

static size_t more(void *ctx, uint32_t number,
		   struct system_counts_more ret[SYSTEM_COUNTS_MORE_MAX])
{
	struct io_programs *s = ctx;
	struct io_record_more m;
	size_t n = 0;

	system_io_take_more(s->programs, number, &m);
	ret[n++] = (struct system_counts_more){ .event = EXPERIMENT_IO_ASKED,
						.weight = m.asked };
	n += add_steps(ret + n, EXPERIMENT_IO_SIZES, m.sizes, s->steps.sizes,
		       IO_RECORD_SIZES);
	n += add_steps(ret + n, EXPERIMENT_IO_TIMES, m.times, s->steps.times,
		       IO_RECORD_TIMES);
	if (m.n_unfinished)
		ret[n++] = (struct system_counts_more){
			.event = EXPERIMENT_IO_UNFINISHED,
			.weight = m.unfinished_ns,
			.count = m.n_unfinished,
			.label = m.n_begun_before ? "[begun before]" : NULL,
		};
	return n;
}

static struct io_programs *new_programs(void)
{
	static const uint8_t bytes[] = {
		[IO_RECORD_READ] = EXPERIMENT_IO_READ,
		[IO_RECORD_WRITE] = EXPERIMENT_IO_WRITTEN,
		[IO_RECORD_OTHER] = SYSTEM_COUNTS_NONE,
	};
	struct io_programs *s = xcalloc(1, sizeof(*s));

	s->files = io_files_new();
	io_steps_name(&s->steps);
	s->how = (struct system_counts_how){ .label = call_label,
					     .pair_label = probe_names_error,
					     .ctx = s,
					     .inner = file_label,
					     .more = more,
					     .is_own = is_own_file,
					     .is_beside = is_request };
	for (size_t i = 0; i < sizeof(bytes); i++)
		s->how.parts[i] = (struct system_counts_parts){
			.ns = EXPERIMENT_IO_TIME,
			.count = EXPERIMENT_IO_CALLS,
			.n_waits = SYSTEM_COUNTS_NONE,
			.wait_ns = bytes[i],
			.pair = EXPERIMENT_IO_ERRORS,
			.each = EXPERIMENT_IO_EACH,
			.beside = EXPERIMENT_IO_EACH_REQUEST
		};
	return s;
}

static void note_preload(struct io_programs *s, const struct recorder_settings *x)
{
	const char *preload = x->scope ? x->scope->preload : NULL;

	free(s->preload);
	s->preload = preload ? xstrdup(preload) : NULL;
}

static struct system_io_settings settings_of(const struct recorder_settings *x)
{
	return (struct system_io_settings){
		.whom = summing_whom(x),
		.is_flat = x->is_flat,
		.has_earlier = !x->scope || x->scope->kind != SCOPE_LAUNCH,
		.tells_each = summing_tells_each(x),
		/* Of a whole system somebody is always waiting for the next thing. */
		.tells_unfinished = x->scope != NULL,
	};
}

static int load(const struct recorder_settings *x, const struct system_threads_sink *sink,
		void **ret, struct err *e)
{
	struct system_io_settings settings = settings_of(x);
	struct io_programs *s = new_programs();
	int rc = system_io_new(&settings, sink, &s->programs, e);

	s->settings = settings;
	note_preload(s, x);
	if (rc < 0)
		free_io(s);
	else
		*ret = s;
	return rc;
}

static bool go_on(void *programs, const struct recorder_settings *x)
{
	struct io_programs *s = programs;
	struct system_io_settings settings = settings_of(x);

	note_preload(s, x);
	return s->settings.is_flat == settings.is_flat &&
	       s->settings.has_earlier == settings.has_earlier &&
	       s->settings.tells_each == settings.tells_each &&
	       s->settings.tells_unfinished == settings.tells_unfinished &&
	       summing_is_same_whom(&s->settings.whom, &settings.whom);
}

static int try(const struct cpus *cpus, const struct system_threads_sink *sink,
	       struct err *e)
{
	struct system_io_settings settings = { .whom.cpus = cpus };
	struct system_io *s = NULL;
	int rc = system_io_new(&settings, sink, &s, e);

	system_io_free(s);
	return rc;
}

static const struct system_programs *loaded(const void *programs)
{
	return system_io_programs(((const struct io_programs *)programs)->programs);
}

static void events(void *programs, const struct plan *plans,
		   struct system_counts_events *ret)
{
	struct io_programs *s = programs;

	for (unsigned i = 0; i < EXPERIMENT_IO_N_EVENTS; i++)
		ret->ids[i] = plans[0].events[i];
	ret->how = &s->how;
}

static int start(void *programs, struct err *e)
{
	return system_io_start(((struct io_programs *)programs)->programs, e);
}

static void stop(void *programs)
{
	system_io_stop(((struct io_programs *)programs)->programs);
}

static void meet_file(void *programs, const struct io_record_file *r)
{
	io_files_meet(((struct io_programs *)programs)->files, r);
}

static void note(void *programs, struct writer *w)
{
	struct io_programs *s = programs;
	uint64_t n = system_io_n_unsized(s->programs);

	if (n > s->unsized_before)
		facts_loss(w, "unsized-calls", n - s->unsized_before);
	s->unsized_before = n;
	n = system_io_n_unmet(s->programs);
	if (n > s->unmet_before)
		facts_loss(w, "unmet-requests", n - s->unmet_before);
	s->unmet_before = n;
	if (system_io_sees_requests(s->programs))
		facts_add(w, FACT_RATE, "sees-requests", "count", 1);
}

static void status(unused const void *programs, const struct system_counts_stats *counts,
		   struct recorder_status *ret)
{
	for (unsigned i = IO_RECORD_READ; i <= IO_RECORD_OTHER; i++)
		ret->n_calls += counts->of_events[i];
}

static struct summing_trial trial;

const struct summing_kind io_recorder_kind = {
	.trial = &trial,
	.load = load,
	.try = try,
	.go_on = go_on,
	.loaded = loaded,
	.events = events,
	.start = start,
	.stop = stop,
	.file = meet_file,
	.note = note,
	.status = status,
	.free = free_io,
};

static int io_open(const struct recorder_settings *x, struct recorder **ret,
		   struct err *e)
{
	return summing_open(&io_recorder, &io_recorder_kind, x, ret, e);
}

const struct recorder_ops io_recorder = {
	.source = &io_source,
	.open = io_open,
	SUMMING_RECORDER_OPS,
};
