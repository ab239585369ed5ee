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
	const struct plan *plan;
	struct cpus cpus;
	struct recorder *recorder;
};

/* What the programs can do: the CPU's time, of all that runs there. */
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
	if (x->trigger != EXPERIMENT_CPU_TIME)
		return err_set(e, ERR_UNSUPPORTED, "it samples CPU time only");

	int rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = system_sampler_new(&settings, &sink, &s, e);
	if (rc == 0)
		rc = system_sampler_check(s, e);
	system_sampler_free(s);
	cpus_fini(&cpus);
	return rc < 0 ? ERR_OS : 0;
}

static void system_range(unused const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = 10000;
	*ret_resolution = 1;
}

static const char *system_how(unused const struct experiment *x, unused unsigned column)
{
	return "system cpu-clock, counted in the kernel";
}

static void system_free(struct source *source)
{
	struct system *s = (struct system *)source;

	recorder_free(s->recorder);
	cpus_fini(&s->cpus);
	free(s);
}

static int one_plan(struct system *s, struct err *e)
{
	for (size_t i = 0; i < s->context.n_plans; i++) {
		if (s->context.plans[i].source != &system_source)
			continue;
		if (s->plan)
			return err_set(e, ERR_UNSUPPORTED,
				       "the system source feeds one experiment");
		s->plan = &s->context.plans[i];
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

static int open_system(struct system *s, struct err *e)
{
	int rc = one_plan(s, e);

	if (rc == 0)
		rc = take_cpus(s, e);
	if (rc < 0)
		return rc;

	struct recorder_settings settings = {
		.cpus = &s->cpus,
		.period_ns = s->plan->choice.interval,
		.is_flat = s->plan->choice.experiment->is_pc_only,
		.has_processes = true,
		.has_threads = true,
	};

	rc = system_recorder.open(&settings, &s->recorder, e);
	if (rc == 0)
		system_recorder.begin(s->recorder, s->context.writer, s->plan);
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

static void system_stats(const struct source *source, struct source_stats *ret)
{
	const struct system *s = (const struct system *)source;
	struct recorder_status st;

	system_recorder.status(s->recorder, &st);
	*ret = (struct source_stats){
		.samples = st.stored,
		.lost = st.lost,
		.cpu_ns = st.stored * s->plan->choice.interval,
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
