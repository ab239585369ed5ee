/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/recorder_source.h"
#include "collect/states_recorder.h"
#include "wire/state_record.h"

extern const struct source_ops states_source;

static int states_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	if (x->trigger != EXPERIMENT_STATES)
		return err_set(e, ERR_UNSUPPORTED, "it feeds the states of threads only");
	return summing_probe(&states_recorder_kind, scope, e);
}

static void states_range(unused const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	*ret_min = 10000;
	*ret_resolution = 1;
}

static const char *states_how(unused const struct experiment *x, unsigned i)
{
	return i == STATE_RECORD_USER || i == STATE_RECORD_SYSTEM
		       ? "switches of threads and cpu-clock, summed in the kernel"
		       : "switches of threads, summed in the kernel";
}

static int states_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&states_recorder, c, ret, e);
}

const struct source_ops states_source = {
	.name = "states",
	.summary = "switches of threads, timed and walked in the kernel (BPF)",
	.sums = true,
	.probe = states_probe,
	.range = states_range,
	.how = states_how,
	.open = states_open,
	RECORDER_SOURCE_OPS,
	.finish = recorder_source_finish,
};
