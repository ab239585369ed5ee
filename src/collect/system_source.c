/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/recorder_source.h"
#include "collect/system_sampler.h"

extern const struct source_ops system_source;

/* Does the kernel take the programs, and give them samples? */
static int try_programs(struct err *e)
{
	struct cpus cpus = { 0 };
	struct system_sampler_settings settings = { .cpus = &cpus };
	struct system_sampler *s = NULL;
	struct system_sink sink = { 0 };
	int rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = system_sampler_new(&settings, &sink, &s, e);
	if (rc == 0)
		rc = system_sampler_check(s, e);
	system_sampler_free(s);
	cpus_fini(&cpus);
	return rc < 0 ? ERR_OS : 0;
}

/* What the programs can do: count what CPUs count, of all that runs there. */
static int system_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	/* They are the same for all events. */
	static bool is_known;
	int rc;

	if (scope->kind != SCOPE_CPUS)
		return err_set(e, ERR_UNSUPPORTED,
			       "it profiles whole CPUs: 'dwell attach -a'");
	if (x->trigger != EXPERIMENT_CPU_TIME && x->trigger != EXPERIMENT_COUNTER)
		return err_set(e, ERR_UNSUPPORTED, "it samples CPU time and counters");

	rc = x->counter ? system_event_check(x->counter, e) : 0;
	if (rc == 0 && !is_known)
		rc = try_programs(e);
	is_known |= rc == 0;
	return rc;
}

static void system_range(const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = x->min;
	*ret_resolution = 1;
}

static const char *system_how(const struct experiment *x, unused unsigned column)
{
	return x->counter ? "system counter, counted in the kernel"
			  : "system cpu-clock, counted in the kernel";
}

/* All have stacks, or none. */
static int check_plans(const struct source_context *c, struct err *e)
{
	const struct plan *first = NULL;

	for (size_t i = 0; i < c->n_plans; i++) {
		const struct plan *p = &c->plans[i];

		if (p->source != &system_source)
			continue;
		if (!first)
			first = p;
		if (p->choice.experiment->is_pc_only !=
		    first->choice.experiment->is_pc_only)
			return err_set(e, ERR_UNSUPPORTED,
				       "the system source takes stacks of all that it "
				       "feeds or of nothing: not %s with %s",
				       first->choice.name, p->choice.name);
	}
	return 0;
}

static int system_open(const struct source_context *c, struct source **ret, struct err *e)
{
	int rc = check_plans(c, e);

	return rc < 0 ? rc : recorder_source_open(&system_recorder, c, ret, e);
}

/* What the samples of CPU time stand for: of the first that there is. */
static uint64_t sampled_cpu_ns(const struct recorder_source *s,
			       const struct recorder_counted *counts)
{
	for (size_t i = 0; i < s->n_plans; i++)
		if (s->plans[i].choice.experiment->trigger == EXPERIMENT_CPU_TIME)
			return counts->of_events[i] * s->plans[i].choice.interval;
	return 0;
}

static void system_stats(const struct source *source, struct source_stats *ret)
{
	const struct recorder_source *s = (const struct recorder_source *)source;
	struct recorder_status st;

	recorder_source_status(source, &st);
	*ret = (struct source_stats){
		.samples = st.stored,
		.lost = st.lost,
		.cpu_ns = sampled_cpu_ns(s, &st.counted),
	};
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
	.sums = true,
	.probe = system_probe,
	.range = system_range,
	.how = system_how,
	.open = system_open,
	RECORDER_SOURCE_OPS,
	.stats = system_stats,
	.finish = system_finish,
};
