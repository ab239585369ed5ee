/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder_source.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/clock.h"
#include "host/procfs.h"

static const struct recorder_ops *ops_of(const struct recorder_source *s)
{
	return s->recorder->ops;
}

static void take_plans(struct recorder_source *s, const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (source_feeds(s->base.ops, &c->plans[i]))
			s->plans[s->n_plans++] = c->plans[i];
}

static int take_cpus(struct recorder_source *s, struct err *e)
{
	if (!s->scope->n_cpus)
		return cpus_present(&s->cpus, e);
	for (size_t i = 0; i < s->scope->n_cpus; i++)
		*vec_push(&s->cpus.ids) = s->scope->cpus[i];
	return 0;
}

static int make_recorder(struct recorder_source *s, const struct recorder_ops *ops,
			 const struct source_context *c, struct err *e)
{
	struct recorder_settings settings = {
		.cpus = &s->cpus,
		.plans = s->plans,
		.n_plans = s->n_plans,
		.scope = s->scope,
		.is_flat =
			s->plans[0].choice.experiment->is_pc_only || s->plans[0].is_flat,
		.apart = source_apart(s->scope),
		.classes = c->classes,
		.cookie = c->cookie,
	};
	int rc = take_cpus(s, e);

	return rc < 0 ? rc : ops->open(&settings, &s->recorder, e);
}

int recorder_source_open(const struct recorder_ops *ops, const struct source_context *c,
			 struct source **ret, struct err *e)
{
	struct recorder_source *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = ops->source;
	s->scope = c->scope;
	take_plans(s, c);
	rc = make_recorder(s, ops, c, e);
	if (rc < 0) {
		recorder_source_free(&s->base);
		return rc;
	}
	ops->begin(s->recorder, c->writer, s->plans);
	*ret = &s->base;
	return 0;
}

/* Those that run already, but for this one, if it is a shell's.  What they make from now
 * on is followed with them. */
static int follow_descendants(struct recorder_source *s, pid_t root, struct err *e)
{
	struct procfs_ids below = { 0 };
	int rc = procfs_descendants(root, &below, e);

	for (size_t i = 0; rc == 0 && i < below.ids.n; i++)
		if (below.ids.at[i] != getpid())
			rc = ops_of(s)->follow(s->recorder, below.ids.at[i], false, e);
	procfs_ids_fini(&below);
	return rc;
}

static int follow_running(struct recorder_source *s, struct err *e)
{
	const struct scope *x = s->scope;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_pids; i++) {
		rc = ops_of(s)->follow(s->recorder, x->pids[i], false, e);
		if (rc == 0 && x->kind == SCOPE_PROCESSES && x->follow_children)
			rc = follow_descendants(s, x->pids[i], e);
	}
	return rc;
}

static int follow(struct recorder_source *s, pid_t pid, struct err *e)
{
	return pid ? ops_of(s)->follow(s->recorder, pid, true, e) : follow_running(s, e);
}

int recorder_source_start(struct source *source, pid_t pid, struct err *e)
{
	struct recorder_source *s = (struct recorder_source *)source;
	int rc = ops_of(s)->follow ? follow(s, pid, e) : 0;

	return rc < 0 ? rc : ops_of(s)->start(s->recorder, e);
}

size_t recorder_source_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct recorder_source *s = (const struct recorder_source *)source;

	return ops_of(s)->fds(s->recorder, fds, max);
}

int recorder_source_drain(struct source *source, bool is_final, struct err *e)
{
	struct recorder_source *s = (struct recorder_source *)source;

	if (is_final)
		return ops_of(s)->end(s->recorder, clock_monotonic_ns(), true, e);
	ops_of(s)->work(s->recorder, clock_monotonic_ns());
	return 0;
}

void recorder_source_sync(struct source *source)
{
	struct recorder_source *s = (struct recorder_source *)source;

	ops_of(s)->drain(s->recorder, clock_monotonic_ns());
}

void recorder_source_pause(struct source *source, bool is_paused)
{
	struct recorder_source *s = (struct recorder_source *)source;

	ops_of(s)->pause(s->recorder, is_paused);
}

void recorder_source_stop(struct source *source)
{
	struct recorder_source *s = (struct recorder_source *)source;

	ops_of(s)->stop(s->recorder);
}

void recorder_source_status(const struct source *source, struct recorder_status *ret)
{
	const struct recorder_source *s = (const struct recorder_source *)source;

	ops_of(s)->status(s->recorder, ret);
}

void recorder_source_finish(struct source *source, struct source_stats *ret)
{
	struct recorder_status st;

	recorder_source_status(source, &st);
	ret->samples += st.n_states + st.n_calls + st.n_waits;
	for (size_t i = 0; i < st.n_triggers; i++)
		ret->samples += st.n_met[i];
	ret->lost += st.lost;
	for (size_t i = 0; i < UNWIND_N_STOPS; i++)
		ret->stops[i] += st.stops[i];
}

void recorder_source_every(unused const struct experiment *x, uint64_t *ret_min,
			   uint64_t *ret_resolution)
{
	*ret_min = 1;
	*ret_resolution = 1;
}

void recorder_source_free(struct source *source)
{
	struct recorder_source *s = (struct recorder_source *)source;

	recorder_free(s->recorder);
	cpus_fini(&s->cpus);
	free(s);
}
