/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/states_recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/system_counts.h"
#include "collect/system_images.h"
#include "collect/system_numbers.h"
#include "collect/system_rows.h"
#include "collect/system_states.h"
#include "host/clock.h"

/* Samples that tell user's from system's time, a second. */
#define DEFAULT_HZ 1000
#define ROWS_BYTES ((size_t)24 << 20)
#define JITTER_NS  UINT64_C(100000000)
#define DRAIN_NS   UINT64_C(1000000000)
/* Files that stacks stand for are looked through that often, so that they keep their
 * numbers; sooner than a number is taken for idle. */
#define MEET_NS UINT64_C(16000000000)

extern const struct source_ops states_source;

_Static_assert(STATE_RECORD_N_EVENTS <= EXPERIMENT_EVENTS_MAX, "a column of each state");
_Static_assert(STATE_RECORD_N_EVENTS <= SYSTEM_COUNTS_EVENTS_MAX, "a key's event");

/* Joins the programs, the rows they walk by, the images they met and the times. */
struct states {
	struct recorder base;
	struct system_states *states;
	struct system_threads *threads; /* of these */
	struct system_rows *rows;
	struct system_images *images;
	struct system_numbers *numbers;
	struct system_counts *counts;
	uint64_t drain_ns, interval_ns;
	bool is_kept; /* what was taken, also when this is killed */
	bool is_by_thread;
	uint64_t jittered_ns, drained_ns, met_ns;
	uint64_t fetched_ns, longest_gap_ns;
	uint64_t untold; /* times of what the kernel could not tell */
	/* The recording, and of the sums what earlier ones told. */
	struct writer *writer;
	uint32_t event;
	uint64_t lost_before;
};

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_images_meet(((struct states *)ctx)->images, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct states *)ctx)->counts, r);
}

static void on_pair(void *ctx, const struct stack_record_pair *r)
{
	system_counts_pair(((struct states *)ctx)->counts, r);
}

static void on_again(void *ctx, const struct stack_record_again *r)
{
	system_counts_again(((struct states *)ctx)->counts, r);
}

static void on_time(void *ctx, uint32_t number, const struct state_record_sum *more)
{
	struct states *s = ctx;

	if (number)
		system_counts_time(s->counts, number, more);
	else
		s->untold += more->count + more->n_waits;
}

static void on_forget(void *ctx, uint32_t number)
{
	struct states *s = ctx;

	system_images_forget(s->images, number);
	system_rows_forget(s->rows, number);
}

static void on_kept_image(void *ctx, uint32_t number)
{
	system_numbers_meet(((struct states *)ctx)->numbers, number);
}

/* Setting up. */

static void states_free(struct recorder *r)
{
	struct states *s = (struct states *)r;

	system_states_free(s->states);
	system_counts_free(s->counts);
	system_images_free(s->images);
	system_numbers_free(s->numbers);
	system_rows_free(s->rows);
	free(s);
}

static int load(struct states *s, const struct recorder_settings *x, struct err *e)
{
	struct system_threads_sink sink = {
		.rings = { .ctx = s,
			   .image = on_image,
			   .stack = on_stack,
			   .pair = on_pair,
			   .again = on_again },
		.sum = on_time,
	};
	struct system_states_settings settings = {
		.cpus = x->cpus,
		.period_ns = s->interval_ns,
		.is_everybody = !x->scope || x->scope->kind == SCOPE_CPUS,
		.follows_children = x->scope && x->scope->follow_children,
		.has_threads = x->has_threads,
		.has_processes = x->has_processes,
		.depth = x->depth,
	};

	int rc = system_states_new(&settings, &sink, &s->states, e);

	s->threads = rc < 0 ? NULL : system_states_threads(s->states);
	return rc;
}

static int make_numbers(struct states *s, struct err *e)
{
	struct system_numbers_settings settings = { .ctx = s, .forget = on_forget };
	struct system_numbers_maps maps;

	system_states_numbers(s->states, &maps);
	return system_numbers_new(&maps, &settings, &s->numbers, e);
}

static int make(struct states *s, const struct recorder_settings *x, struct err *e)
{
	struct system_rows_maps maps;
	int rc = load(s, x, e);

	if (rc < 0)
		return rc;
	system_states_maps(s->states, &maps);
	rc = system_rows_new(&maps, ROWS_BYTES, &s->rows, e);
	if (rc == 0)
		rc = make_numbers(s, e);
	if (rc < 0)
		return rc;
	s->images = system_images_new(s->rows);
	system_images_keep_symbols(s->images, x->symbols);
	s->counts = system_counts_new(s->images);
	return 0;
}

static int states_open(const struct recorder_settings *x, struct recorder **ret,
		       struct err *e)
{
	struct states *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &states_recorder;
	s->drain_ns = x->drain_ns ? x->drain_ns : DRAIN_NS;
	s->interval_ns = x->plans[0].choice.interval;
	s->is_kept = x->keep != NULL;
	s->is_by_thread = x->scope != NULL;
	rc = make(s, x, e);
	if (rc < 0)
		states_free(&s->base);
	else
		*ret = &s->base;
	return rc;
}

int states_recorder_follow(struct recorder *r, pid_t pid, bool awaits_exec, struct err *e)
{
	return system_threads_follow(((struct states *)r)->threads, pid, awaits_exec, e);
}

static void states_begin(struct recorder *r, struct writer *w, const struct plan *plans)
{
	struct states *s = (struct states *)r;
	struct system_counts_events events = {
		.is_kept = true,
		.is_by_thread = s->is_by_thread,
		.code = system_states_code(s->states),
	};

	memcpy(events.ids, plans[0].events, STATE_RECORD_N_EVENTS * sizeof(*events.ids));
	s->writer = w;
	s->event = events.ids[STATE_RECORD_USER];
	system_counts_begin(s->counts, w, &events);
}

static int states_start(struct recorder *r, struct err *e)
{
	return system_states_start(((struct states *)r)->states, e);
}

/* Running. */

static size_t states_fds(const struct recorder *r, struct pollfd *fds, size_t max)
{
	const struct states *s = (const struct states *)r;

	if (!max)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_threads_fd(s->threads), .events = POLLIN };
	return 1;
}

/* The rings were emptied. */
static void note_fetch(struct states *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (s->fetched_ns && now_ns - s->fetched_ns > s->longest_gap_ns)
		s->longest_gap_ns = now_ns - s->fetched_ns;
	s->fetched_ns = now_ns;
}

static void tick(struct states *s, uint64_t now_ns)
{
	system_rows_tick(s->rows, now_ns);
	if (now_ns - s->met_ns >= MEET_NS) {
		s->met_ns = now_ns;
		system_counts_each_image(s->counts, s, on_kept_image);
	}
	system_numbers_tick(s->numbers, now_ns);
}

/* is_whole: what goes on is charged up to now. */
static void drain(struct states *s, uint64_t now_ns, bool is_whole)
{
	int closed, rc;

	s->drained_ns = now_ns;
	system_states_follow_cpus(s->states);
	closed = system_threads_drain(s->threads, is_whole);
	note_fetch(s);
	system_counts_write(s->counts, 0, now_ns);
	system_counts_write(s->counts, 1, now_ns);
	if (closed >= 0)
		system_counts_forget(s->counts, (unsigned)closed);
	/* That it could not be written is the writer's to tell. */
	rc = s->is_kept && s->writer ? writer_flush(s->writer, NULL) : 0;
	(void)rc;
	tick(s, now_ns);
}

static void states_drain(struct recorder *r, uint64_t now_ns)
{
	drain((struct states *)r, now_ns, true);
}

static void states_work(struct recorder *r, uint64_t now_ns)
{
	struct states *s = (struct states *)r;

	/* Rings are not to overflow while a large file is read. */
	do {
		system_threads_fetch(s->threads);
		note_fetch(s);
	} while (system_images_load(s->images));
	if (now_ns - s->jittered_ns >= JITTER_NS) {
		s->jittered_ns = now_ns;
		system_states_jitter(s->states);
	}
	if (now_ns - s->drained_ns >= s->drain_ns ||
	    system_threads_is_filling(s->threads))
		drain(s, now_ns, false);
}

static void states_pause(struct recorder *r, bool is_paused)
{
	system_threads_pause(((struct states *)r)->threads, is_paused);
}

static void states_stop(struct recorder *r)
{
	system_states_stop(((struct states *)r)->states);
}

static void states_status(const struct recorder *r, struct recorder_status *ret)
{
	const struct states *s = (const struct states *)r;
	const struct system_counts_stats *counts = system_counts_stats(s->counts);

	*ret = (struct recorder_status){ .is_counted = true };
	system_threads_stats(s->threads, &ret->counted.kernel);
	ret->counted.n_images = system_rows_n_loaded(s->rows);
	ret->counted.n_gone = system_images_n_gone(s->images);
	ret->counted.n_again = system_numbers_n_again(s->numbers);
	ret->counted.n_unnumbered = system_states_n_unnumbered(s->states);
	ret->n_states = counts->samples;
	ret->lost = ret->counted.kernel.lost + s->untold + counts->strays;
	memcpy(ret->stops, counts->stops, sizeof(ret->stops));
	ret->longest_gap_ns = s->longest_gap_ns;
	ret->kernel_bytes = system_rows_bytes(s->rows) + system_threads_bytes(s->threads);
}

static int states_end(struct recorder *r, uint64_t now_ns, bool has_symbols,
		      struct err *e)
{
	struct states *s = (struct states *)r;
	struct recorder_status st;

	drain(s, now_ns, true);
	states_status(r, &st);
	facts_add_for(s->writer, s->event, FACT_RATE, "requested-period", "ns",
		      s->interval_ns);
	facts_loss(s->writer, "lost-samples", st.lost - s->lost_before);
	s->lost_before = st.lost;
	s->writer = NULL;
	return system_counts_end(s->counts, has_symbols, e);
}

const struct recorder_ops states_recorder = {
	.source = &states_source,
	.hz = DEFAULT_HZ,
	.open = states_open,
	.begin = states_begin,
	.start = states_start,
	.fds = states_fds,
	.work = states_work,
	.drain = states_drain,
	.pause = states_pause,
	.stop = states_stop,
	.end = states_end,
	.status = states_status,
	.free = states_free,
};
