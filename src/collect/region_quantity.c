/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_quantity.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "collect/counter_text.h"

#define PREFIX "regions:"

extern const struct experiment experiment_regions;

/* Lives for ever: one is asked for at a time. */
static const struct experiment *make(const struct counter *counter)
{
	struct experiment *x = xmemdup(&experiment_regions, sizeof(*x));
	struct experiment_event *passed = &x->events[EXPERIMENT_REGIONS_TIME];

	x->counter = counter;
	passed->name =
		counter ? xasprintf("region-%s", counter->name) : "region-cpu-time";
	passed->unit = counter ? counter->unit : "ns";
	passed->description =
		counter ? counter->description : "CPU time in marked blocks";
	return x;
}

/* What would take more words than programs are told. */
static bool is_simple(const struct counter *c)
{
	return !c->config1 && !c->config2 && !c->not_user;
}

int region_quantity_find(const char *what, struct experiment_choice *ret, struct err *e)
{
	const struct counter *counter = NULL;
	const struct experiment *x = &experiment_regions;

	if (strcmp(what, "cpu") == 0) {
		x = make(NULL);
	} else if (strcmp(what, "time") != 0) {
		counter = counter_text_find(what, e);
		if (!counter)
			return ERR_USAGE;
		if (!is_simple(counter))
			return err_set(e, ERR_UNSUPPORTED,
				       "'%.60s' cannot be counted from inside a program",
				       what);
		x = make(counter);
	}
	*ret = (struct experiment_choice){ .experiment = x, .interval = x->on };
	snprintf(ret->name, sizeof(ret->name), PREFIX "%s", what);
	return 0;
}

bool region_quantity_is_time(const struct experiment *x)
{
	return x->events[EXPERIMENT_REGIONS_TIME].name ==
	       experiment_regions.events[EXPERIMENT_REGIONS_TIME].name;
}

void region_quantity_tell(const struct experiment *x, struct wire_regions_control *ret)
{
	if (x->counter) {
		ret->quantity = WIRE_REGIONS_EVENTS;
		ret->event_type = x->counter->type;
		ret->event_config = x->counter->config;
		ret->is_user_only = counter_is_user_only() || x->counter->not_kernel;
	} else {
		ret->quantity =
			region_quantity_is_time(x) ? WIRE_REGIONS_TIME : WIRE_REGIONS_CPU;
	}
}
