/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

/* In order of preference. */
static const struct recorder_ops *const recorders[] = { &system_recorder,
							&perf_recorder };

const struct recorder_ops *recorder_of(const struct source_ops *source)
{
	static const struct recorder_ops *const all[] = {
		&system_recorder, &perf_recorder, &probes_recorder,
		&states_recorder, &io_recorder,	  &futex_recorder
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->source == source)
			return all[i];
	return NULL;
}

static const struct recorder_ops *const kept[] = { &system_recorder, &probes_recorder,
						   &states_recorder };

size_t recorder_n_kept(void)
{
	return sizeof(kept) / sizeof(kept[0]);
}

const struct recorder_ops *recorder_kept(size_t i)
{
	return kept[i];
}

const struct recorder_ops *recorder_beside(const struct experiment *x)
{
	static const struct {
		enum experiment_trigger trigger;
		const struct recorder_ops *recorder;
	} all[] = {
		{ EXPERIMENT_STATES, &states_recorder },
		{ EXPERIMENT_SYNC, &futex_recorder },
		{ EXPERIMENT_SYSCALLS, &probes_recorder },
		{ EXPERIMENT_TRIGGER, &probes_recorder },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].trigger == x->trigger)
			return all[i].recorder;
	return NULL;
}

static int probe_plan(const struct recorder_ops *r, const struct plan *p, struct err *e)
{
	const struct scope scope = { .kind = SCOPE_CPUS };

	if (recorder_beside(p->choice.experiment))
		return 0;
	if (p->insn && !r->has_registers)
		return err_set(
			e, ERR_UNSUPPORTED,
			"which way branches go takes the registers of samples, which "
			"have to be fetched");
	return r->source->probe(p->choice.experiment, &scope, e);
}

static int probe(const struct recorder_ops *r, const struct plan *plans, size_t n,
		 struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = probe_plan(r, &plans[i], e);
	return rc;
}

const struct recorder_ops *recorder_choose(const struct plan *plans, size_t n,
					   struct err *ret_why, struct err *e)
{
	struct err why = { 0 };

	*ret_why = (struct err){ 0 };
	for (size_t i = 0; i < sizeof(recorders) / sizeof(recorders[0]); i++) {
		if (probe(recorders[i], plans, n, &why) == 0)
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
