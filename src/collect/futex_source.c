/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/futex_recorder.h"
#include "collect/recorder_source.h"

extern const struct source_ops futex_source;

static int futex_probe(const struct experiment *x, const struct scope *scope,
		       struct err *e)
{
	static bool is_known;

	if (x->trigger != EXPERIMENT_SYNC)
		return err_set(e, ERR_UNSUPPORTED, "it feeds sync only");
	return summing_probe(&futex_recorder_kind, scope, &is_known, e);
}

static void futex_range(unused const struct experiment *x, uint64_t *ret_min,
			uint64_t *ret_resolution)
{
	*ret_min = 1;
	*ret_resolution = 1;
}

static const char *futex_how(unused const struct experiment *x, unused unsigned i)
{
	return "futexes, summed in the kernel";
}

static int futex_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&futex_recorder, c, ret, e);
}

/* The recorder has told losses at its end. */
static void futex_finish(struct source *source, struct source_stats *ret)
{
	struct recorder_status st;

	recorder_source_status(source, &st);
	ret->samples += st.n_calls;
	ret->lost += st.lost;
}

const struct source_ops futex_source = {
	.name = "futex",
	.turn_at = SOURCE_SUMS,
	.summary = "waits in the kernel, of any language, summed there (BPF)",
	.probe = futex_probe,
	.range = futex_range,
	.how = futex_how,
	.open = futex_open,
	.start = recorder_source_start,
	.fds = recorder_source_fds,
	.drain = recorder_source_drain,
	.sync = recorder_source_sync,
	.pause = recorder_source_pause,
	.stop = recorder_source_stop,
	.finish = futex_finish,
	.free = recorder_source_free,
};
