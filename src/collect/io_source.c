/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include "collect/io_recorder.h"
#include "collect/recorder_source.h"

extern const struct source_ops io_source;

static int io_probe(const struct experiment *x, const struct scope *scope, struct err *e)
{
	if (x->trigger != EXPERIMENT_IO)
		return err_set(e, ERR_UNSUPPORTED, "it feeds I/O only");
	return summing_probe(&io_recorder_kind, scope, e);
}

static const char *io_how(unused const struct experiment *x, unused unsigned i)
{
	return "system calls, summed in the kernel";
}

static int io_open(const struct source_context *c, struct source **ret, struct err *e)
{
	return recorder_source_open(&io_recorder, c, ret, e);
}

const struct source_ops io_source = {
	.name = "io",
	.summary = "calls that read and write, summed in the kernel by file (BPF)",
	.sums = true,
	.probe = io_probe,
	.range = recorder_source_every,
	.how = io_how,
	.open = io_open,
	RECORDER_SOURCE_OPS,
	.finish = recorder_source_finish,
};
