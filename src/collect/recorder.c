/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

/* In order of preference. */
static const struct recorder_ops *const recorders[] = { &system_recorder,
							&perf_recorder };

const struct recorder_ops *recorder_of(const struct source_ops *source)
{
	static const struct recorder_ops *const all[] = { &system_recorder,
							  &perf_recorder,
							  &states_recorder };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->source == source)
			return all[i];
	return NULL;
}

const struct recorder_ops *recorder_choose(const struct experiment *x,
					   struct err *ret_why, struct err *e)
{
	const struct scope scope = { .kind = SCOPE_CPUS };
	struct err why = { 0 };

	*ret_why = (struct err){ 0 };
	for (size_t i = 0; i < sizeof(recorders) / sizeof(recorders[0]); i++) {
		if (recorders[i]->source->probe(x, &scope, &why) == 0)
			return recorders[i];
		if (i == 0)
			*ret_why = why;
	}
	err_set(e, ERR_UNSUPPORTED, "%.300s; nor by %s: %.300s", ret_why->text,
		recorders[1]->source->name, why.text);
	return NULL;
}

void recorder_free(struct recorder *r)
{
	if (r)
		r->ops->free(r);
}

void recorder_freep(struct recorder **r)
{
	recorder_free(*r);
}
