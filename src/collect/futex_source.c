/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/futex_recorder.h"
#include "collect/recorder_source.h"

extern const struct source_ops futex_source;

static int futex_probe(const struct experiment *x, const struct scope *scope,
		       struct err *e)
{
	if (x->trigger != EXPERIMENT_SYNC)
		return err_set(e, ERR_UNSUPPORTED, "it feeds sync only");
	return summing_probe(&futex_recorder_kind, scope, e);
}

static const char *futex_how(unused const struct experiment *x, unused unsigned i)
{
	return "futexes, summed in the kernel";
}

static int futex_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&futex_recorder, c, ret, e);
}

const struct source_ops futex_source = {
	.name = "futex",
	.summary = "waits in the kernel, of any language, summed there (BPF)",
	.sums = true,
	.probe = futex_probe,
	.range = recorder_source_every,
	.how = futex_how,
	.open = futex_open,
	RECORDER_SOURCE_OPS,
	.finish = recorder_source_finish,
};
