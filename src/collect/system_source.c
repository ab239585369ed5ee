/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/recorder.h"
#include "collect/system_sampler.h"
#include "host/clock.h"

extern const struct source_ops system_source;

struct system {
	struct source base;
	struct source_context context;
	struct plan plans[SYSTEM_EVENTS_MAX];
	size_t n_plans;
	struct cpus cpus;
	struct recorder *recorder;
};

/* Whether this machine has it. */
static int try_counter(const struct experiment *x, struct err *e)
{
	const struct system_event ev = { .counter = x->counter, .period = x->on };
	const struct system_event_how own_thread = { .tid = 0, .cpu = -1 };
	own(closep) int fd = system_event_open(&ev, &own_thread, e);

	return fd < 0 ? ERR_UNSUPPORTED : 0;
}

/* What the programs can do: count what CPUs count, of all that runs there. */
static int system_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	struct cpus cpus = { 0 };
	struct system_sampler_settings settings = { .cpus = &cpus };
	struct system_sampler *s = NULL;
	struct system_sink sink = { 0 };

	if (scope->kind != SCOPE_CPUS)
		return err_set(e, ERR_UNSUPPORTED,
			       "it profiles whole CPUs: 'dwell attach -a'");
	if (x->trigger != EXPERIMENT_CPU_TIME && x->trigger != EXPERIMENT_COUNTER)
		return err_set(e, ERR_UNSUPPORTED, "it samples CPU time and counters");

	int rc = x->counter ? try_counter(x, e) : 0;

	if (rc < 0)
		return rc;
	rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = system_sampler_new(&settings, &sink, &s, e);
	if (rc == 0)
		rc = system_sampler_check(s, e);
	system_sampler_free(s);
	cpus_fini(&cpus);
	return rc < 0 ? ERR_OS : 0;
}

static void system_range(const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = x->min;
	*ret_resolution = 1;
}

static const char *system_how(const struct experiment *x, unused unsigned column)
{
	return x->counter ? "system, counted in the kernel"
			  : "system cpu-clock, counted in the kernel";
}

static void system_free(struct source *source)
{
	struct system *s = (struct system *)source;

	recorder_free(s->recorder);
	cpus_fini(&s->cpus);
	free(s);
}

/* All have stacks, or none. */
static int take_plans(struct system *s, struct err *e)
{
	for (size_t i = 0; i < s->context.n_plans; i++) {
		const struct plan *p = &s->context.plans[i];

		if (p->source != &system_source)
			continue;
		if (s->n_plans == SYSTEM_EVENTS_MAX)
			return err_set(e, ERR_USAGE, "at most %d events",
				       SYSTEM_EVENTS_MAX);
		s->plans[s->n_plans++] = *p;
		if (p->choice.experiment->is_pc_only !=
		    s->plans[0].choice.experiment->is_pc_only)
			return err_set(e, ERR_UNSUPPORTED,
				       "the system source takes stacks of all that it "
				       "feeds or of nothing: not %s with %s",
				       s->plans[0].choice.name, p->choice.name);
	}
	return 0;
}

static int take_cpus(struct system *s, struct err *e)
{
	const struct scope *scope = s->context.scope;

	if (!scope->n_cpus)
		return cpus_present(&s->cpus, e);
	for (size_t i = 0; i < scope->n_cpus; i++)
		*vec_push(&s->cpus.ids) = scope->cpus[i];
	return 0;
}

static int make_recorder(struct system *s, struct err *e)
{
	struct recorder_settings settings = {
		.cpus = &s->cpus,
		.plans = s->plans,
		.n_plans = s->n_plans,
		.is_flat = s->plans[0].choice.experiment->is_pc_only,
		.has_processes = true,
		.has_threads = true,
	};

	return system_recorder.open(&settings, &s->recorder, e);
}

static int open_system(struct system *s, struct err *e)
{
	int rc = take_plans(s, e);

	if (rc == 0)
		rc = take_cpus(s, e);
	if (rc == 0)
		rc = make_recorder(s, e);
	if (rc == 0)
		system_recorder.begin(s->recorder, s->context.writer, s->plans);
	return rc;
}

static int system_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct system *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &system_source;
	s->context = *c;
	rc = open_system(s, e);
	if (rc < 0)
		system_free(&s->base);
	else
		*ret = &s->base;
	return rc;
}

static int system_start(struct source *source, unused pid_t pid, struct err *e)
{
	return system_recorder.start(((struct system *)source)->recorder, e);
}

static size_t system_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	return system_recorder.fds(((const struct system *)source)->recorder, fds, max);
}

static int system_drain(struct source *source, bool is_final, struct err *e)
{
	struct system *s = (struct system *)source;

	if (is_final)
		return system_recorder.end(s->recorder, clock_monotonic_ns(), true, e);
	system_recorder.work(s->recorder, clock_monotonic_ns());
	return 0;
}

static void system_sync(struct source *source)
{
	system_recorder.drain(((struct system *)source)->recorder, clock_monotonic_ns());
}

/* What the samples of CPU time stand for: of the first that there is. */
static uint64_t sampled_cpu_ns(const struct system *s,
			       const struct recorder_counted *counts)
{
	for (size_t i = 0; i < s->n_plans; i++)
		if (s->plans[i].choice.experiment->trigger == EXPERIMENT_CPU_TIME)
			return counts->of_events[i] * s->plans[i].choice.interval;
	return 0;
}

static void system_stats(const struct source *source, struct source_stats *ret)
{
	const struct system *s = (const struct system *)source;
	struct recorder_status st;

	system_recorder.status(s->recorder, &st);
	*ret = (struct source_stats){
		.samples = st.stored,
		.lost = st.lost,
		.cpu_ns = sampled_cpu_ns(s, &st.counted),
	};
}

static void system_pause(struct source *source, bool is_paused)
{
	system_recorder.pause(((struct system *)source)->recorder, is_paused);
}

static void system_stop(struct source *source)
{
	system_recorder.stop(((struct system *)source)->recorder);
}

/* The recorder has told rates and losses at its end. */
static void system_finish(struct source *source, struct source_stats *ret)
{
	system_stats(source, ret);
}

const struct source_ops system_source = {
	.name = "system",
	.summary = "whole CPUs, stacks walked and counted in the kernel (BPF)",
	.instead = "perf",
	.probe = system_probe,
	.range = system_range,
	.how = system_how,
	.open = system_open,
	.start = system_start,
	.fds = system_fds,
	.drain = system_drain,
	.sync = system_sync,
	.stats = system_stats,
	.pause = system_pause,
	.stop = system_stop,
	.finish = system_finish,
	.free = system_free,
};
