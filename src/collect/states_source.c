/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/source.h"
#include "collect/system_counts.h"
#include "collect/system_images.h"
#include "collect/system_rows.h"
#include "collect/system_states.h"
#include "host/clock.h"
#include "host/privilege.h"

extern const struct source_ops states_source;

#define ROWS_BYTES ((size_t)32 << 20)
#define JITTER_NS  UINT64_C(100000000)
#define DRAIN_NS   UINT64_C(1000000000)

_Static_assert(STATE_RECORD_N_EVENTS <= EXPERIMENT_EVENTS_MAX, "a column of each state");
_Static_assert(STATE_RECORD_N_EVENTS <= SYSTEM_COUNTS_EVENTS_MAX, "a key's event");

struct states_recording {
	struct source base;
	struct source_context context;
	const struct plan *plan;
	struct cpus cpus;
	struct system_states *states;
	struct system_rows *rows;
	struct system_images *images;
	struct system_counts *counts;
	uint64_t jittered_ns, drained_ns;
	uint64_t untold; /* times of what the kernel could not tell */
};

static int probe_kernel(struct err *e)
{
	struct privilege p;

	privilege_read(&p);
	if (!p.is_root && !p.may_perfmon)
		return err_set(e, ERR_UNSUPPORTED, "only root may load BPF programs");

	struct system_states_sink sink = { 0 };
	struct cpus cpus = { 0 };
	struct system_states_settings settings = { .cpus = &cpus, .period_ns = 1000000 };
	struct system_states *s = NULL;
	int rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = system_states_new(&settings, &sink, &s, e);
	system_states_free(s);
	cpus_fini(&cpus);
	return rc;
}

static int states_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	if (x->trigger != EXPERIMENT_STATES)
		return err_set(e, ERR_UNSUPPORTED, "it feeds the states of threads only");
	if (scope->kind == SCOPE_THREADS)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows whole processes: give their pids (-p)");
	if (scope->kind == SCOPE_CPUS && scope->n_cpus)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows threads over all CPUs: 'dwell attach -a'");
	return probe_kernel(e);
}

static void states_range(unused const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = 10000;
	*ret_resolution = 1;
}

static const char *states_how(unused const struct experiment *x, unsigned i)
{
	return i == STATE_RECORD_USER || i == STATE_RECORD_SYSTEM
		       ? "switches of threads and cpu-clock, summed in the kernel"
		       : "switches of threads, summed in the kernel";
}

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_images_meet(((struct states_recording *)ctx)->images, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct states_recording *)ctx)->counts, r);
}

static void on_pair(void *ctx, const struct stack_record_pair *r)
{
	system_counts_pair(((struct states_recording *)ctx)->counts, r);
}

static void on_again(void *ctx, const struct stack_record_again *r)
{
	system_counts_again(((struct states_recording *)ctx)->counts, r);
}

static void on_time(void *ctx, uint32_t number, const struct state_record_sum *more)
{
	struct states_recording *s = ctx;

	if (number)
		system_counts_time(s->counts, number, more);
	else
		s->untold += more->count + more->n_waits;
}

static void states_free(struct source *source)
{
	struct states_recording *s = (struct states_recording *)source;

	system_states_free(s->states);
	system_counts_free(s->counts);
	system_images_free(s->images);
	system_rows_free(s->rows);
	cpus_fini(&s->cpus);
	free(s);
}

static const struct plan *find_plan(const struct source_context *c)
{
	size_t i = 0;

	while (c->plans[i].source != &states_source)
		i++;
	return &c->plans[i];
}

static int load(struct states_recording *s, struct err *e)
{
	struct system_states_sink sink = {
		.rings = { .ctx = s,
			   .image = on_image,
			   .stack = on_stack,
			   .pair = on_pair,
			   .again = on_again },
		.time = on_time,
	};
	struct system_states_settings settings = {
		.cpus = &s->cpus,
		.period_ns = s->plan->choice.interval,
		.is_everybody = s->context.scope->kind == SCOPE_CPUS,
		.follows_children = s->context.scope->follow_children,
		.has_threads = true,
		.has_processes = true,
	};
	struct system_rows_maps maps;
	int rc = cpus_present(&s->cpus, e);

	if (rc == 0)
		rc = system_states_new(&settings, &sink, &s->states, e);
	if (rc < 0)
		return rc;
	system_states_maps(s->states, &maps);
	rc = system_rows_new(&maps, ROWS_BYTES, &s->rows, e);
	if (rc < 0)
		return rc;
	s->images = system_images_new(s->rows);
	s->counts = system_counts_new(s->images);
	return 0;
}

static int states_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct states_recording *s = xcalloc(1, sizeof(*s));
	struct system_counts_events events = { .is_kept = true, .is_by_thread = true };
	int rc;

	s->base.ops = &states_source;
	s->context = *c;
	s->plan = find_plan(c);
	rc = load(s, e);
	if (rc < 0) {
		states_free(&s->base);
		return rc;
	}
	events.code = system_states_code(s->states);
	for (size_t i = 0; i < STATE_RECORD_N_EVENTS; i++)
		events.ids[i] = s->plan->events[i];
	system_counts_begin(s->counts, c->writer, &events);
	*ret = &s->base;
	return 0;
}

static int states_start(struct source *source, pid_t pid, struct err *e)
{
	struct states_recording *s = (struct states_recording *)source;
	const struct scope *scope = s->context.scope;
	int rc = pid ? system_states_follow(s->states, pid, true, e) : 0;

	for (size_t i = 0; rc == 0 && !pid && i < scope->n_pids; i++)
		rc = system_states_follow(s->states, scope->pids[i], false, e);
	return rc < 0 ? rc : system_states_start(s->states, e);
}

static size_t states_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct states_recording *s = (const struct states_recording *)source;

	if (!max)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_states_fd(s->states), .events = POLLIN };
	return 1;
}

static void drain(struct states_recording *s, uint64_t now_ns)
{
	int closed;

	s->drained_ns = now_ns;
	system_states_follow_cpus(s->states);
	closed = system_states_drain(s->states, false);
	system_counts_write(s->counts, 0, now_ns);
	system_counts_write(s->counts, 1, now_ns);
	if (closed >= 0)
		system_counts_forget(s->counts, (unsigned)closed);
	system_rows_tick(s->rows, now_ns);
}

static int states_drain(struct source *source, bool is_final, struct err *e)
{
	struct states_recording *s = (struct states_recording *)source;
	uint64_t now_ns = clock_monotonic_ns();

	/* Rings are not to overflow while a large file is read. */
	do
		system_states_fetch(s->states);
	while (system_images_load(s->images));
	if (now_ns - s->jittered_ns >= JITTER_NS) {
		s->jittered_ns = now_ns;
		system_states_jitter(s->states);
	}
	if (is_final || now_ns - s->drained_ns >= DRAIN_NS)
		drain(s, now_ns);
	return is_final ? system_counts_end(s->counts, true, e) : 0;
}

static void states_pause(struct source *source, bool is_paused)
{
	system_states_pause(((struct states_recording *)source)->states, is_paused);
}

static void states_stop(struct source *source)
{
	system_states_stop(((struct states_recording *)source)->states);
}

static void states_finish(struct source *source, struct source_stats *ret)
{
	struct states_recording *s = (struct states_recording *)source;
	struct writer *w = s->context.writer;
	struct system_counts_stats counts = *system_counts_stats(s->counts);
	struct stack_record_stats kernel;

	system_states_stats(s->states, &kernel);
	ret->samples += counts.samples;
	ret->lost += kernel.lost + s->untold + counts.strays;
	facts_add_for(w, s->plan->events[STATE_RECORD_USER], FACT_RATE,
		      "requested-period", "ns", s->plan->choice.interval);
	facts_loss(w, "lost-samples", kernel.lost + s->untold + counts.strays);
}

const struct source_ops states_source = {
	.name = "states",
	.summary = "switches of threads, timed and walked in the kernel (BPF)",
	.probe = states_probe,
	.range = states_range,
	.how = states_how,
	.open = states_open,
	.start = states_start,
	.fds = states_fds,
	.drain = states_drain,
	.pause = states_pause,
	.stop = states_stop,
	.finish = states_finish,
	.free = states_free,
};
