/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/io_recorder.h"
#include "collect/recorder_source.h"

extern const struct source_ops io_source;

static int io_probe(const struct experiment *x, const struct scope *scope, struct err *e)
{
	static bool is_known;

	if (x->trigger != EXPERIMENT_IO)
		return err_set(e, ERR_UNSUPPORTED, "it feeds I/O only");
	return summing_probe(&io_recorder_kind, scope, &is_known, e);
}

static void io_range(unused const struct experiment *x, uint64_t *ret_min,
		     uint64_t *ret_resolution)
{
	*ret_min = 1;
	*ret_resolution = 1;
}

static const char *io_how(unused const struct experiment *x, unused unsigned i)
{
	return "system calls, summed in the kernel";
}

static int io_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&io_recorder, c, ret, e);
}

/* The recorder has told losses at its end. */
static void io_finish(struct source *source, struct source_stats *ret)
{
	struct recorder_status st;

	recorder_source_status(source, &st);
	ret->samples += st.n_calls;
	ret->lost += st.lost;
}

const struct source_ops io_source = {
	.name = "io",
	.turn_at = SOURCE_SUMS,
	.summary = "calls that read and write, summed in the kernel by file (BPF)",
	.probe = io_probe,
	.range = io_range,
	.how = io_how,
	.open = io_open,
	.start = recorder_source_start,
	.fds = recorder_source_fds,
	.drain = recorder_source_drain,
	.sync = recorder_source_sync,
	.pause = recorder_source_pause,
	.stop = recorder_source_stop,
	.finish = io_finish,
	.free = recorder_source_free,
};
