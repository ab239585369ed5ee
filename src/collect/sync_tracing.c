/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_tracing - the waits of one program image, from the records of its tracer to
 * samples.
 *
 * A stack ends in what kind of thing was waited for and, inside of that, which one: a
 * variable where the tracer knew its place, else its address.  Inside of these are the
 * frames of who let it wait, and how long it took.  Sums become samples at the end of
 * each second, of all images at once, and where an interval ends, in the order in which
 * places first waited.
 *
 * Where every event is kept, each wait is a sample beside them, from when it began.
 *
 * What threads still wait for when nothing more comes is asked of their places in the
 * ring: each such wait is a sample of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/sync_ledger.h"
#include "collect/traced_cuts.h"
#include "collect/traced_image.h"
#include "host/clock.h"
#include "host/procfs.h"

extern const struct tracing sync_tracing;

#define SAMPLE_NS UINT64_C(1000000000)
/* Locks that are told apart by their addresses; the next ones are one. */
#define NAMED_MAX 65536
/* How often it is looked at whether threads that wait are there still. */
#define LOOK_NS UINT64_C(250000000)

/* Labels of one image of the recording, made when they are needed: ids plus 1. */
struct sync_labels {
	uint32_t whats[WIRE_TRACER_SYNC_N], steps[SYNC_LEDGER_STEPS];
	uint32_t held, woken, more;
};

struct sync_image {
	struct traced_image *image;
	const struct plan *plan; /* NULL: not followed */
	struct sync_ledger ledger;
	struct map places; /* address → location of the variable */
	struct map named;  /* address → location of its label */
	struct sync_labels labels;
	struct traced_cuts cuts;
	uint64_t first_ns, last_ns; /* of the waits in the sums; 0: there are none */
	uint64_t threshold_ns, call_ns;
	/* Of each place in the ring, since when its thread waited when it was found to be
	 * gone, as one that was cancelled; 0: it was not. */
	uint64_t left_ns[WIRE_SAMPLER_N_WAITING];
	uint64_t looked_ns;
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct sync_image *s = xcalloc(1, sizeof(*s));

	s->image = image;
	s->plan = plan;
	traced_cuts_begin(&s->cuts, traced_image_cuts(image), image->image->start_ns);
	return s;
}

static struct writer *writer_of(const struct sync_image *s)
{
	return s->image->image->totals->writer;
}

static uint32_t new_label(const struct sync_image *s, const char *text)
{
	struct writer *w = writer_of(s);
	uint32_t image =
		writer_image(w, &(struct model_image){ .path = writer_string(w, text),
						       .kind = IMAGE_LABEL });

	return writer_location(w, image, 0, 0);
}

static uint32_t label(const struct sync_image *s, uint32_t *known, const char *text)
{
	if (!*known)
		*known = new_label(s, text) + 1;
	return *known - 1;
}

static uint32_t what_label(struct sync_image *s, enum wire_tracer_sync what)
{
	static const char *const texts[WIRE_TRACER_SYNC_N] = {
		[WIRE_TRACER_MUTEX] = "[mutex]",
		[WIRE_TRACER_RWLOCK_READ] = "[rwlock, to read]",
		[WIRE_TRACER_RWLOCK_WRITE] = "[rwlock, to write]",
		[WIRE_TRACER_SPIN] = "[spin lock]",
		[WIRE_TRACER_CONDITION] = "[condition]",
		[WIRE_TRACER_SEMAPHORE] = "[semaphore]",
		[WIRE_TRACER_BARRIER] = "[barrier]",
		[WIRE_TRACER_JOIN] = "[thread's end]",
	};

	return label(s, &s->labels.whats[what], texts[what]);
}

static uint32_t address_label(struct sync_image *s, uint64_t address)
{
	char text[40];
	bool is_new;
	uint64_t *known;

	if (s->named.n >= NAMED_MAX && !map_find(&s->named, address))
		return label(s, &s->labels.more, "[more addresses]");
	known = map_slot(&s->named, address, &is_new);
	snprintf(text, sizeof(text), "[0x%" PRIx64 "]", address);
	if (is_new)
		*known = new_label(s, text);
	return (uint32_t)*known;
}

/* The stack that ends in what was waited for. */
static uint32_t stack_of(struct sync_image *s, uint32_t caller,
			 enum wire_tracer_sync what, uint64_t address)
{
	const uint64_t *place = map_find(&s->places, address);
	uint32_t stack = writer_stack(writer_of(s), s->image->stacks.at[caller].stack,
				      what_label(s, what));

	if (!address)
		return stack;
	return writer_stack(writer_of(s), stack,
			    place ? (uint32_t)*place : address_label(s, address));
}

/* All frames of a stack inside of another. */
static uint32_t append(struct writer *w, const struct model_stack *stacks, uint32_t to,
		       uint32_t stack)
{
	VEC(uint32_t) locations = { 0 };

	for (; stack; stack = stacks[stack].parent)
		*vec_push(&locations) = stacks[stack].location;
	while (locations.n)
		to = writer_stack(w, to, locations.at[--locations.n]);
	vec_fini(&locations);
	return to;
}

static void put(const struct sync_image *s, struct model_sample *sample, unsigned event,
		uint64_t count, uint64_t weight)
{
	sample->event = s->plan->events[event];
	sample->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
	sample->weight = weight;
	if (weight)
		writer_sample(writer_of(s), sample);
}

static void write_durations(struct sync_image *s, const struct sync_site *site,
			    struct model_sample sample)
{
	uint32_t stack = sample.stack;

	for (unsigned i = 0; i < SYNC_LEDGER_STEPS; i++) {
		char text[40];

		if (!site->steps[i])
			continue;
		snprintf(text, sizeof(text), "[from %" PRIu64 " ns]",
			 sync_ledger_least(i));
		sample.stack = writer_stack(writer_of(s), stack,
					    label(s, &s->labels.steps[i], text));
		put(s, &sample, EXPERIMENT_SYNC_DURATIONS, site->steps[i],
		    site->steps[i]);
	}
}

/* Of a stack of a thread's. */
static struct model_sample sample_at(const struct sync_image *s, uint32_t caller,
				     uint32_t stack, uint64_t time_ns)
{
	return (struct model_sample){ .time_ns = time_ns,
				      .thread = s->image->stacks.at[caller].thread,
				      .cpu = UINT32_MAX,
				      .stack = stack };
}

static struct model_sample sample_of(struct sync_image *s, const struct sync_site *site,
				     uint64_t now_ns)
{
	uint64_t address = s->ledger.locks.at[site->lock].address;

	return sample_at(s, site->stack, stack_of(s, site->stack, site->what, address),
			 now_ns);
}

/* By itself, since it began. */
static void keep_each(struct sync_image *s, const struct sync_wait *w)
{
	uint32_t stack;
	struct model_sample sample;

	if (!s->plan || !s->plan->trace)
		return;
	stack = stack_of(s, w->stack, w->what, w->address);
	sample = sample_at(s, w->stack, stack, w->time_ns - w->waited_ns);
	put(s, &sample,
	    sync_ledger_is_lock(w->what) ? EXPERIMENT_SYNC_EACH_LOCK
					 : EXPERIMENT_SYNC_EACH,
	    1, w->waited_ns);
}

static void write_site(struct sync_image *s, const struct sync_site *site,
		       uint64_t now_ns)
{
	bool is_lock = sync_ledger_is_lock(site->what);
	struct model_sample sample = sample_of(s, site, now_ns);

	put(s, &sample, is_lock ? EXPERIMENT_SYNC_LOCK_TIME : EXPERIMENT_SYNC_TIME,
	    site->n ? site->n : 1, site->ns);
	put(s, &sample, is_lock ? EXPERIMENT_SYNC_LOCK_WAITS : EXPERIMENT_SYNC_WAITS,
	    site->n, site->n);
	write_durations(s, site, sample);
}

static void write_debt(struct sync_image *s, const struct sync_debt *debt,
		       const struct model_stack *stacks, uint64_t now_ns)
{
	const struct sync_site *site = &s->ledger.sites.at[debt->site];
	struct model_sample sample = sample_of(s, site, now_ns);
	uint32_t by = sync_ledger_is_lock(site->what)
			      ? label(s, &s->labels.held, "[held by]")
			      : label(s, &s->labels.woken, "[woken by]");

	sample.stack = writer_stack(writer_of(s), sample.stack, by);
	sample.stack = append(writer_of(s), stacks, sample.stack,
			      s->image->stacks.at[debt->stack].stack);
	put(s, &sample, EXPERIMENT_SYNC_HOLDERS, debt->n ? debt->n : 1, debt->ns);
}

/* At the time of the last of their waits. */
static void write_sums(struct sync_image *s)
{
	own(freep) struct model_stack *stacks = NULL;

	if (s->plan && s->ledger.debts.n)
		stacks = writer_stacks(writer_of(s));
	if (s->plan) {
		vec_each(site, &s->ledger.sites)
			write_site(s, site, s->last_ns);
		vec_each(debt, &s->ledger.debts)
			write_debt(s, debt, stacks, s->last_ns);
	}
	sync_ledger_clear(&s->ledger);
	s->first_ns = s->last_ns = 0;
}

/* Those of a second that is over, or of an interval that ended before that time. */
static void write_older(struct sync_image *s, uint64_t now_ns)
{
	bool is_due = now_ns / SAMPLE_NS > s->first_ns / SAMPLE_NS;
	uint64_t since_ns = s->first_ns;
	struct gauges_cut end;

	while (traced_cuts_next(&s->cuts, now_ns, &end))
		is_due = true;
	if (!is_due || !s->last_ns)
		return;
	write_sums(s);
	writer_date(writer_of(s), since_ns);
}

static void take_start(struct sync_image *s, const struct timer_record *r)
{
	s->threshold_ns = r->sync_start.threshold_ns;
	s->call_ns = r->sync_start.call_ns;
}

static void take_place(struct sync_image *s, const struct timer_record *r)
{
	uint32_t image =
		late_image_image(timer_image_late(s->image->image), r->place.code);

	if (image != MODEL_NONE)
		*map_slot(&s->places, r->place.address, NULL) = writer_location(
			writer_of(s), image, r->place.linked, LOCATION_VARIABLE);
}

static void take_wait(struct sync_image *s, const struct timer_record *r)
{
	struct sync_wait w = { .time_ns = r->wait.time_ns,
			       .waited_ns = r->wait.waited_ns,
			       .address = r->wait.address,
			       .stack = traced_image_stack(s->image, r->wait.stack),
			       .what = r->wait.what };

	if (r->wait.what >= WIRE_TRACER_SYNC_N || w.waited_ns > w.time_ns ||
	    w.time_ns > clock_monotonic_ns()) {
		s->image->image->totals->damaged++;
		return;
	}
	write_older(s, w.time_ns);
	sync_ledger_wait(&s->ledger, &w);
	keep_each(s, &w);
	s->first_ns = s->first_ns ? s->first_ns : w.time_ns;
	s->last_ns = w.time_ns > s->last_ns ? w.time_ns : s->last_ns;
}

static void take_release(struct sync_image *s, const struct timer_record *r)
{
	sync_ledger_release(&s->ledger, r->release.time_ns, r->release.address,
			    traced_image_stack(s->image, r->release.stack));
}

static void take(void *state, const struct timer_record *r)
{
	static void (*const takers[])(struct sync_image * s,
				      const struct timer_record *r) = {
		[WIRE_TRACER_SYNC_START - WIRE_TRACER_SYNC_START] = take_start,
		[WIRE_TRACER_PLACE - WIRE_TRACER_SYNC_START] = take_place,
		[WIRE_TRACER_WAIT - WIRE_TRACER_SYNC_START] = take_wait,
		[WIRE_TRACER_RELEASE - WIRE_TRACER_SYNC_START] = take_release,
	};
	unsigned i = r->kind - WIRE_TRACER_SYNC_START;

	if (i < sizeof(takers) / sizeof(takers[0]))
		takers[i](state, r);
}

static void write_facts(const struct sync_image *s)
{
	const struct wire_sampler_ring *ring = timer_ring_header(s->image->image->ring);
	struct writer *w = writer_of(s);
	const struct {
		const char *name, *unit;
		uint64_t value;
	} facts[] = {
		{ "wait-threshold", "ns", s->threshold_ns },
		{ "uncontended-call", "ns", s->call_ns },
		{ "short-waits", "count", ring->n_short_waits },
		{ "short-wait-time", "ns", ring->short_wait_ns },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		writer_fact(
			w,
			&(struct model_fact){
				.kind = FACT_TARGET,
				.name = writer_string(w, facts[i].name),
				.unit = writer_string(w, facts[i].unit),
				.event = MODEL_NONE,
				.process =
					writer_thread_get(w, s->image->thread)->process,
				.value = facts[i].value });
}

/* Waits that have no end. */

static bool has_gone(const struct sync_image *s, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", s->image->image->pid, tid);
	return access(path, F_OK) < 0 && errno == ENOENT;
}

/* What has jumped out of a wait, or was cancelled, leaves its place as it was.  Where all
 * of a process ends, its threads did wait, be some gone before others have a CPU. */
static void look_for_gone(struct sync_image *s, uint64_t now_ns)
{
	const struct timer_ring *ring = s->image->image->ring;
	struct wire_tracer_waiting w;

	for (uint32_t i = 0; i < timer_ring_n_waiting(ring); i++)
		if (timer_ring_waiting(ring, i, &w) && w.since_ns != s->left_ns[i] &&
		    now_ns > w.since_ns + LOOK_NS && has_gone(s, w.tid) &&
		    !procfs_is_ending((pid_t)s->image->image->pid))
			s->left_ns[i] = w.since_ns;
}

/* Who had it when the wait began, if nobody has told since that he gave it away. */
static uint32_t holder_of(struct sync_image *s, const struct wire_tracer_waiting *w)
{
	return sync_ledger_is_lock(w->what) &&
			       !sync_ledger_was_released(&s->ledger, w->address,
							 w->since_ns)
		       ? w->holder
		       : 0;
}

static void write_unfinished(struct sync_image *s, const struct wire_tracer_waiting *w,
			     const struct sync_wait *wait)
{
	uint32_t holder = holder_of(s, w);
	struct model_sample sample = {
		.time_ns = wait->time_ns,
		.thread = late_image_thread(timer_image_late(s->image->image),
					    w->since_ns, w->tid),
		.cpu = UINT32_MAX,
		.stack = stack_of(s, wait->stack, wait->what, wait->address),
	};
	char text[40];

	if (holder) {
		snprintf(text, sizeof(text), "[thread %u]", holder);
		sample.stack = writer_stack(writer_of(s), sample.stack,
					    label(s, &s->labels.held, "[held by]"));
		sample.stack =
			writer_stack(writer_of(s), sample.stack, new_label(s, text));
	}
	put(s, &sample, EXPERIMENT_SYNC_UNFINISHED, 1, wait->waited_ns);
}

static void take_unfinished(struct sync_image *s, const struct wire_tracer_waiting *w,
			    uint64_t now_ns)
{
	uint64_t observed_ns =
		wire_sampler_observed(&s->image->image->totals->pauses, now_ns);
	struct sync_wait wait = { .time_ns = now_ns,
				  .address = w->address,
				  .stack = traced_image_stack(s->image, w->stack),
				  .what = w->what };

	if (w->what >= WIRE_TRACER_SYNC_N || w->observed_ns > w->since_ns) {
		s->image->image->totals->damaged++;
		return;
	}
	/* It may have begun a moment ago. */
	if (observed_ns <= w->observed_ns ||
	    observed_ns - w->observed_ns < s->threshold_ns)
		return;
	wait.waited_ns = observed_ns - w->observed_ns;
	sync_ledger_wait_on(&s->ledger, &wait);
	keep_each(s, &wait);
	if (s->plan)
		write_unfinished(s, w, &wait);
	s->last_ns = now_ns;
}

static void take_all_unfinished(struct sync_image *s, uint64_t now_ns)
{
	const struct timer_ring *ring = s->image->image->ring;
	struct wire_tracer_waiting w;

	for (uint32_t i = 0; i < timer_ring_n_waiting(ring); i++)
		if (timer_ring_waiting(ring, i, &w) && w.since_ns != s->left_ns[i])
			take_unfinished(s, &w, now_ns);
}

static bool go_on(void *state)
{
	struct sync_image *s = state;
	uint64_t now_ns = clock_monotonic_ns();

	write_older(s, now_ns);
	if (now_ns - s->looked_ns >= LOOK_NS) {
		s->looked_ns = now_ns;
		look_for_gone(s, now_ns);
	}
	return false;
}

static void end(void *state, uint64_t now_ns)
{
	struct sync_image *s = state;

	if (s->last_ns)
		write_sums(s);
	look_for_gone(s, now_ns);
	take_all_unfinished(s, now_ns);
	if (s->last_ns)
		write_sums(s);
	if (s->plan)
		write_facts(s);
	s->image->image->totals->n_events += s->ledger.n_waits;
	sync_ledger_fini(&s->ledger);
	traced_cuts_fini(&s->cuts);
	map_fini(&s->places);
	map_fini(&s->named);
	free(s);
}

const struct tracing sync_tracing = { .trigger = EXPERIMENT_SYNC,
				      .trace = WIRE_TRACER_SYNC,
				      .first_kind = WIRE_TRACER_SYNC_START,
				      .last_kind = WIRE_TRACER_SYNC_LAST,
				      .begin = begin,
				      .take = take,
				      .go_on = go_on,
				      .end = end };
