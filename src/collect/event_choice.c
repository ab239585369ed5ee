/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/event_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "collect/counter_experiment.h"
#include "collect/counter_text.h"
#include "collect/recorder.h"
#include "collect/trigger.h"

/* "NAME", "NAME:INTERVAL", "NAME@HZ". */
struct parts {
	char name[COUNTER_TEXT_MAX];
	char sign; /* 0: neither */
	const char *rate;
};

static int split(const char *text, struct parts *ret, struct err *e)
{
	size_t n = counter_text_length(text);

	if (n >= sizeof(ret->name) || (text[n] && text[n] != ':' && text[n] != '@'))
		return err_set(e, ERR_USAGE, "there is no event '%.60s'", text);
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)n, text);
	ret->sign = text[n];
	ret->rate = text + n + (text[n] != '\0');
	return 0;
}

static int set_rate(const struct parts *p, struct experiment_choice *c, struct err *e)
{
	uint64_t hz;
	int rc;

	if (!p->sign)
		return 0;
	if (p->sign == ':')
		return experiment_set_interval(c, p->rate, e);
	rc = text_parse_u64(p->rate, &hz, e);
	if (rc < 0)
		return err_in(e, rc, c->name);
	if (strcmp(c->experiment->unit, "ns") != 0 && !c->experiment->counter)
		return err_set(e, ERR_USAGE,
			       "%s does not measure time: say of how many one is a "
			       "sample, like %s:%llu",
			       c->name, c->name, (unsigned long long)c->experiment->on);
	return experiment_set_frequency(c, hz, e);
}

/* "sched:sched_switch": which the kernel counts in another way. */
static bool is_tracepoint(const struct parts *p, const struct err *why)
{
	return p->sign == ':' && why->code == ERR_USAGE && *p->rate &&
	       strspn(p->rate, "0123456789") == 0;
}

/* "trigger:WHAT" */
static bool is_trigger(const char *text, const char **ret_what)
{
	static const char name[] = "trigger";
	const size_t n = sizeof(name) - 1;

	if (strncmp(text, name, n) != 0 || (text[n] && text[n] != ':'))
		return false;
	*ret_what = text + n + (text[n] == ':');
	return true;
}

/* What is recorded of all threads, whatever CPUs count beside. */
static bool is_beside(const struct parts *p, struct experiment_choice *ret)
{
	return experiment_find(p->name, ret, NULL) == 0 &&
	       recorder_beside(ret->experiment);
}

static int refuse_pc_only(const struct experiment_choice *c, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "%s: told with stacks or not at all", c->name);
}

static int choose_beside(const struct parts *p, uint64_t period_ns,
			 struct experiment_choice *c, struct err *e)
{
	if (period_ns && strcmp(c->experiment->unit, "ns") == 0)
		c->interval = period_ns;
	return set_rate(p, c, e);
}

static int choose_counter(const char *text, const struct parts *p, uint64_t period_ns,
			  bool is_pc_only, struct experiment_choice *ret, struct err *e)
{
	const struct counter *counter;
	struct err why = { 0 };

	/* As the column of the CPU's clock is called. */
	counter = counter_text_find(
		strcmp(p->name, "cpu-time") == 0 ? "cpu-clock" : p->name, &why);
	if (!counter && is_tracepoint(p, &why))
		return err_set(e, ERR_USAGE,
			       "'%.60s' is no counter: tracepoints are not sampled; did "
			       "you mean 'trigger:%.100s'?",
			       text, text);
	if (!counter)
		return err_set(e, why.code, "%s", why.text);
	*ret = (struct experiment_choice){ .experiment = counter_experiment(counter,
									    is_pc_only) };
	ret->interval = counter_is_clock(counter) ? period_ns : ret->experiment->on;
	snprintf(ret->name, sizeof(ret->name), "%s", ret->experiment->name);
	return set_rate(p, ret, e);
}

int event_choice_parse(const char *text, uint64_t period_ns, bool is_pc_only,
		       trigger_find_fn *find, struct experiment_choice *ret,
		       struct err *e)
{
	struct parts p;
	const char *what;
	int rc;

	if (is_trigger(text, &what)) {
		rc = trigger_parse(what, find, ret, e);
		return rc == 0 && is_pc_only ? refuse_pc_only(ret, e) : rc;
	}
	rc = split(text, &p, e);
	if (rc < 0)
		return rc;
	if (!is_beside(&p, ret))
		return choose_counter(text, &p, period_ns, is_pc_only, ret, e);
	return is_pc_only ? refuse_pc_only(ret, e) : choose_beside(&p, period_ns, ret, e);
}

/* "NAME:WHAT" of an experiment that is told more than an interval. */
static bool is_chosen_more(const char *text, struct experiment_choice *ret,
			   const char **ret_what)
{
	size_t n = strcspn(text, ":");
	char name[EXPERIMENT_NAME_MAX];

	if (!text[n] || n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	*ret_what = text + n + 1;
	return experiment_find(name, ret, NULL) == 0 && ret->experiment->choose;
}

int event_choice_parse_any(const char *text, trigger_find_fn *find,
			   struct experiment_choice *ret, bool *ret_has_interval,
			   struct err *e)
{
	const struct counter *counter;
	const char *what;
	struct parts p;
	bool is_counter;
	int rc;

	*ret_has_interval = true;
	if (is_trigger(text, &what))
		return trigger_parse(what, find, ret, e);
	if (is_chosen_more(text, ret, &what))
		return ret->experiment->choose(what, ret, e);
	rc = split(text, &p, e);
	if (rc < 0)
		return rc;
	*ret_has_interval = p.sign != 0;
	rc = experiment_find(p.name, ret, e);
	/* Whoever says more than a name means a counter. */
	is_counter = rc < 0 && (strpbrk(p.name, ":/") || counter_text_find(p.name, NULL));
	counter = is_counter ? counter_text_find(p.name, e) : NULL;
	if (counter) {
		rc = 0;
		*ret = (struct experiment_choice){ .experiment = counter_experiment(
							   counter, false) };
		ret->interval = ret->experiment->on;
		snprintf(ret->name, sizeof(ret->name), "%s", ret->experiment->name);
	}
	if (rc < 0 && is_tracepoint(&p, &(struct err){ .code = ERR_USAGE }))
		return err_set(e, ERR_USAGE,
			       "no experiment '%.40s'; did you mean 'trigger:%.100s'?",
			       p.name, text);
	return rc < 0 ? rc : set_rate(&p, ret, e);
}
