/* SPDX-License-Identifier: Apache-2.0
 *
 * io_tracing - the I/O of one program image, from the records of its tracer to samples.
 *
 * They are those of the kernel's side (collect/io_recorder): a stack ends in the call and
 * the file and, where one is of a size, a duration or an error, that.  Sums become
 * samples at the end of each second, of all images at once, and where an interval ends.
 * Where every event is kept, each call is a sample beside them, from when it began.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/io_begun.h"
#include "collect/io_calls.h"
#include "collect/io_files.h"
#include "collect/io_ledger.h"
#include "collect/io_steps.h"
#include "collect/io_traced_file.h"
#include "collect/probe_names.h"
#include "collect/traced_cuts.h"
#include "collect/traced_image.h"
#include "host/clock.h"
#include "host/procfs.h"
#include "wire/probe_record.h"

extern const struct tracing io_tracing;

_Static_assert((int)WIRE_TRACER_IO_N_CALLS <= IO_CALLS_REQUESTS, "one numbering");

#define SAMPLE_NS UINT64_C(1000000000)
/* Files that are told apart; the next ones are one. */
#define FILES_MAX IO_RECORD_FILES_MAX

/* Labels of one kind, made when they are needed: ids plus 1. */
struct io_labels {
	uint32_t calls[WIRE_TRACER_IO_N_CALLS], nones[IO_RECORD_FILES];
	uint32_t sizes[IO_RECORD_SIZES], times[IO_RECORD_TIMES];
};

struct io_image {
	struct traced_image *image;
	const struct plan *plan; /* NULL: not followed */
	struct io_ledger ledger;
	struct map labelled; /* string → location of its label */
	struct map files;    /* id → the same */
	struct io_labels labels;
	struct io_steps steps;
	struct io_begun begun;
	struct traced_cuts cuts;
	uint64_t looked_ns; /* when those that have begun were last gone through */
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct io_image *s = xcalloc(1, sizeof(*s));

	s->image = image;
	s->plan = plan;
	traced_cuts_begin(&s->cuts, traced_image_cuts(image), image->image->start_ns);
	io_steps_name(&s->steps);
	return s;
}

static struct writer *writer_of(const struct io_image *s)
{
	return s->image->image->totals->writer;
}

/* Labels. */

/* One for each text. */
static uint32_t label_of(struct io_image *s, const char *text)
{
	struct writer *w = writer_of(s);
	uint32_t string = writer_string(w, text), image;
	bool is_new;
	uint64_t *known = map_slot(&s->labelled, string, &is_new);

	if (is_new) {
		image = writer_image(
			w, &(struct model_image){ .path = string, .kind = IMAGE_LABEL });
		*known = writer_location(w, image, 0, 0);
	}
	return (uint32_t)*known;
}

static uint32_t label(struct io_image *s, uint32_t *known, const char *text)
{
	if (!*known)
		*known = label_of(s, text) + 1;
	return *known - 1;
}

static uint32_t call_label(struct io_image *s, uint32_t call)
{
	char text[SYSTEM_COUNTS_LABEL_MAX];

	io_calls_label(call, text, sizeof(text));
	return label(s, &s->labels.calls[call], text);
}

static uint32_t none_label(struct io_image *s, enum io_record_number number)
{
	return label(s, &s->labels.nones[number], io_files_none(number));
}

static uint32_t error_label(struct io_image *s, uint32_t error)
{
	char text[SYSTEM_COUNTS_LABEL_MAX];

	probe_names_error(PROBE_RECORD_ERROR(error), text);
	return label_of(s, text);
}

static uint32_t file_label(struct io_image *s, uint64_t id)
{
	const uint64_t *known = map_find(&s->files, id);

	if (known)
		return (uint32_t)*known;
	if (id == WIRE_TRACER_IO_NO_FILE)
		return none_label(s, IO_RECORD_NO_FILE);
	if (id == WIRE_TRACER_IO_UNASKED)
		return none_label(s, IO_RECORD_UNASKED);
	return none_label(s, s->files.n < FILES_MAX ? IO_RECORD_UNTOLD
						    : IO_RECORD_UNNUMBERED);
}

/* Samples. */

static void put(const struct io_image *s, const struct io_sum *sum,
		const struct model_sample *at, unsigned event, uint64_t weight)
{
	struct model_sample sample = *at;

	sample.event = s->plan->events[event];
	sample.count = sum->n > UINT32_MAX ? UINT32_MAX : (uint32_t)sum->n;
	sample.weight = weight;
	if (weight)
		writer_sample(writer_of(s), &sample);
}

static void put_inside(struct io_image *s, const struct io_sum *sum,
		       const struct model_sample *at, unsigned event, uint64_t n,
		       uint32_t inner)
{
	struct model_sample sample = *at;

	sample.stack = writer_stack(writer_of(s), at->stack, inner);
	put(s, sum, &sample, event, n);
}

static void put_steps(struct io_image *s, const struct io_sum *sum,
		      const struct model_sample *at)
{
	for (unsigned i = 0; i < IO_RECORD_SIZES; i++)
		if (sum->sizes[i])
			put_inside(s, sum, at, EXPERIMENT_IO_SIZES, sum->sizes[i],
				   label(s, &s->labels.sizes[i], s->steps.sizes[i]));
	for (unsigned i = 0; i < IO_RECORD_TIMES; i++)
		if (sum->times[i])
			put_inside(s, sum, at, EXPERIMENT_IO_TIMES, sum->times[i],
				   label(s, &s->labels.times[i], s->steps.times[i]));
}

/* In a stack of a thread's, which call of which file. */
static struct model_sample sample_of(struct io_image *s, uint32_t stack, uint32_t call,
				     uint32_t file, uint64_t time_ns)
{
	const struct traced_stack *caller = &s->image->stacks.at[stack];
	struct writer *w = writer_of(s);
	uint32_t inner = writer_stack(w, s->plan->is_flat ? 0 : caller->stack,
				      call_label(s, call));

	return (struct model_sample){ .time_ns = time_ns,
				      .thread = caller->thread,
				      .cpu = UINT32_MAX,
				      .stack = writer_stack(w, inner, file) };
}

static struct model_sample sample_of_sum(struct io_image *s, const struct io_sum *sum,
					 uint64_t now_ns)
{
	return sample_of(s, sum->stack, sum->call, sum->file, now_ns);
}

/* By itself, since it began. */
static void keep_each(struct io_image *s, const struct io_call *c)
{
	struct model_sample sample;

	if (!s->plan || !s->plan->trace || !c->took_ns)
		return;
	sample = sample_of(s, c->stack, c->call, c->file, c->time_ns - c->took_ns);
	sample.event = s->plan->events[EXPERIMENT_IO_EACH];
	sample.count = 1;
	sample.weight = c->took_ns;
	writer_sample(writer_of(s), &sample);
}

static void put_sum(struct io_image *s, const struct io_sum *sum, uint64_t now_ns)
{
	struct model_sample at = sample_of_sum(s, sum, now_ns);
	uint8_t event = io_calls_event(sum->call);

	put(s, sum, &at, EXPERIMENT_IO_TIME, sum->ns);
	put(s, sum, &at, EXPERIMENT_IO_CALLS, sum->n);
	put(s, sum, &at, EXPERIMENT_IO_ASKED, sum->asked);
	if (event == IO_RECORD_READ)
		put(s, sum, &at, EXPERIMENT_IO_READ, sum->done);
	if (event == IO_RECORD_WRITE)
		put(s, sum, &at, EXPERIMENT_IO_WRITTEN, sum->done);
	put_steps(s, sum, &at);
}

static void put_all(struct io_image *s, uint64_t now_ns)
{
	if (s->plan) {
		vec_each(sum, &s->ledger.sums)
			put_sum(s, sum, now_ns);
		vec_each(e, &s->ledger.errors) {
			const struct io_sum *sum = &s->ledger.sums.at[e->sum];
			struct model_sample at = sample_of_sum(s, sum, now_ns);

			put_inside(s, sum, &at, EXPERIMENT_IO_ERRORS, e->n,
				   error_label(s, e->error));
		}
	}
	io_ledger_clear(&s->ledger);
}

/* Those of a second that is over, or of an interval that ended before that time, at the
 * time of the last of their calls. */
static void put_older(struct io_image *s, uint64_t now_ns)
{
	bool is_due = now_ns / SAMPLE_NS > s->ledger.first_ns / SAMPLE_NS;
	uint64_t since_ns = s->ledger.first_ns;
	struct gauges_cut end;

	while (traced_cuts_next(&s->cuts, now_ns, &end))
		is_due = true;
	if (!is_due || !s->ledger.last_ns)
		return;
	put_all(s, s->ledger.last_ns);
	writer_date(writer_of(s), since_ns);
}

/* Records. */

static void take_file(struct io_image *s, const struct timer_record *r)
{
	char text[TIMER_RECORD_PATH_MAX + 1];

	if (s->files.n >= FILES_MAX && !map_find(&s->files, r->io_file.id))
		return;
	io_traced_file_text(&r->io_file, r->path, text, sizeof(text));
	*map_slot(&s->files, r->io_file.id, NULL) = label_of(s, text);
}

/* Where its process is to be seen at all. */
static bool has_gone(const struct io_image *s, uint32_t thread)
{
	uint32_t pid = s->image->image->pid;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	if (access(path, F_OK) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid,
		 writer_thread_get(writer_of(s), thread)->tid);
	return access(path, F_OK) < 0;
}

/* A thread that was cancelled has left its call; where all of a process ends, some are
 * gone before others.  Asked twice, as the process may go meanwhile. */
static bool has_left(const struct io_image *s, uint32_t thread)
{
	return has_gone(s, thread) && !procfs_is_ending((pid_t)s->image->image->pid) &&
	       has_gone(s, thread);
}

static uint32_t thread_of(const struct io_image *s, uint32_t stack)
{
	return s->image->stacks.at[stack].thread;
}

static void take_begun(struct io_image *s, const struct timer_record *r)
{
	const struct wire_tracer_io_begun *b = &r->io_begun;
	uint32_t stack = traced_image_stack(s->image, b->stack);
	struct io_begun_call begun = {
		.thread = thread_of(s, stack),
		.frame = b->frame,
		.since_ns = b->observed_ns,
		.call = { .stack = stack,
			  .file = file_label(s, b->file),
			  .call = b->call },
	};

	if (!io_calls_name(b->call) || b->time_ns > clock_monotonic_ns() ||
	    b->observed_ns > b->time_ns || !io_begun_add(&s->begun, &begun))
		s->image->image->totals->damaged++;
}

static void take_returned(struct io_image *s, const struct timer_record *r,
			  void (*add)(struct io_ledger *l, const struct io_call *c))
{
	const struct wire_tracer_io_done *d = &r->io_done;
	struct io_call c = { .stack = traced_image_stack(s->image, d->stack),
			     .call = d->call,
			     .error = d->error,
			     .took_ns = d->took_ns,
			     .asked = d->asked,
			     .done = d->done,
			     .time_ns = d->time_ns };

	if (!io_calls_name(d->call) || d->took_ns > d->time_ns ||
	    d->time_ns > clock_monotonic_ns() || d->error > PROBE_RECORD_ERRNO_MAX) {
		s->image->image->totals->damaged++;
		return;
	}
	if (d->frame)
		io_begun_end(&s->begun, thread_of(s, c.stack), d->frame);
	c.file = file_label(s, d->file);
	put_older(s, d->time_ns);
	add(&s->ledger, &c);
	keep_each(s, &c);
}

static void take_done(struct io_image *s, const struct timer_record *r)
{
	take_returned(s, r, io_ledger_add);
}

static void take_left(struct io_image *s, const struct timer_record *r)
{
	take_returned(s, r, io_ledger_add_time);
}

static void take(void *state, const struct timer_record *r)
{
	static void (*const takers[])(struct io_image * s,
				      const struct timer_record *r) = {
		[WIRE_TRACER_IO_FILE - WIRE_TRACER_IO_FILE] = take_file,
		[WIRE_TRACER_IO_BEGUN - WIRE_TRACER_IO_FILE] = take_begun,
		[WIRE_TRACER_IO_DONE - WIRE_TRACER_IO_FILE] = take_done,
		[WIRE_TRACER_IO_LEFT - WIRE_TRACER_IO_FILE] = take_left,
	};
	unsigned i = r->kind - WIRE_TRACER_IO_FILE;

	if (i < sizeof(takers) / sizeof(takers[0]))
		takers[i](state, r);
}

static void charge_begun(struct io_image *s, struct io_begun_call *b, uint64_t now_ns)
{
	const struct timer_totals *totals = s->image->image->totals;
	uint64_t observed_ns = wire_sampler_observed(&totals->pauses, now_ns);

	b->call.took_ns = observed_ns > b->since_ns ? observed_ns - b->since_ns : 0;
	b->call.time_ns = now_ns;
	io_ledger_add_time(&s->ledger, &b->call);
	keep_each(s, &b->call);
}

static void put_unfinished(struct io_image *s, const struct io_call *c)
{
	struct model_sample sample;

	if (!s->plan || !c->took_ns)
		return;
	sample = sample_of(s, c->stack, c->call, c->file, c->time_ns);
	sample.event = s->plan->events[EXPERIMENT_IO_UNFINISHED];
	sample.count = 1;
	sample.weight = c->took_ns;
	writer_sample(writer_of(s), &sample);
}

static void charge_all_begun(struct io_image *s, uint64_t now_ns)
{
	vec_each(b, &s->begun.places) {
		if (!b->is_there)
			continue;
		charge_begun(s, b, now_ns);
		if (!has_left(s, b->thread))
			put_unfinished(s, &b->call);
	}
}

/* A thread that was cancelled in a call has left it behind; those around it with it. */
static void charge_gone(struct io_image *s, struct io_begun_call *innermost,
			uint64_t now_ns)
{
	uint64_t at = (uint64_t)(innermost - s->begun.places.at) + 1;

	for (; at; at = s->begun.places.at[at - 1].around)
		charge_begun(s, &s->begun.places.at[at - 1], now_ns);
	io_begun_end(&s->begun, innermost->thread, UINT64_MAX);
}

static bool go_on(void *state)
{
	struct io_image *s = state;
	uint64_t now_ns = clock_monotonic_ns();

	put_older(s, now_ns);
	if (now_ns < s->looked_ns + SAMPLE_NS)
		return false;
	s->looked_ns = now_ns;
	vec_each(b, &s->begun.places)
		if (io_begun_is_innermost(&s->begun, b) && has_left(s, b->thread))
			charge_gone(s, b, now_ns);
	return false;
}

static void end(void *state, uint64_t now_ns)
{
	struct io_image *s = state;

	if (s->ledger.last_ns)
		put_all(s, s->ledger.last_ns);
	charge_all_begun(s, now_ns);
	put_all(s, now_ns);
	s->image->image->totals->n_events += s->ledger.n_calls;
	io_ledger_fini(&s->ledger);
	io_begun_fini(&s->begun);
	traced_cuts_fini(&s->cuts);
	map_fini(&s->files);
	map_fini(&s->labelled);
	free(s);
}

const struct tracing io_tracing = { .trigger = EXPERIMENT_IO,
				    .trace = WIRE_TRACER_IO,
				    .first_kind = WIRE_TRACER_IO_FILE,
				    .last_kind = WIRE_TRACER_IO_LAST,
				    .begin = begin,
				    .take = take,
				    .go_on = go_on,
				    .end = end };
