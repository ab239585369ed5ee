/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/counter_experiment.h"
#include "collect/system_code.h"
#include "collect/system_counts.h"
#include "collect/system_keeping.h"
#include "collect/system_sampler.h"
#include "host/clock.h"

#define DEFAULT_HZ 5200
#define JITTER_NS  UINT64_C(100000000)
#define DRAIN_NS   UINT64_C(1000000000)
/* The share of the time that an event is on is that of the last few drains: in one alone
 * it may have been on for a moment only. */
#define SHARE_DECAY 0.8
/* Two readings that are a moment apart. */
#define ALWAYS_ON 0.9995

extern const struct source_ops system_source;

/* One that is sampled. */
struct event {
	struct system_event what;
	uint32_t id; /* in the recording */
	/* When that began. */
	struct system_events_share share_before;
	uint64_t samples_before, unsampled_before;
	/* Of the last drains; and when it was looked at last. */
	double on_ns, of_ns;
	struct system_events_share share_seen;
	uint64_t weighed; /* of what was counted, where it has a rate */
};

/* Joins the sampler, the rows it walks by, the images it met and the counts. */
struct system {
	struct recorder recorder;
	struct system_sampler *sampler;
	struct system_code code;
	const struct path_choice *chosen;
	struct system_classes *classes; /* or NULL */
	struct system_counts *counts;
	uint64_t drain_ns;
	bool is_kept;		   /* what was taken, also when this is killed */
	uint64_t recording, bytes; /* that have all that was forgotten */
	bool is_behind;		   /* earlier recordings wait to be written */
	uint64_t written;	   /* samples that wait no more */
	/* Of what the one before told. */
	struct stack_record_stats base;
	struct recorder_left left;
	bool has_left;
	struct event events[SYSTEM_EVENTS_MAX];
	size_t n_events;
	uint64_t jittered_ns, drained_ns;
	uint64_t fetched_ns, longest_gap_ns;
	/* The recording, and of the sums what earlier ones told. */
	struct writer *writer;
	struct recorder_status before;
};

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_code_meet(&((struct system *)ctx)->code, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct system *)ctx)->counts, r);
}

static void on_count(void *ctx, unsigned table, uint64_t key, uint32_t count)
{
	system_counts_count(((struct system *)ctx)->counts, table, key, count);
}

/* Setting up. */

static void system_free(struct recorder *r)
{
	struct system *s = (struct system *)r;

	system_sampler_free(s->sampler);
	system_counts_free(s->counts);
	system_code_fini(&s->code);
	free(s);
}

static int make_sampler(struct system *s, const struct recorder_settings *x,
			struct err *e)
{
	struct system_event events[SYSTEM_EVENTS_MAX];
	struct system_sampler_settings settings = { .cpus = x->cpus,
						    .events = events,
						    .n_events = x->n_plans,
						    .n_at_once = x->n_at_once,
						    .is_fixed = x->is_fixed,
						    .is_flat = x->is_flat,
						    .is_timed = x->is_timed,
						    .apart = x->apart,
						    .depth = x->depth,
						    .pins = x->has_pins ? x->keep
									: NULL };
	struct system_sink sink = {
		.ctx = s, .image = on_image, .stack = on_stack, .count = on_count
	};

	if (x->n_plans > SYSTEM_EVENTS_MAX)
		return err_set(e, ERR_USAGE, "at most %d events", SYSTEM_EVENTS_MAX);
	s->n_events = x->n_plans;
	for (size_t i = 0; i < x->n_plans; i++)
		events[i] = s->events[i].what =
			counter_experiment_event(&x->plans[i].choice);
	return system_sampler_new(&settings, &sink, &s->sampler, e);
}

static int make(struct system *s, const struct recorder_settings *x, struct err *e)
{
	struct system_code_settings code = { .chosen = x->apart.chosen,
					     .symbols = x->symbols };
	int rc = make_sampler(s, x, e);

	if (rc < 0)
		return rc;
	s->chosen = x->apart.chosen;
	s->classes = x->classes;
	code.maps = system_sampler_maps(s->sampler);
	code.is_taken = system_sampler_taken(s->sampler) != NULL;
	rc = system_code_open(&s->code, &code, e);
	if (rc < 0)
		return rc;
	if (system_sampler_notes(s->sampler))
		system_images_keep_notes(s->code.images,
					 system_sampler_notes(s->sampler));
	s->counts = system_counts_new(s->code.images);
	return 0;
}

/* Sums are of what is taken from now on, and since the last that the one before wrote. */
static void take_over(struct system *s, const struct system_ledger_entry *last)
{
	uint64_t now_ns = clock_read_ns(CLOCK_BOOTTIME);
	struct stack_record_stats *base = &s->base;

	system_sampler_stats(s->sampler, base);
	s->left = (struct recorder_left){
		.since_ns = last->written_ns,
		.gap_ns = now_ns - last->written_ns,
		.samples = base->samples - last->samples,
		.lost = base->lost - last->lost + last->unwritten,
		.has_ended = system_sampler_has_ended(s->sampler),
	};
	s->has_left = true;
	base->samples = last->samples;
	/* What waited for the disk went with it, and is in no recording's loss yet. */
	base->lost = last->told_lost - last->unwritten;
	s->before.counted.late.n_late = last->told_late;
	s->before.counted.n_unnumbered = *s->code.n_unnumbered;
}

static int system_open(const struct recorder_settings *x, struct recorder **ret,
		       struct err *e)
{
	struct system *s = xcalloc(1, sizeof(*s));
	int rc;

	s->recorder.ops = &system_recorder;
	s->drain_ns = x->drain_ns ? x->drain_ns : DRAIN_NS;
	s->is_kept = x->keep != NULL;
	rc = make(s, x, e);
	if (rc == 0 && system_sampler_taken(s->sampler))
		take_over(s, system_sampler_taken(s->sampler));
	if (rc < 0)
		system_free(&s->recorder);
	else
		*ret = &s->recorder;
	return rc;
}

static bool system_left(const struct recorder *r, struct recorder_left *ret)
{
	const struct system *s = (const struct system *)r;

	*ret = s->left;
	return s->has_left;
}

/* Where there is a rate: counted since the last sample, so that the next one stands for
 * it. */
static uint64_t unsampled(const struct event *ev, const struct system_events_share *now)
{
	return ev->what.hz && now->counted > ev->weighed ? now->counted - ev->weighed : 0;
}

static void system_begin(struct recorder *r, struct writer *w, const struct plan *plans)
{
	struct system *s = (struct system *)r;
	const struct system_counts_stats *stats = system_counts_stats(s->counts);
	struct system_counts_events all = { .chosen = s->chosen, .classes = s->classes };
	struct system_events_share shares[SYSTEM_EVENTS_MAX];

	system_sampler_shares(s->sampler, shares);
	for (size_t i = 0; i < s->n_events; i++) {
		struct event *ev = &s->events[i];

		ev->id = all.ids[i] = plans[i].events[0];
		all.periods[i] = ev->what.period;
		ev->share_before = shares[i];
		ev->samples_before = stats->of_events[i];
		ev->unsampled_before = unsampled(ev, &shares[i]);
	}
	s->writer = w;
	system_counts_begin(s->counts, w, &all);
}

/* Running. */

static size_t system_fds(const struct recorder *r, struct pollfd *fds, size_t max)
{
	const struct system *s = (const struct system *)r;

	if (max < 2)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_sampler_fd(s->sampler), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = system_images_fd(s->code.images),
				  .events = POLLIN };
	return 2;
}

/* The rings were emptied. */
static void note_fetch(struct system *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (s->fetched_ns && now_ns - s->fetched_ns > s->longest_gap_ns)
		s->longest_gap_ns = now_ns - s->fetched_ns;
	s->fetched_ns = now_ns;
}

/* What was taken since the last time stands for the time that its event was off, too. */
static double off_scale(struct event *ev, const struct system_events_share *now)
{
	ev->on_ns = ev->on_ns * SHARE_DECAY + (double)(now->on_ns - ev->share_seen.on_ns);
	ev->of_ns = ev->of_ns * SHARE_DECAY + (double)(now->of_ns - ev->share_seen.of_ns);
	ev->share_seen = *now;
	return ev->on_ns > 0 && ev->on_ns < ev->of_ns * ALWAYS_ON ? ev->of_ns / ev->on_ns
								  : 1;
}

/* Where there is a rate periods change, and what the event has counted is divided among
 * the samples: of each one at least, and what finds none waits for the next. */
static double rate_scale(struct system *s, size_t i, unsigned table)
{
	struct event *ev = &s->events[i];
	uint64_t n = system_counts_n_waiting(s->counts, table, (uint32_t)i);
	uint64_t counted = system_sampler_counted(s->sampler, i);
	uint64_t due = counted > ev->weighed + n ? counted - ev->weighed : n;

	if (!ev->what.hz || !n)
		return 1;
	ev->weighed += due;
	return (double)due / (double)n / (double)ev->what.period;
}

static void scale_events(struct system *s, unsigned table)
{
	struct system_events_share shares[SYSTEM_EVENTS_MAX];
	bool has_turns = system_sampler_takes_turns(s->sampler);

	if (has_turns)
		system_sampler_shares(s->sampler, shares);
	for (size_t i = 0; i < s->n_events; i++) {
		double scale = has_turns ? off_scale(&s->events[i], &shares[i]) : 1;

		system_counts_scale(s->counts, (uint32_t)i,
				    scale * rate_scale(s, i, table));
	}
}

/* Without a recording nothing more is: what is counted meanwhile is lost. */
static struct system_sampler_written what_is_written(struct system *s)
{
	uint64_t samples = system_counts_stats(s->counts)->samples;

	if (s->writer)
		s->bytes = writer_bytes(s->writer);
	if (s->writer && !s->is_behind && !writer_waiting_bytes(s->writer))
		s->written = samples;
	return (struct system_sampler_written){
		.recording = s->recording,
		.bytes = s->bytes,
		.unwritten = samples - s->written,
		.told_lost = s->base.lost + s->before.counted.kernel.lost,
		.told_late = s->before.counted.late.n_late,
	};
}

/* The kernel forgets what was drained when it is in the file, where that is asked for.
 * That it could not be written is the writer's to tell. */
static void forget(struct system *s, unsigned table)
{
	int rc = s->is_kept && s->writer ? writer_flush(s->writer, NULL) : 0;
	struct system_sampler_written written = what_is_written(s);

	(void)rc;
	system_sampler_done(s->sampler, table, &written);
}

static void system_keep(struct recorder *r, uint64_t recording, bool is_behind)
{
	struct system *s = (struct system *)r;
	struct system_sampler_written written;

	s->recording = recording;
	s->is_behind = is_behind;
	s->bytes = 0;
	written = what_is_written(s);
	system_sampler_note(s->sampler, &written);
}

static void system_drain(struct recorder *r, uint64_t now_ns)
{
	struct system *s = (struct system *)r;
	unsigned table = system_sampler_drain(s->sampler);

	note_fetch(s);
	s->drained_ns = now_ns;
	scale_events(s, table);
	system_counts_write(s->counts, table, now_ns);
	forget(s, table);
	system_code_tick(&s->code, now_ns);
}

/* What came while nobody was there has filled the rings. */
static int system_start(struct recorder *r, struct err *e)
{
	struct system *s = (struct system *)r;

	if (s->has_left)
		system_drain(r, clock_monotonic_ns());
	return system_sampler_start(s->sampler, e);
}

static void system_work(struct recorder *r, uint64_t now_ns)
{
	struct system *s = (struct system *)r;

	/* Rings are not to overflow while a large file is read. */
	do {
		system_sampler_fetch(s->sampler);
		note_fetch(s);
		if (system_sampler_is_filling(s->sampler))
			system_drain(r, now_ns);
	} while (system_images_load(s->code.images));
	if (now_ns - s->jittered_ns >= JITTER_NS) {
		s->jittered_ns = now_ns;
		system_sampler_follow(s->sampler, now_ns);
		system_sampler_jitter(s->sampler);
		if (system_sampler_is_exceeding(s->sampler))
			system_drain(r, now_ns);
	}
	if (now_ns - s->drained_ns >= s->drain_ns)
		system_drain(r, now_ns);
}

static void system_pause(struct recorder *r, bool is_paused)
{
	system_sampler_pause(((struct system *)r)->sampler, is_paused);
}

static void system_stop(struct recorder *r)
{
	system_sampler_stop(((struct system *)r)->sampler);
}

static void subtract(struct stack_record_stats *from, const struct stack_record_stats *s)
{
	uint64_t *to = (uint64_t *)from;

	for (size_t i = 0; i < sizeof(*s) / sizeof(*to); i++)
		to[i] -= ((const uint64_t *)s)[i];
}

static void system_status(const struct recorder *r, struct recorder_status *ret)
{
	const struct system *s = (const struct system *)r;
	const struct system_counts_stats *counts = system_counts_stats(s->counts);
	struct recorder_counted *c = &ret->counted;
	uint64_t removed;

	*ret = (struct recorder_status){ .is_counted = true };
	ret->unkept = system_sampler_refusal(s->sampler);
	ret->removed = system_sampler_removed(s->sampler, &removed);
	system_sampler_stats(s->sampler, &c->kernel);
	subtract(&c->kernel, &s->base);
	system_sampler_late(s->sampler, &c->late);
	system_code_status(&s->code, c);
	ret->samples = c->kernel.samples;
	ret->stored = counts->samples;
	ret->lost = c->kernel.lost + counts->strays + removed;
	memcpy(c->of_events, counts->of_events, sizeof(c->of_events));
	memcpy(ret->stops, counts->stops, sizeof(ret->stops));
	ret->longest_gap_ns = s->longest_gap_ns;
	ret->kernel_bytes =
		system_rows_bytes(s->code.rows) + system_sampler_bytes(s->sampler);
}

static void note_event(struct system *s, const struct event *ev,
		       const struct system_events_share *now, uint64_t samples)
{
	const struct system_events_share *before = &ev->share_before;
	const char *unit = ev->what.counter->unit;

	if (ev->what.hz)
		facts_add_for(s->writer, ev->id, FACT_RATE, "requested-rate", "count",
			      ev->what.hz);
	else
		facts_add_for(s->writer, ev->id, FACT_RATE, "requested-period", unit,
			      ev->what.period);
	facts_add_for(s->writer, ev->id, FACT_RATE, "delivered", "count",
		      samples - ev->samples_before);
	if (s->n_events == 1 && !ev->what.hz && !system_sampler_takes_turns(s->sampler))
		return;
	facts_add_for(s->writer, ev->id, FACT_RATE, "time-on", "ns",
		      now->on_ns - before->on_ns);
	facts_add_for(s->writer, ev->id, FACT_RATE, "time-of", "ns",
		      now->of_ns - before->of_ns);
	if (!counter_is_clock(ev->what.counter)) /* they go on while a CPU idles */
		facts_add_for(s->writer, ev->id, FACT_RATE, "counted", unit,
			      now->counted - before->counted);
	if (!ev->what.hz)
		return;
	facts_add_for(s->writer, ev->id, FACT_RATE, "unsampled-before", unit,
		      ev->unsampled_before);
	facts_add_for(s->writer, ev->id, FACT_RATE, "unsampled-after", unit,
		      unsampled(ev, now));
}

/* Of this recording. */
static void note_events(struct system *s)
{
	const struct system_counts_stats *stats = system_counts_stats(s->counts);
	struct system_events_share shares[SYSTEM_EVENTS_MAX];

	system_sampler_shares(s->sampler, shares);
	for (size_t i = 0; i < s->n_events; i++)
		note_event(s, &s->events[i], &shares[i], stats->of_events[i]);
}

/* Since the last recording's end. */
static void note_numbers(struct system *s)
{
	const struct recorder_status *was = &s->before;
	struct recorder_status st;

	system_status(&s->recorder, &st);
	note_events(s);
	facts_loss(s->writer, "lost-samples", st.lost - was->lost);
	facts_add(s->writer, FACT_RATE, "missed-periods", "count",
		  st.counted.kernel.missed - was->counted.kernel.missed);
	facts_add(s->writer, FACT_RATE, "stolen-periods", "count",
		  st.counted.kernel.stolen - was->counted.kernel.stolen);
	if (st.counted.late.n_late > was->counted.late.n_late)
		facts_loss(s->writer, "late-samples",
			   st.counted.late.n_late - was->counted.late.n_late);
	if (st.counted.n_unnumbered > was->counted.n_unnumbered)
		facts_loss(s->writer, "unnumbered-files",
			   st.counted.n_unnumbered - was->counted.n_unnumbered);
	s->before = st;
}

static int system_end(struct recorder *r, uint64_t now_ns, bool has_symbols,
		      struct err *e)
{
	struct system *s = (struct system *)r;

	system_drain(r, now_ns);
	system_drain(r, now_ns);
	note_numbers(s);
	s->writer = NULL;
	return system_counts_end(s->counts, has_symbols, e);
}

const struct recorder_ops system_recorder = {
	.source = &system_source,
	.hz = DEFAULT_HZ,
	.kept = &system_keeping_samples,
	.open = system_open,
	.begin = system_begin,
	.keep = system_keep,
	.left = system_left,
	.start = system_start,
	.fds = system_fds,
	.work = system_work,
	.drain = system_drain,
	.pause = system_pause,
	.stop = system_stop,
	.end = system_end,
	.status = system_status,
	.free = system_free,
};
