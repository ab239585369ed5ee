/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/probes_recorder.h"
#include "collect/recorder_source.h"
#include "collect/trigger.h"

extern const struct source_ops probes_source;

static int probes_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	if (x->trigger != EXPERIMENT_SYSCALLS && x->trigger != EXPERIMENT_TRIGGER)
		return err_set(e, ERR_UNSUPPORTED,
			       "it feeds system calls and triggers only");
	return summing_probe(&probes_recorder_kind, scope, e);
}

static const char *probes_how(const struct experiment *x, unused unsigned i)
{
	const struct trigger *t = trigger_of(x);

	if (t && t->kind != TRIGGER_TRACEPOINT)
		return "places in code, summed in the kernel";
	if (x->trigger == EXPERIMENT_TRIGGER)
		return "tracepoint, summed in the kernel";
	return "entry and exit of system calls, summed in the kernel";
}

static int probes_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&probes_recorder, c, ret, e);
}

const struct source_ops probes_source = {
	.name = "probes",
	.summary = "system calls, tracepoints and code, summed in the kernel (BPF)",
	.sums = true,
	.probe = probes_probe,
	.range = recorder_source_every,
	.how = probes_how,
	.open = probes_open,
	RECORDER_SOURCE_OPS,
	.finish = recorder_source_finish,
};
