/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/source.h"
#include "collect/states_recorder.h"
#include "collect/system_states.h"
#include "host/clock.h"
#include "host/privilege.h"

extern const struct source_ops states_source;

struct states_recording {
	struct source base;
	struct source_context context;
	const struct plan *plan;
	struct cpus cpus;
	struct recorder *recorder;
};

static int probe_kernel(struct err *e)
{
	struct privilege p;

	privilege_read(&p);
	if (!p.is_root && !p.may_perfmon)
		return err_set(e, ERR_UNSUPPORTED, "only root may load BPF programs");

	struct system_threads_sink sink = { 0 };
	struct cpus cpus = { 0 };
	struct system_states_settings settings = { .cpus = &cpus,
						   .period_ns = 1000000,
						   .is_trial = true };
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

static void states_free(struct source *source)
{
	struct states_recording *s = (struct states_recording *)source;

	recorder_free(s->recorder);
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

static int make_recorder(struct states_recording *s, struct err *e)
{
	struct recorder_settings settings = {
		.cpus = &s->cpus,
		.plans = s->plan,
		.n_plans = 1,
		.scope = s->context.scope,
		.has_processes = true,
		.has_threads = true,
	};
	int rc = cpus_present(&s->cpus, e);

	return rc < 0 ? rc : states_recorder.open(&settings, &s->recorder, e);
}

static int states_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct states_recording *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &states_source;
	s->context = *c;
	s->plan = find_plan(c);
	rc = make_recorder(s, e);
	if (rc < 0) {
		states_free(&s->base);
		return rc;
	}
	states_recorder.begin(s->recorder, c->writer, s->plan);
	*ret = &s->base;
	return 0;
}

static int states_start(struct source *source, pid_t pid, struct err *e)
{
	struct states_recording *s = (struct states_recording *)source;
	const struct scope *scope = s->context.scope;
	int rc = pid ? states_recorder_follow(s->recorder, pid, true, e) : 0;

	for (size_t i = 0; rc == 0 && !pid && i < scope->n_pids; i++)
		rc = states_recorder_follow(s->recorder, scope->pids[i], false, e);
	return rc < 0 ? rc : states_recorder.start(s->recorder, e);
}

static size_t states_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	return states_recorder.fds(((const struct states_recording *)source)->recorder,
				   fds, max);
}

static int states_drain(struct source *source, bool is_final, struct err *e)
{
	struct states_recording *s = (struct states_recording *)source;

	if (is_final)
		return states_recorder.end(s->recorder, clock_monotonic_ns(), true, e);
	states_recorder.work(s->recorder, clock_monotonic_ns());
	return 0;
}

static void states_sync(struct source *source)
{
	states_recorder.drain(((struct states_recording *)source)->recorder,
			      clock_monotonic_ns());
}

static void states_pause(struct source *source, bool is_paused)
{
	states_recorder.pause(((struct states_recording *)source)->recorder, is_paused);
}

static void states_stop(struct source *source)
{
	states_recorder.stop(((struct states_recording *)source)->recorder);
}

/* The recorder has told rates and losses at its end. */
static void states_finish(struct source *source, struct source_stats *ret)
{
	struct recorder_status st;

	states_recorder.status(((struct states_recording *)source)->recorder, &st);
	ret->samples += st.n_states;
	ret->lost += st.lost;
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
	.sync = states_sync,
	.pause = states_pause,
	.stop = states_stop,
	.finish = states_finish,
	.free = states_free,
};
