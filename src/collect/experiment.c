/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What the kernel lets nobody exceed, unless it is told otherwise. */
#define HZ_MAX 100000

#define EXPERIMENT(name) extern const struct experiment experiment_##name;
#include "collect/experiments.def"
#undef EXPERIMENT

const struct experiment *const experiments[] = {
#define EXPERIMENT(name) &experiment_##name,
#include "collect/experiments.def"
#undef EXPERIMENT
	NULL
};

static const struct experiment *find_exact(const char *name)
{
	for (size_t i = 0; experiments[i]; i++)
		if (!strcmp(experiments[i]->name, name))
			return experiments[i];
	return NULL;
}

static const struct experiment *find_variant(const char *name, uint64_t *interval)
{
	const struct experiment *x = find_exact(name);

	if (x) {
		*interval = x->on;
		return x;
	}
	if (name[0] != 'f' && name[0] != 's')
		return NULL;
	x = find_exact(name + 1);
	if (!x || !x->has_variants)
		return NULL;
	*interval = name[0] == 'f' ? x->hi : x->lo;
	return x;
}

static const char *nearest(const char *name)
{
	const char *best = NULL;
	size_t least = 4;

	for (size_t i = 0; experiments[i]; i++) {
		size_t d = text_distance(name, experiments[i]->name);

		if (d < least) {
			least = d;
			best = experiments[i]->name;
		}
	}
	return best;
}

/* Some are looked for as experiments that nobody has to choose. */
static int refuse_unknown(const char *name, struct err *e)
{
	const char *best = nearest(name);

	if (!strcmp(name, "global"))
		return err_set(e, ERR_USAGE,
			       "'global' need not be chosen: every recording has it, "
			       "and 'dwell global' shows it");
	if (best)
		return err_set(e, ERR_USAGE, "no experiment '%.40s'; did you mean '%s'?",
			       name, best);
	return err_set(e, ERR_USAGE, "no experiment '%.40s'; 'dwell list' shows them all",
		       name);
}

int experiment_find(const char *name, struct experiment_choice *ret, struct err *e)
{
	uint64_t interval;
	const struct experiment *x = find_variant(name, &interval);

	if (!x)
		return refuse_unknown(name, e);
	*ret = (struct experiment_choice){ .experiment = x,
					   .interval = interval,
					   .types = x->types };
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

static int refuse_range(const struct experiment_choice *c, const char *text,
			struct err *e)
{
	char lo[TEXT_MAX], hi[TEXT_MAX];

	if (c->experiment->min == c->experiment->max)
		return err_set(e, ERR_USAGE, "%s takes no interval: it records every one",
			       c->name);
	return err_set(e, ERR_USAGE, "interval '%.40s' of %s is not within %s and %s",
		       text, c->name,
		       text_value(lo, c->experiment->min, c->experiment->unit),
		       text_value(hi, c->experiment->max, c->experiment->unit));
}

static int refuse_text(const struct experiment_choice *c, const char *text, int rc,
		       struct err *e)
{
	char where[EXPERIMENT_NAME_MAX + 16];
	uint64_t v;

	if (strcmp(c->experiment->unit, "ns") != 0 &&
	    text_parse_duration(text, "ms", &v, NULL) == 0)
		return err_set(e, ERR_USAGE,
			       "%s counts events: its interval is a number, not '%.40s'",
			       c->name, text);
	snprintf(where, sizeof(where), "interval of %s", c->name);
	return err_in(e, rc, where);
}

/* "2%", or "2". */
static int parse_share(const char *text, uint64_t *ret, struct err *e)
{
	size_t n = strlen(text);
	char digits[TEXT_MAX];

	snprintf(digits, sizeof(digits), "%.*s",
		 (int)(n && text[n - 1] == '%' ? n - 1 : n), text);
	return text_parse_u64(digits, ret, e);
}

int experiment_set_interval(struct experiment_choice *c, const char *text, struct err *e)
{
	const struct experiment *x = c->experiment;
	const struct {
		const char *name;
		uint64_t interval;
	} named[] = { { "on", x->on }, { "hi", x->hi }, { "lo", x->lo } };
	uint64_t v;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (!strcmp(named[i].name, text)) {
			c->interval = named[i].interval;
			return 0;
		}
	}

	int rc = !strcmp(x->unit, "ns")	 ? text_parse_duration(text, "ms", &v, e)
		 : !strcmp(x->unit, "%") ? parse_share(text, &v, e)
					 : text_parse_u64(text, &v, e);

	if (rc < 0)
		return refuse_text(c, text, rc, e);
	if (v < x->min || v > x->max)
		return refuse_range(c, text, e);
	c->interval = v;
	return 0;
}

/* How often what a counter counts comes is known when it has come. */
static int set_rate(struct experiment_choice *c, uint64_t hz, struct err *e)
{
	if (hz < 1 || hz > HZ_MAX)
		return err_set(e, ERR_USAGE,
			       "frequency %llu of %s is not within 1 and %d",
			       (unsigned long long)hz, c->name, HZ_MAX);
	c->hz = hz;
	c->interval = c->experiment->on;
	return 0;
}

int experiment_set_frequency(struct experiment_choice *c, uint64_t hz, struct err *e)
{
	const struct experiment *x = c->experiment;

	if (strcmp(x->unit, "ns") != 0 && x->counter)
		return set_rate(c, hz, e);
	if (strcmp(x->unit, "ns") != 0)
		return err_set(e, ERR_USAGE,
			       "%s counts events: give it an interval (-i), not a "
			       "frequency",
			       c->name);

	uint64_t v = hz ? 1000000000 / hz : 0;

	if (v < x->min || v > x->max)
		return err_set(e, ERR_USAGE,
			       "frequency %llu of %s is not within 1 and %llu",
			       (unsigned long long)hz, c->name,
			       (unsigned long long)(1000000000 / x->min));
	c->interval = v;
	return 0;
}
