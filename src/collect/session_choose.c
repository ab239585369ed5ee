/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_choose.h"

#include <stdio.h>
#include <string.h>

#include "collect/session_checks.h"
#include "collect/timer_probe.h"
#include "collect/tracer_visits.h"
#include "collect/tracing.h"

/* The kernel refused the source, as why says: another one that does the same. */
static bool take_instead(const struct scope *scope, struct plan *p,
			 struct session_told *told, const struct err *why)
{
	const char *name = p->source->instead;
	const struct source_ops *other = name ? source_find(name) : NULL;

	if (!other || !why || other->probe(p->choice.experiment, scope, NULL) < 0)
		return false;
	snprintf(told->notice, sizeof(told->notice),
		 "source %s is refused (%.300s): %s does the same at a higher cost",
		 p->source->name, why->text, name);
	p->source = other;
	return true;
}

/* Of several that feed it, it can be of either alone. */
static bool is_of(const struct experiment *x, const char *source)
{
	return x->beside && source &&
	       (strcmp(source, x->only_source) == 0 || strcmp(source, x->beside) == 0);
}

static bool is_of_any(const struct session_settings *settings)
{
	for (size_t i = 0; i < settings->n_choices; i++)
		if (is_of(settings->choices[i].experiment, settings->source))
			return true;
	return false;
}

/* Only samples of perf carry registers to us.  What was asked for is meant for those that
 * have a choice, unless there are none; and for one that has it of that and another. */
static const char *wanted_source(const struct session_settings *settings,
				 const struct experiment *x)
{
	if (is_of(x, settings->source))
		return settings->source;
	if (x->only_source && settings->n_choices > 1)
		return x->beside ? NULL : x->only_source;
	if (is_of_any(settings))
		return NULL;
	return settings->insn && session_checks_interrupts(x) ? "perf" : settings->source;
}

static int choose_source(const struct session_settings *settings,
			 const struct scope *scope, struct plan *p,
			 struct session_told *told, struct err *e)
{
	const struct experiment *x = p->choice.experiment;
	const char *name = wanted_source(settings, x);

	if (!name) {
		p->source = source_choose(x, scope, e);
		return p->source ? 0 : ERR_UNSUPPORTED;
	}
	p->source = source_find(name);
	if (!p->source)
		return err_set(e, ERR_USAGE, "there is no source '%.40s'", name);
	if (x->only_source && strcmp(name, x->only_source) != 0 &&
	    (!x->beside || strcmp(name, x->beside) != 0))
		return err_set(e, ERR_UNSUPPORTED, "%s is fed by source %s only", x->name,
			       x->only_source);

	int rc = p->source->probe(x, scope, e);

	if (rc == ERR_OS && take_instead(scope, p, told, e))
		return 0;
	return rc < 0 ? err_in(e, rc, x->name) : 0;
}

/* What was asked for by the name of a source is to be of that alone. */
static void choose_beside(const struct session_settings *settings,
			  const struct scope *scope, struct plan *p,
			  struct session_told *told)
{
	struct err why = { 0 };

	if (!p->choice.experiment->beside ||
	    wanted_source(settings, p->choice.experiment))
		return;
	p->beside = source_beside(p->choice.experiment, p->source, scope, &why);
	if (why.code)
		snprintf(told->unseen, sizeof(told->unseen), "%s", why.text);
}

/* Some are asked by way of what will be gone on with: it is to be what p wants. */
static int choose_sources(const struct session_settings *settings,
			  const struct scope *scope, struct plan *p,
			  struct session_told *told, struct err *e)
{
	struct scope asked = *scope;
	int rc;

	asked.wanted = p;
	rc = choose_source(settings, &asked, p, told, e);
	if (rc == 0)
		choose_beside(settings, &asked, p, told);
	return rc;
}

static struct plan plan_of(const struct session_settings *settings,
			   const struct experiment_choice *choice)
{
	return (struct plan){
		.choice = *choice,
		.trace = settings->trace,
		.sample_bytes = settings->sample_bytes,
		.insn = settings->insn,
		.is_flat =
			settings->is_flat && choice->experiment->trigger == EXPERIMENT_IO,
		.wait_threshold_ns = settings->wait_threshold_ns,
		.callstack_ns = settings->callstack_ns,
	};
}

/* Would wrappers observe it, and can the program have none? */
static bool is_barred(const struct scope *scope, const struct experiment *x,
		      struct err *why)
{
	if (!tracing_of(x))
		return false;
	if (scope->kind == SCOPE_PROCESSES)
		return tracer_visits_probe(scope, tracing_of(x)->trace, why) < 0;
	return scope->kind == SCOPE_LAUNCH &&
	       timer_probe_program(scope->program, "", why) < 0;
}

static void note_unrecorded(struct session_told *told, const char *between,
			    const char *text)
{
	size_t n = strlen(told->unrecorded);

	snprintf(told->unrecorded + n, sizeof(told->unrecorded) - n, "%s%s",
		 n ? between : "", text);
}

static int tell(const struct err *why, struct err *e)
{
	if (e && why->code)
		*e = *why;
	return why->code;
}

int session_choose(struct session_settings *settings, const struct scope *scope,
		   struct plan *plans, struct session_told *told, struct err *e)
{
	struct err first = { 0 }, bar = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < settings->n_choices; i++) {
		const struct experiment_choice c = settings->choices[i];
		struct err why = { 0 };

		plans[n] = plan_of(settings, &c);
		if (choose_sources(settings, scope, &plans[n], told, &why) == 0) {
			settings->choices[n++] = c;
			tell(&why, e); /* of the best source, if it is another */
			continue;
		}
		if (c.is_supposed)
			continue;
		if (!is_barred(scope, c.experiment, &bar))
			return tell(&why, e);
		if (!first.code)
			first = why;
		note_unrecorded(told, ", ", c.name);
	}
	if (first.code && !n)
		return tell(&first, e);
	settings->n_choices = n;
	if (first.code)
		note_unrecorded(told, ": ", bar.text);
	return 0;
}

/* It hears them anyway, or counts exactly what is executed. */
static bool keeps_alone(const struct plan *p)
{
	return !strcmp(p->source->name, "tracer") || !strcmp(p->source->name, "count");
}

void session_choose_hearing(const struct session_settings *settings,
			    const struct scope *scope, struct plan *plans)
{
	if (scope->kind != SCOPE_LAUNCH || settings->source || !settings->n_choices ||
	    plans[0].beside || !timer_probe_marks(scope->program))
		return;
	for (size_t i = 0; i < settings->n_choices; i++)
		if (keeps_alone(&plans[i]))
			return;
	plans[0].beside = source_find("tracer");
}

bool session_choose_observes_all(const struct session_settings *settings,
				 const struct plan *plans, const struct source_ops *ops)
{
	bool is_exact = false;

	for (size_t i = 0; i < settings->n_choices; i++)
		if (plans[i].source == ops || plans[i].beside == ops)
			is_exact |=
				plans[i].choice.experiment->events[0].flags & EVENT_EXACT;
	return is_exact;
}
