/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/probes_recorder.h"
#include "collect/recorder_source.h"
#include "collect/trigger.h"

extern const struct source_ops probes_source;

static int probes_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	static bool is_known;

	if (x->trigger != EXPERIMENT_SYSCALLS && x->trigger != EXPERIMENT_TRIGGER)
		return err_set(e, ERR_UNSUPPORTED,
			       "it feeds system calls and triggers only");
	return summing_probe(&probes_recorder_kind, scope, &is_known, e);
}

static void probes_range(unused const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = 1;
	*ret_resolution = 1;
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

/* The recorder has told losses at its end. */
static void probes_finish(struct source *source, struct source_stats *ret)
{
	struct recorder_status st;

	recorder_source_status(source, &st);
	ret->samples += st.n_calls;
	for (size_t i = 0; i < st.n_triggers; i++)
		ret->samples += st.n_met[i];
	ret->lost += st.lost;
}

const struct source_ops probes_source = {
	.name = "probes",
	.turn_at = SOURCE_SUMS,
	.summary = "system calls, tracepoints and code, summed in the kernel (BPF)",
	.probe = probes_probe,
	.range = probes_range,
	.how = probes_how,
	.open = probes_open,
	.start = recorder_source_start,
	.fds = recorder_source_fds,
	.drain = recorder_source_drain,
	.sync = recorder_source_sync,
	.pause = recorder_source_pause,
	.stop = recorder_source_stop,
	.finish = probes_finish,
	.free = recorder_source_free,
};
