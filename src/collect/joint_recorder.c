/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* Each source takes its own plans, all into the same recording. */
#define PARTS_MAX 4

struct part {
	struct recorder *recorder;
	const struct recorder_ops *ops;
	struct plan plans[SYSTEM_EVENTS_MAX];
	size_t n_plans;
};

struct joint {
	struct recorder base;
	struct part parts[PARTS_MAX];
	size_t n_parts;
	struct buf removed; /* what parts could not go on with */
};

static struct part *part_of(struct joint *j, const struct source_ops *source)
{
	for (size_t i = 0; i < j->n_parts; i++)
		if (j->parts[i].ops->source == source)
			return &j->parts[i];
	return NULL;
}

static void joint_free(struct recorder *r)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		recorder_free(j->parts[i].recorder);
	buf_fini(&j->removed);
	free(j);
}

/* The plans in their order, by who takes them. */
static void share_plans(struct joint *j, const struct plan *plans, size_t n)
{
	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].n_plans = 0;
	for (size_t i = 0; i < n; i++) {
		struct part *p = part_of(j, plans[i].source);

		if (!p) {
			p = &j->parts[j->n_parts++];
			p->ops = recorder_of(plans[i].source);
		}
		p->plans[p->n_plans++] = plans[i];
	}
}

static size_t n_plans(const struct joint *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_parts; i++)
		n += j->parts[i].n_plans;
	return n;
}

static void note_removed(struct joint *j, const struct part *p)
{
	struct recorder_status st;

	p->ops->status(p->recorder, &st);
	if (st.removed && *st.removed)
		buf_printf(&j->removed, "%s%s", j->removed.size ? "; " : "", st.removed);
}

static int joint_open(const struct recorder_settings *x, struct recorder **ret,
		      struct err *e)
{
	struct joint *j = xcalloc(1, sizeof(*j));
	int rc = 0;

	j->base.ops = &joint_recorder;
	share_plans(j, x->plans, x->n_plans);
	for (size_t i = 0; rc == 0 && i < j->n_parts; i++) {
		struct recorder_settings own = *x;

		own.plans = j->parts[i].plans;
		own.n_plans = j->parts[i].n_plans;
		rc = j->parts[i].ops->open(&own, &j->parts[i].recorder, e);
		if (rc == 0)
			note_removed(j, &j->parts[i]);
	}
	if (rc < 0)
		joint_free(&j->base);
	else
		*ret = &j->base;
	return rc;
}

static void joint_begin(struct recorder *r, struct writer *w, const struct plan *plans)
{
	struct joint *j = (struct joint *)r;

	share_plans(j, plans, n_plans(j));
	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].ops->begin(j->parts[i].recorder, w, j->parts[i].plans);
}

/* Who goes on reads all of what they wrote, and takes the last. */
static void joint_keep(struct recorder *r, uint64_t recording, bool is_behind)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		if (j->parts[i].ops->keep)
			j->parts[i].ops->keep(j->parts[i].recorder, recording, is_behind);
}

static void add_left(struct recorder_left *sum, const struct recorder_left *more)
{
	if (!sum->since_ns || more->since_ns < sum->since_ns)
		sum->since_ns = more->since_ns;
	if (more->gap_ns > sum->gap_ns)
		sum->gap_ns = more->gap_ns;
	sum->samples += more->samples;
	sum->lost += more->lost;
	sum->has_ended |= more->has_ended;
	sum->is_summed |= more->is_summed;
}

static bool joint_left(const struct recorder *r, struct recorder_left *ret)
{
	const struct joint *j = (const struct joint *)r;
	struct recorder_left one;
	bool has_left = false;

	*ret = (struct recorder_left){ 0 };
	for (size_t i = 0; i < j->n_parts; i++) {
		const struct part *p = &j->parts[i];

		if (!p->ops->left || !p->ops->left(p->recorder, &one))
			continue;
		add_left(ret, &one);
		has_left = true;
	}
	return has_left;
}

static int joint_start(struct recorder *r, struct err *e)
{
	struct joint *j = (struct joint *)r;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_parts; i++)
		rc = j->parts[i].ops->start(j->parts[i].recorder, e);
	return rc;
}

static size_t joint_fds(const struct recorder *r, struct pollfd *fds, size_t max)
{
	const struct joint *j = (const struct joint *)r;
	size_t n = 0;

	for (size_t i = 0; i < j->n_parts; i++)
		n += j->parts[i].ops->fds(j->parts[i].recorder, fds + n, max - n);
	return n;
}

static void joint_work(struct recorder *r, uint64_t now_ns)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].ops->work(j->parts[i].recorder, now_ns);
}

static void joint_drain(struct recorder *r, uint64_t now_ns)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].ops->drain(j->parts[i].recorder, now_ns);
}

static void joint_pause(struct recorder *r, bool is_paused)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].ops->pause(j->parts[i].recorder, is_paused);
}

static void joint_stop(struct recorder *r)
{
	struct joint *j = (struct joint *)r;

	for (size_t i = 0; i < j->n_parts; i++)
		j->parts[i].ops->stop(j->parts[i].recorder);
}

/* All of them end; the first failure is told. */
static int joint_end(struct recorder *r, uint64_t now_ns, bool has_symbols, struct err *e)
{
	struct joint *j = (struct joint *)r;
	struct err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < j->n_parts; i++) {
		const struct part *p = &j->parts[i];
		int rc2 = p->ops->end(p->recorder, now_ns, has_symbols, &why);

		if (rc2 < 0 && rc == 0 && e)
			*e = why;
		rc = rc < 0 ? rc : rc2;
	}
	return rc;
}

static void add_counted(struct recorder_counted *sum, const struct recorder_counted *more)
{
	const uint64_t *from = (const uint64_t *)&more->kernel;
	uint64_t *to = (uint64_t *)&sum->kernel;

	for (size_t i = 0; i < sizeof(sum->kernel) / sizeof(*to); i++)
		to[i] += from[i];
	if (system_late_within_ns(more->late.steps, 1000)) /* one measures it */
		sum->late = more->late;
	sum->n_images += more->n_images;
	sum->n_gone += more->n_gone;
	sum->n_unnumbered += more->n_unnumbered;
	sum->n_again += more->n_again;
}

/* One of them has all that there are. */
static void add_triggers(struct recorder_status *sum, const struct recorder_status *more)
{
	for (size_t i = 0; i < more->n_triggers; i++) {
		sum->triggers[i] = more->triggers[i];
		sum->n_met[i] = more->n_met[i];
	}
	sum->n_triggers += more->n_triggers;
}

static void add_status(struct recorder_status *sum, const struct recorder_status *more)
{
	sum->samples += more->samples;
	sum->stored += more->stored;
	sum->lost += more->lost;
	for (size_t i = 0; i < UNWIND_N_STOPS; i++)
		sum->stops[i] += more->stops[i];
	if (more->longest_gap_ns > sum->longest_gap_ns)
		sum->longest_gap_ns = more->longest_gap_ns;
	sum->kernel_bytes += more->kernel_bytes;
	if (!sum->unkept)
		sum->unkept = more->unkept;
	sum->n_states += more->n_states;
	sum->has_calls |= more->has_calls;
	sum->n_calls += more->n_calls;
	sum->n_waits += more->n_waits;
	add_triggers(sum, more);
	sum->is_counted |= more->is_counted;
	if (more->is_counted)
		add_counted(&sum->counted, &more->counted);
}

static void joint_status(const struct recorder *r, struct recorder_status *ret)
{
	const struct joint *j = (const struct joint *)r;
	struct recorder_status one;

	*ret = (struct recorder_status){ 0 };
	for (size_t i = 0; i < j->n_parts; i++) {
		j->parts[i].ops->status(j->parts[i].recorder, &one);
		add_status(ret, &one);
	}
	ret->removed = buf_str((struct buf *)&j->removed);
}

const struct recorder_ops joint_recorder = {
	.open = joint_open,
	.begin = joint_begin,
	.keep = joint_keep,
	.left = joint_left,
	.start = joint_start,
	.fds = joint_fds,
	.work = joint_work,
	.drain = joint_drain,
	.pause = joint_pause,
	.stop = joint_stop,
	.end = joint_end,
	.status = joint_status,
	.free = joint_free,
};
