/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_exact.h"

extern const struct experiment experiment_io;

const struct experiment experiment_io = {
	.name = "io",
	.summary = "every call that reads, writes or opens: bytes, time, file and stack",
	.trigger = EXPERIMENT_IO,
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = EXPERIMENT_IO_N_EVENTS,
	.events = {
		[EXPERIMENT_IO_TIME] = EXPERIMENT_EXACT("io-time", "ns",
			"time in I/O calls, running or waiting"),
		[EXPERIMENT_IO_CALLS] = EXPERIMENT_EXACT("io-calls", "count",
			"I/O calls that returned"),
		[EXPERIMENT_IO_READ] = EXPERIMENT_EXACT("read-bytes", "bytes",
			"bytes that I/O calls have read"),
		[EXPERIMENT_IO_WRITTEN] = EXPERIMENT_EXACT("written-bytes", "bytes",
			"bytes that I/O calls have written"),
		[EXPERIMENT_IO_ASKED] = EXPERIMENT_ASIDE("asked-bytes", "bytes",
			"bytes that I/O calls have asked for"),
		[EXPERIMENT_IO_ERRORS] = EXPERIMENT_ASIDE("io-errors", "count",
			"I/O calls that returned an error"),
		[EXPERIMENT_IO_SIZES] = EXPERIMENT_ASIDE("io-sizes", "count",
			"calls by the bytes that each moved"),
		[EXPERIMENT_IO_TIMES] = EXPERIMENT_ASIDE("io-durations", "count",
			"calls by the time that each took"),
		[EXPERIMENT_IO_UNFINISHED] = EXPERIMENT_ASIDE("unfinished-io-time", "ns",
			"time so far of each call that had not returned when its thread "
			"or the recording ended"),
		[EXPERIMENT_IO_EACH] = EXPERIMENT_EACH("each-io-call",
			"each call by itself, where every event is kept (--trace)"),
		[EXPERIMENT_IO_EACH_REQUEST] = EXPERIMENT_EACH_BESIDE("each-io-request",
			"each request of io_uring by itself, where every event is kept (--trace)"),
	},
};
