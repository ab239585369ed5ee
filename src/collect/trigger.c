/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/trigger.h"

#include <stdio.h>
#include <string.h>

#include "store/model.h"

extern const struct experiment experiment_trigger;

/* As it is listed; those that are recorded are made of it. */
const struct experiment experiment_trigger = {
	.name = "trigger",
	.summary = "a tracepoint, or the sum of its field: trigger:GROUP:NAME[.FIELD]",
	.trigger = EXPERIMENT_TRIGGER,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
};

static struct trigger made[TRIGGER_MAX];
static struct event_name {
	char text[400];
} event_names[TRIGGER_MAX][3];
static unsigned n_made;

/* What fields of these names measure. */
static const struct {
	const char *field, *unit;
} units[] = {
	{ "bytes", "bytes" }, { "bytes_alloc", "bytes" }, { "bytes_req", "bytes" },
	{ "delay", "ns" },    { "len", "bytes" },	  { "nr_bytes", "bytes" },
	{ "runtime", "ns" },  { "skbaddr_len", "bytes" }, { "size", "bytes" },
};

static const char *unit_of(const char *field)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].field, field) == 0)
			return units[i].unit;
	return "count";
}

static int split(const char *text, struct trigger *t, struct err *e)
{
	size_t n_group = strcspn(text, ":"), n_name;
	const char *name = text + n_group + (text[n_group] == ':');

	n_name = strcspn(name, ".");
	if (!n_group || !n_name || n_group >= sizeof(t->group) ||
	    n_name >= sizeof(t->name) || strlen(name + n_name) > sizeof(t->field))
		return err_set(e, ERR_USAGE,
			       "'%.60s' is no trigger: give one like "
			       "trigger:sched:sched_process_fork or "
			       "trigger:block:block_rq_issue.bytes",
			       text);
	snprintf(t->group, sizeof(t->group), "%.*s", (int)n_group, text);
	snprintf(t->name, sizeof(t->name), "%.*s", (int)n_name, name);
	snprintf(t->field, sizeof(t->field), "%s", name + n_name + (name[n_name] == '.'));
	if (name[n_name] == '.' && !*t->field)
		return err_set(e, ERR_USAGE, "'%.60s' ends where a field is named", text);
	return 0;
}

static void add_event(struct trigger *t, struct event_name *names, unsigned i,
		      const char *unit, const char *text)
{
	t->experiment.events[i] = (struct experiment_event){ .name = names[i].text,
							     .unit = unit,
							     .description = text,
							     .flags = EVENT_EXACT };
	t->experiment.n_events = i + 1;
}

static void make(struct trigger *t, struct event_name *names)
{
	t->experiment = experiment_trigger;
	snprintf(names[TRIGGER_COUNT].text, sizeof(names->text), "%s:%s", t->group,
		 t->name);
	add_event(t, names, TRIGGER_COUNT, "count", "times the tracepoint was met");
	if (!*t->field)
		return;
	snprintf(names[TRIGGER_SUM].text, sizeof(names->text), "%s:%s.%s", t->group,
		 t->name, t->field);
	add_event(t, names, TRIGGER_SUM, unit_of(t->field), "the sum of the field");
	if (!t->place.is_signed)
		return;
	snprintf(names[TRIGGER_NEGATIVE].text, sizeof(names->text), "%s:%s.%s<0",
		 t->group, t->name, t->field);
	add_event(t, names, TRIGGER_NEGATIVE, "count",
		  "times the field was below zero, which is not in its sum");
}

int trigger_parse(const char *text, struct experiment_choice *ret, struct err *e)
{
	struct trigger t = { 0 };
	int rc = split(text, &t, e);

	if (rc == 0 && n_made == TRIGGER_MAX)
		rc = err_set(e, ERR_USAGE, "at most %d triggers", TRIGGER_MAX);
	if (rc == 0)
		rc = tracepoint_check(TRACEPOINT_ROOT, t.group, t.name, e);
	if (rc == 0 && *t.field)
		rc = tracepoint_find_field(TRACEPOINT_ROOT, t.group, t.name, t.field,
					   &t.place, e);
	if (rc < 0)
		return rc;
	made[n_made] = t;
	make(&made[n_made], event_names[n_made]);
	*ret = (struct experiment_choice){ .experiment = &made[n_made++].experiment,
					   .interval = 1 };
	snprintf(ret->name, sizeof(ret->name), "trigger");
	return 0;
}

const struct trigger *trigger_of(const struct experiment *x)
{
	for (unsigned i = 0; i < n_made; i++)
		if (&made[i].experiment == x)
			return &made[i];
	return NULL;
}
