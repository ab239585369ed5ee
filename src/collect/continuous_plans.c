/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/continuous_plans.h"

#include <stdio.h>
#include <string.h>

#include "collect/continuous.h"
#include "collect/session_checks.h"
#include "collect/system_event.h"

static const struct recorder_ops *beside(const struct plan *p)
{
	return recorder_beside(p->choice.experiment);
}

static bool is_clock(const struct plan *p)
{
	return strcmp(p->choice.experiment->unit, "ns") == 0 && !beside(p);
}

uint64_t continuous_plans_clock_ns(const struct continuous_plans *p)
{
	const struct plan *sampled = NULL;

	for (size_t i = 0; i < p->n; i++) {
		if (beside(&p->all[i]))
			continue;
		if (sampled || !is_clock(&p->all[i]))
			return 0;
		sampled = &p->all[i];
	}
	return sampled ? sampled->choice.interval : 0;
}

bool continuous_plans_has_rates(const struct continuous_plans *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->all[i].choice.hz)
			return true;
	return false;
}

bool continuous_plans_have(const struct continuous_plans *p,
			   const struct recorder_ops *recorder)
{
	for (size_t i = 0; i < p->n; i++)
		if (recorder_of(p->all[i].source) == recorder)
			return true;
	return false;
}

bool continuous_plans_can_keep(const struct continuous_plans *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!recorder_of(p->all[i].source)->kept)
			return false;
	return true;
}

/* What is recorded, each as if it had been asked for alone. */
static int choose_events(struct continuous_plans *p, const struct continuous_settings *x,
			 struct err *e)
{
	p->n = x->n_events ? x->n_events : 1;
	for (size_t i = 0; i < x->n_events; i++)
		p->all[i].choice = x->events[i];
	if (x->n_events)
		return 0;
	return experiment_find(x->is_flat ? "pcsamp" : "usertime", &p->all[0].choice, e);
}

/* Which way branches go is told by what interrupts code anywhere. */
static int want_directions(struct continuous_plans *p, struct err *e)
{
	bool has_any = false;

	for (size_t i = 0; i < p->n; i++) {
		p->all[i].insn = session_checks_interrupts(p->all[i].choice.experiment);
		has_any |= p->all[i].insn;
	}
	return has_any ? 0
		       : err_set(e, ERR_USAGE,
				 "--insn is about samples of CPU time or of a counter, "
				 "which %s has not",
				 p->all[0].choice.name);
}

/* What this machine does not have nobody can sample. */
static int check_counters(const struct continuous_plans *p, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->n; i++)
		if (p->all[i].choice.experiment->counter)
			rc = system_event_check(p->all[i].choice.experiment->counter, e);
	return rc;
}

/* The clock's period, where none was asked for, is the recorder's. */
static void set_periods(struct continuous_plans *p, const struct continuous_settings *x)
{
	uint64_t period_ns = x->period_ns ? x->period_ns : 1000000000 / p->recording->hz;

	for (size_t i = 0; i < p->n; i++) {
		struct experiment_choice *choice = &p->all[i].choice;

		if (beside(&p->all[i]))
			continue;
		p->all[i].source = p->recording->source;
		if (!x->n_events || !choice->interval)
			choice->interval = period_ns;
	}
}

/* What has a recorder of its own, beside what samples. */
static void set_beside(struct continuous_plans *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (beside(&p->all[i]))
			p->all[i].source = beside(&p->all[i])->source;
}

static const char *how_of(const struct plan *p)
{
	return p->source->how(p->choice.experiment, 0);
}

static size_t n_sampled(const struct continuous_plans *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += !beside(&p->all[i]);
	return n;
}

/* "cpu-clock …; switches of threads …" */
static void describe(struct continuous_plans *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n && n < sizeof(p->how); i++) {
		const struct plan *one = &p->all[i];
		size_t k = 0;

		while (strcmp(how_of(&p->all[k]), how_of(one)) != 0)
			k++;
		if (k == i) /* the first of its kind */
			n += (size_t)snprintf(p->how + n, sizeof(p->how) - n, "%s%s",
					      n ? "; " : "", how_of(one));
	}
}

/* What samples: what counts in the kernel, else what can be had. */
static int choose_sampler(struct continuous_plans *p, uint32_t n_at_once, struct err *e)
{
	if (p->is_assumed) {
		p->recording = &system_recorder;
		return 0;
	}
	p->recording = recorder_choose(p->all, p->n, &p->refusal, e);
	if (!p->recording)
		return ERR_UNSUPPORTED;
	if (p->recording == &perf_recorder && n_at_once && n_at_once < n_sampled(p))
		return err_set(e, ERR_UNSUPPORTED,
			       "events take turns only where they are counted in the "
			       "kernel: without --multiplex all are on (%.300s)",
			       p->refusal.text);
	if (p->refusal.text[0])
		snprintf(p->notice, sizeof(p->notice),
			 "not counted in the kernel (%.200s): %s samples, and stacks are "
			 "walked in user space, at a higher cost",
			 p->refusal.text, p->recording->source->name);
	return 0;
}

static int choose_recorder(struct continuous_plans *p,
			   const struct continuous_settings *x, struct err *e)
{
	bool has_sampled = n_sampled(p) > 0;
	int rc = check_counters(p, e);

	p->is_assumed &= n_sampled(p) == p->n && !x->insn;
	set_beside(p);
	if (rc == 0 && has_sampled)
		rc = choose_sampler(p, x->n_at_once, e);
	if (rc < 0)
		return rc;
	if (has_sampled)
		set_periods(p, x);
	else
		p->recording = beside(&p->all[0]);
	describe(p);
	for (size_t i = 0; i < p->n; i++)
		if (p->all[i].source != p->all[0].source)
			p->recording = &joint_recorder;
	return 0;
}

int continuous_plans_make(const struct continuous_settings *settings, bool is_assumed,
			  struct continuous_plans *ret, struct err *e)
{
	int rc;

	*ret = (struct continuous_plans){ .is_assumed = is_assumed };
	rc = choose_events(ret, settings, e);
	if (rc == 0 && settings->insn)
		rc = want_directions(ret, e);
	return rc < 0 ? rc : choose_recorder(ret, settings, e);
}

int continuous_plans_try(const struct continuous_plans *p, struct err *e)
{
	const struct recorder_ops *best;
	struct err why;

	best = recorder_choose(p->all, p->n, &why, e);
	if (best && best != p->recording)
		return err_set(e, ERR_UNSUPPORTED, "%s", why.text);
	return best ? 0 : ERR_UNSUPPORTED;
}
