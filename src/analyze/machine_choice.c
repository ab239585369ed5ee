/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/machine_choice.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_CLOCK_MHZ 3000 /* of a recording that does not tell */

static void list_models(unsigned machine, struct err *list)
{
	size_t at = 0;

	for (size_t i = 0; i < machine_model_count() && at < sizeof(list->text); i++)
		if (machine_model_at(i)->machine == machine)
			at += (size_t)snprintf(list->text + at, sizeof(list->text) - at,
					       "%s%s", at ? ", " : "",
					       machine_model_at(i)->name);
}

int machine_choice_model(const struct recording *r, unsigned machine, const char *name,
			 const struct machine_model **ret, struct err *e)
{
	const struct machine_model *m;
	struct err list = { 0 };

	if (!name) {
		*ret = machine_model_of(machine, recording_info(r, "processor"));
		return 0;
	}
	m = machine_model_find(name);
	if (m && m->machine != machine)
		return err_set(e, ERR_USAGE,
			       "machine model '%s' is of other code than the recording's",
			       name);
	if (m) {
		*ret = m;
		return 0;
	}
	list_models(machine, &list);
	return err_set(e, ERR_USAGE, "no machine model '%.60s': there are %s", name,
		       list.text);
}

bool machine_choice_is_nearest(const struct recording *r, const struct machine_model *m)
{
	return machine_model_is_nearest(m, recording_info(r, "processor"));
}

double machine_choice_clock_ghz(const struct recording *r, double ghz)
{
	const char *recorded = recording_info(r, "clock-mhz");
	double mhz = ghz * 1000;

	if (mhz <= 0 && recorded)
		mhz = strtod(recorded, NULL);
	if (!(mhz > 0))
		mhz = DEFAULT_CLOCK_MHZ;
	return mhz / 1000;
}
