/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_io;

#define COLUMN(event_name, event_unit, more_flags, text)                                 \
	{                                                                                \
		.name = event_name, .unit = event_unit, .description = text,             \
		.flags = EVENT_EXACT | (more_flags)                                      \
	}

const struct experiment experiment_io = {
	.name = "io",
	.summary = "every call that reads, writes or opens: bytes, time, file and stack",
	.trigger = EXPERIMENT_IO,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
	.n_events = EXPERIMENT_IO_N_EVENTS,
	.events = {
		[EXPERIMENT_IO_TIME] = COLUMN("io-time", "ns", 0,
					      "time in I/O calls, running or waiting"),
		[EXPERIMENT_IO_CALLS] = COLUMN("io-calls", "count", 0,
					       "I/O calls that returned"),
		[EXPERIMENT_IO_READ] = COLUMN("read-bytes", "bytes", 0,
					      "bytes that I/O calls have read"),
		[EXPERIMENT_IO_WRITTEN] = COLUMN("written-bytes", "bytes", 0,
						 "bytes that I/O calls have written"),
		[EXPERIMENT_IO_ASKED] = COLUMN("asked-bytes", "bytes", EVENT_ASIDE,
					       "bytes that I/O calls have asked for"),
		[EXPERIMENT_IO_ERRORS] = COLUMN("io-errors", "count", EVENT_ASIDE,
						"I/O calls that returned an error"),
		[EXPERIMENT_IO_SIZES] = COLUMN("io-sizes", "count", EVENT_ASIDE,
					       "calls by the bytes that each moved"),
		[EXPERIMENT_IO_TIMES] = COLUMN("io-durations", "count", EVENT_ASIDE,
					       "calls by the time that each took"),
	},
};
