/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/probe_names.h"
#include "collect/session.h"
#include "collect/source.h"
#include "collect/system_counts.h"
#include "collect/system_images.h"
#include "collect/system_probes.h"
#include "collect/system_rows.h"
#include "collect/trigger.h"
#include "host/clock.h"
#include "host/privilege.h"
#include "wire/probe_record.h"

extern const struct source_ops probes_source;

_Static_assert(TRIGGER_MAX <= PROBE_RECORD_TRIGGERS_MAX, "each has a cookie");
_Static_assert(3 * SESSION_EXPERIMENTS_MAX <= SYSTEM_COUNTS_EVENTS_MAX, "events");

#define ROWS_BYTES ((size_t)32 << 20)
#define DRAIN_NS   UINT64_C(1000000000)

struct probes_recording {
	struct source base;
	struct source_context context;
	struct system_probes_settings settings;
	struct system_counts_events events;
	struct system_counts_how how;
	struct cpus cpus;
	struct system_probes *probes;
	struct system_threads *threads; /* of these */
	struct system_rows *rows;
	struct system_images *images;
	struct system_counts *counts;
	uint64_t drained_ns;
	uint64_t untold; /* what the kernel could not tell */
};

/* Loading takes a second or so, and what was loaded once can be again. */
static int probe_kernel(struct err *e)
{
	static bool is_known;
	struct privilege p;

	if (is_known)
		return 0;
	privilege_read(&p);
	if (!p.is_root && !p.may_perfmon)
		return err_set(e, ERR_UNSUPPORTED, "only root may load BPF programs");

	struct system_threads_sink sink = { 0 };
	struct cpus cpus = { 0 };
	struct system_probes_settings settings = { .cpus = &cpus, .has_calls = true };
	struct system_probes *s = NULL;
	int rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = system_probes_new(&settings, &sink, &s, e);
	is_known = rc == 0;
	system_probes_free(s);
	cpus_fini(&cpus);
	return rc;
}

static int probes_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	if (x->trigger != EXPERIMENT_SYSCALLS && x->trigger != EXPERIMENT_TRIGGER)
		return err_set(e, ERR_UNSUPPORTED,
			       "it feeds system calls and triggers only");
	if (scope->kind == SCOPE_THREADS)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows whole processes: give their pids (-p)");
	if (scope->kind == SCOPE_CPUS && scope->n_cpus)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows threads over all CPUs: 'dwell attach -a'");
	return probe_kernel(e);
}

static void probes_range(unused const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = 1;
	*ret_resolution = 1;
}

static const char *probes_how(const struct experiment *x, unused unsigned i)
{
	if (x->trigger == EXPERIMENT_TRIGGER)
		return "tracepoint, summed in the kernel";
	return "entry and exit of system calls, summed in the kernel";
}

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_images_meet(((struct probes_recording *)ctx)->images, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct probes_recording *)ctx)->counts, r);
}

static void on_pair(void *ctx, const struct stack_record_pair *r)
{
	system_counts_pair(((struct probes_recording *)ctx)->counts, r);
}

static void on_again(void *ctx, const struct stack_record_again *r)
{
	system_counts_again(((struct probes_recording *)ctx)->counts, r);
}

static void on_sum(void *ctx, uint32_t number, const struct state_record_sum *more)
{
	struct probes_recording *s = ctx;

	if (number)
		system_counts_time(s->counts, number, more);
	else
		s->untold += more->count;
}

static void probes_free(struct source *source)
{
	struct probes_recording *s = (struct probes_recording *)source;

	system_probes_free(s->probes);
	system_counts_free(s->counts);
	system_images_free(s->images);
	system_rows_free(s->rows);
	cpus_fini(&s->cpus);
	free(s);
}

static int load(struct probes_recording *s, struct err *e)
{
	struct system_threads_sink sink = {
		.rings = { .ctx = s,
			   .image = on_image,
			   .stack = on_stack,
			   .pair = on_pair,
			   .again = on_again },
		.sum = on_sum,
	};
	struct system_rows_maps maps;
	int rc = cpus_present(&s->cpus, e);

	if (rc == 0)
		rc = system_probes_new(&s->settings, &sink, &s->probes, e);
	if (rc == 0)
		s->threads = system_probes_threads(s->probes);
	if (rc < 0)
		return rc;
	system_probes_maps(s->probes, &maps);
	rc = system_rows_new(&maps, ROWS_BYTES, &s->rows, e);
	if (rc < 0)
		return rc;
	s->images = system_images_new(s->rows);
	s->counts = system_counts_new(s->images);
	return 0;
}

/* The events of a plan get numbers behind each other, from *n on; which sum's parts they
 * are. */
static unsigned number_events(struct probes_recording *s, const struct plan *p,
			      unsigned *n)
{
	unsigned first = *n;

	for (unsigned i = 0; i < p->choice.experiment->n_events; i++)
		s->events.ids[(*n)++] = p->events[i];
	return first;
}

static void take_calls(struct probes_recording *s, const struct plan *p, unsigned *n)
{
	uint8_t first = (uint8_t)number_events(s, p, n);

	s->settings.has_calls = true;
	s->how.parts[PROBE_RECORD_CALL] = (struct system_counts_parts){
		.ns = first + EXPERIMENT_CALL_TIME,
		.count = first + EXPERIMENT_CALLS,
		.n_waits = SYSTEM_COUNTS_NONE,
		.pair = first + EXPERIMENT_CALL_ERRORS,
	};
}

static uint8_t event_of(const struct plan *p, unsigned first, unsigned i)
{
	return i < p->choice.experiment->n_events ? (uint8_t)(first + i)
						  : SYSTEM_COUNTS_NONE;
}

static void take_trigger(struct probes_recording *s, const struct plan *p, unsigned *n)
{
	const struct trigger *t = trigger_of(p->choice.experiment);
	unsigned first = number_events(s, p, n);
	size_t i = s->settings.n_triggers++;

	s->settings.triggers[i] = (struct system_probes_trigger){
		.group = t->group,
		.name = t->name,
		.field = { .offset = t->place.offset,
			   .size = t->place.size,
			   .is_signed = t->place.is_signed },
	};
	s->how.parts[PROBE_RECORD_TRIGGER + i] = (struct system_counts_parts){
		.ns = event_of(p, first, TRIGGER_SUM),
		.count = event_of(p, first, TRIGGER_COUNT),
		.n_waits = event_of(p, first, TRIGGER_NEGATIVE),
		.pair = SYSTEM_COUNTS_NONE,
	};
}

static void take_plans(struct probes_recording *s)
{
	const struct source_context *c = &s->context;
	unsigned n = 0;

	s->how.label = probe_names_call;
	s->how.pair_label = probe_names_error;
	for (size_t i = 0; i < c->n_plans; i++) {
		const struct plan *p = &c->plans[i];

		if (p->source != &probes_source)
			continue;
		if (p->choice.experiment->trigger == EXPERIMENT_TRIGGER)
			take_trigger(s, p, &n);
		else
			take_calls(s, p, &n);
	}
}

static int probes_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct probes_recording *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &probes_source;
	s->context = *c;
	s->settings.cpus = &s->cpus;
	s->settings.is_everybody = c->scope->kind == SCOPE_CPUS;
	s->settings.follows_children = c->scope->follow_children;
	s->events.is_kept = s->events.is_by_thread = true;
	s->events.how = &s->how;
	take_plans(s);
	rc = load(s, e);
	if (rc < 0) {
		probes_free(&s->base);
		return rc;
	}
	system_counts_begin(s->counts, c->writer, &s->events);
	*ret = &s->base;
	return 0;
}

static int probes_start(struct source *source, pid_t pid, struct err *e)
{
	struct probes_recording *s = (struct probes_recording *)source;
	const struct scope *scope = s->context.scope;
	int rc = pid ? system_threads_follow(s->threads, pid, true, e) : 0;

	for (size_t i = 0; rc == 0 && !pid && i < scope->n_pids; i++)
		rc = system_threads_follow(s->threads, scope->pids[i], false, e);
	return rc < 0 ? rc : system_probes_start(s->probes, e);
}

static size_t probes_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct probes_recording *s = (const struct probes_recording *)source;

	if (!max)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_threads_fd(s->threads), .events = POLLIN };
	return 1;
}

static void drain(struct probes_recording *s, uint64_t now_ns)
{
	int closed;

	s->drained_ns = now_ns;
	closed = system_threads_drain(s->threads, false);
	system_counts_write(s->counts, 0, now_ns);
	system_counts_write(s->counts, 1, now_ns);
	if (closed >= 0)
		system_counts_forget(s->counts, (unsigned)closed);
	system_rows_tick(s->rows, now_ns);
}

static int probes_drain(struct source *source, bool is_final, struct err *e)
{
	struct probes_recording *s = (struct probes_recording *)source;
	uint64_t now_ns = clock_monotonic_ns();

	/* Rings are not to overflow while a large file is read. */
	do
		system_threads_fetch(s->threads);
	while (system_images_load(s->images));
	if (is_final || now_ns - s->drained_ns >= DRAIN_NS)
		drain(s, now_ns);
	return is_final ? system_counts_end(s->counts, true, e) : 0;
}

static void probes_pause(struct source *source, bool is_paused)
{
	system_threads_pause(((struct probes_recording *)source)->threads, is_paused);
}

static void probes_stop(struct source *source)
{
	system_probes_stop(((struct probes_recording *)source)->probes);
}

static void probes_finish(struct source *source, struct source_stats *ret)
{
	struct probes_recording *s = (struct probes_recording *)source;
	struct system_counts_stats counts = *system_counts_stats(s->counts);
	struct stack_record_stats kernel;

	system_threads_stats(s->threads, &kernel);
	ret->samples += counts.samples;
	ret->lost += kernel.lost + s->untold + counts.strays;
	facts_loss(s->context.writer, "lost-samples",
		   kernel.lost + s->untold + counts.strays);
}

const struct source_ops probes_source = {
	.name = "probes",
	.summary = "system calls and tracepoints, summed in the kernel (BPF)",
	.probe = probes_probe,
	.range = probes_range,
	.how = probes_how,
	.open = probes_open,
	.start = probes_start,
	.fds = probes_fds,
	.drain = probes_drain,
	.pause = probes_pause,
	.stop = probes_stop,
	.finish = probes_finish,
	.free = probes_free,
};
