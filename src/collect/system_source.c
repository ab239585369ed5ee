/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/system_recorder.h"
#include "host/clock.h"

extern const struct source_ops system_source;

struct system {
	struct source base;
	struct source_context context;
	const struct plan *plan;
	struct cpus cpus;
	struct system_recorder *recorder;
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

	system_recorder_free(s->recorder);
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

	struct system_sampler_settings settings = {
		.cpus = &s->cpus,
		.period_ns = s->plan->choice.interval,
		.is_flat = s->plan->choice.experiment->is_pc_only,
		.has_processes = true,
		.has_threads = true,
	};

	rc = system_recorder_new(&settings, &s->recorder, e);
	if (rc == 0)
		system_recorder_begin(s->recorder, s->context.writer, s->plan->events[0]);
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
	return system_recorder_start(((struct system *)source)->recorder, e);
}

static size_t system_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	if (!max)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_recorder_fd(
					  ((const struct system *)source)->recorder),
				  .events = POLLIN };
	return 1;
}

static int system_drain(struct source *source, bool is_final, struct err *e)
{
	struct system *s = (struct system *)source;

	if (is_final)
		return system_recorder_end(s->recorder, clock_monotonic_ns(), true, e);
	system_recorder_work(s->recorder, clock_monotonic_ns());
	return 0;
}

static void system_sync(struct source *source)
{
	system_recorder_drain(((struct system *)source)->recorder, clock_monotonic_ns());
}

static void system_stats(const struct source *source, struct source_stats *ret)
{
	const struct system *s = (const struct system *)source;
	struct system_recorder_status st;

	system_recorder_status(s->recorder, &st);
	*ret = (struct source_stats){
		.samples = st.counts.samples,
		.lost = st.kernel.lost + st.counts.strays,
		.cpu_ns = st.counts.samples * s->plan->choice.interval,
	};
}

static void system_pause(struct source *source, bool is_paused)
{
	system_recorder_pause(((struct system *)source)->recorder, is_paused);
}

static void system_stop(struct source *source)
{
	system_recorder_stop(((struct system *)source)->recorder);
}

static void system_finish(struct source *source, struct source_stats *ret)
{
	struct system *s = (struct system *)source;
	struct writer *w = s->context.writer;
	uint32_t event = s->plan->events[0];

	system_stats(source, ret);
	facts_add_for(w, event, FACT_RATE, "requested-period", "ns",
		      s->plan->choice.interval);
	facts_add_for(w, event, FACT_RATE, "delivered", "count", ret->samples);
	facts_loss(w, "lost-samples", ret->lost);
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
