/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/trigger.h"

#include <stdio.h>
#include <string.h>

#include "collect/experiment_exact.h"
#include "host/tracepoint.h"

extern const struct experiment experiment_trigger;

/* As it is listed; those that are recorded are made of it. */
const struct experiment experiment_trigger = {
	.name = "trigger",
	.summary = "a tracepoint, function or probe, and a value: "
		   "trigger:GROUP:NAME[.FIELD]",
	.trigger = EXPERIMENT_TRIGGER,
	EXPERIMENT_EXACT_INTERVALS,
};

static struct trigger made[TRIGGER_MAX];
static struct event_name {
	char text[600];
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

static int refuse(const char *text, struct err *e)
{
	return err_set(e, ERR_USAGE,
		       "'%.60s' is no trigger: give one like "
		       "trigger:sched:sched_process_fork, "
		       "trigger:block:block_rq_issue.bytes, "
		       "trigger:uprobe:/bin/bash:readline or "
		       "trigger:usdt:FILE:PROVIDER:NAME",
		       text);
}

/* Tracepoints. */

static int split_tracepoint(const char *text, struct trigger *t, struct err *e)
{
	size_t n_group = strcspn(text, ":"), n_name;
	const char *name = text + n_group + (text[n_group] == ':');

	n_name = strcspn(name, ".");
	if (!n_group || !n_name || n_group >= sizeof(t->group) ||
	    n_name >= sizeof(t->name) || strlen(name + n_name) > sizeof(t->value))
		return refuse(text, e);
	snprintf(t->group, sizeof(t->group), "%.*s", (int)n_group, text);
	snprintf(t->name, sizeof(t->name), "%.*s", (int)n_name, name);
	snprintf(t->value, sizeof(t->value), "%s", name + n_name + (name[n_name] == '.'));
	if (name[n_name] == '.' && !*t->value)
		return err_set(e, ERR_USAGE, "'%.60s' ends where a field is named", text);
	return 0;
}

static int parse_tracepoint(const char *text, unused trigger_find_fn *find,
			    struct trigger *t, struct err *e)
{
	struct tracepoint_field field = { 0 };
	int rc = split_tracepoint(text, t, e);

	if (rc == 0)
		rc = tracepoint_check(TRACEPOINT_ROOT, t->group, t->name, e);
	if (rc == 0 && *t->value)
		rc = tracepoint_find_field(TRACEPOINT_ROOT, t->group, t->name, t->value,
					   &field, e);
	if (rc < 0 || !*t->value)
		return rc;
	t->told = (struct probe_record_value){ .where = PROBE_RECORD_TOLD,
					       .offset = field.offset,
					       .size = field.size,
					       .is_signed = field.is_signed };
	t->is_signed = field.is_signed;
	return 0;
}

/* Places in code. */

/* ".arg1" or ".return" at the end; else where the text ends. */
static size_t value_at(const char *text)
{
	const char *dot = strrchr(text, '.');

	if (!dot)
		return strlen(text);
	if (strcmp(dot, ".return") == 0)
		return (size_t)(dot - text);
	if (strncmp(dot, ".arg", 4) == 0 && dot[4] &&
	    strspn(dot + 4, "0123456789") == strlen(dot + 4))
		return (size_t)(dot - text);
	return strlen(text);
}

/* FILE:NAME[.VALUE] */
static int split_code(const char *text, struct trigger_wish *w, struct err *e)
{
	size_t n_file = strcspn(text, ":"), n_name;
	const char *name = text + n_file + (text[n_file] == ':');
	const char *value;

	n_name = value_at(name);
	value = name + n_name + (name[n_name] == '.');
	if (!n_file || !n_name || n_file >= sizeof(w->file) ||
	    n_name >= sizeof(w->name) || strlen(value) >= sizeof(w->value))
		return refuse(text, e);
	snprintf(w->file, sizeof(w->file), "%.*s", (int)n_file, text);
	snprintf(w->name, sizeof(w->name), "%.*s", (int)n_name, name);
	snprintf(w->value, sizeof(w->value), "%s", value);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int parse_code(const char *text, trigger_find_fn *find, struct trigger *t,
		      struct err *e)
{
	struct trigger_wish w = { .kind = t->kind };
	const char *what = strchr(text, ':');
	int n, rc = split_code(what ? what + 1 : "", &w, e);

	if (rc == 0 && !find)
		rc = err_set(e, ERR_UNSUPPORTED, "no code can be found here");
	if (rc == 0)
		rc = find(&w, &t->code, e);
	if (rc < 0)
		return rc;
	n = snprintf(t->name, sizeof(t->name), "%s:%s", base_name(w.file), w.name);
	if (n < 0 || (size_t)n >= sizeof(t->name))
		return refuse(text, e);
	snprintf(t->value, sizeof(t->value), "%s", w.value);
	for (size_t i = 0; i < t->code.n_places; i++)
		t->is_signed |= t->code.places[i].value.is_signed != 0;
	return 0;
}

/* What stands before the first colon; of a tracepoint that is its group. */
static const struct {
	const char *name;
	enum trigger_kind kind;
} kinds[] = {
	{ "uprobe", TRIGGER_ENTRY },
	{ "uretprobe", TRIGGER_RETURN },
	{ "usdt", TRIGGER_NOTE },
};

static int parse(const char *text, trigger_find_fn *find, struct trigger *t,
		 struct err *e)
{
	size_t n = strcspn(text, ":");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].name) != n || strncmp(text, kinds[i].name, n) != 0)
			continue;
		t->kind = kinds[i].kind;
		snprintf(t->group, sizeof(t->group), "%s", kinds[i].name);
		return parse_code(text, find, t, e);
	}
	return parse_tracepoint(text, find, t, e);
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
	add_event(t, names, TRIGGER_COUNT, "count", "times it was met");
	if (!*t->value)
		return;
	snprintf(names[TRIGGER_SUM].text, sizeof(names->text), "%s:%s.%s", t->group,
		 t->name, t->value);
	add_event(t, names, TRIGGER_SUM, unit_of(t->value), "the sum of the value");
	if (!t->is_signed)
		return;
	snprintf(names[TRIGGER_NEGATIVE].text, sizeof(names->text), "%s:%s.%s<0",
		 t->group, t->name, t->value);
	add_event(t, names, TRIGGER_NEGATIVE, "count",
		  "times the value was below zero, which is not in its sum");
}

int trigger_parse(const char *text, trigger_find_fn *find, struct experiment_choice *ret,
		  struct err *e)
{
	struct trigger *t = &made[n_made];
	int rc;

	if (n_made == TRIGGER_MAX)
		return err_set(e, ERR_USAGE, "at most %d triggers", TRIGGER_MAX);
	*t = (struct trigger){ .kind = TRIGGER_TRACEPOINT };
	rc = parse(text, find, t, e);
	if (rc < 0)
		return rc;
	make(t, event_names[n_made++]);
	*ret = (struct experiment_choice){ .experiment = &t->experiment, .interval = 1 };
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
