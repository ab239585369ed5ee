/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_choose.h"

#include <stdio.h>
#include <string.h>

#include "collect/session_checks.h"
#include "collect/timer_probe.h"

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

int session_choose(const struct session_settings *settings, const struct scope *scope,
		   struct plan *p, struct session_told *told, struct err *e)
{
	int rc = choose_source(settings, scope, p, told, e);

	if (rc == 0)
		choose_beside(settings, scope, p, told);
	return rc;
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
