/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_heap;

#define COLUMN(NAME, UNIT, DESCRIPTION)                                                  \
	{                                                                                \
		.name = NAME, .unit = UNIT, .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT                                                     \
	}

const struct experiment experiment_heap = {
	.name = "heap",
	.summary = "every allocation and release of memory: leaks, peak, who takes how much",
	.trigger = EXPERIMENT_HEAP,
	.only_source = "tracer",
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
	.n_events = 18,
	.events = {
		[EXPERIMENT_HEAP_LEFT_BYTES] = COLUMN(
			"leaked-bytes", "bytes", "memory that was never given back"),
		[EXPERIMENT_HEAP_LEFT] = COLUMN(
			"leaks", "count", "blocks of memory that were never given back"),
		[EXPERIMENT_HEAP_PEAK_BYTES] = COLUMN(
			"peak-bytes", "bytes", "memory held when the process held most"),
		[EXPERIMENT_HEAP_PEAK_BLOCKS] = COLUMN(
			"peak-blocks", "count", "blocks held when the process held most"),
		[EXPERIMENT_HEAP_BYTES] = COLUMN("allocated-bytes", "bytes",
						 "memory that was allocated"),
		[EXPERIMENT_HEAP_CALLS] = COLUMN("allocations", "count",
						 "calls that allocated memory"),
		[EXPERIMENT_HEAP_TEMPORARY] = COLUMN(
			"temporary", "count",
			"blocks given back before the process allocated another"),
		[EXPERIMENT_HEAP_LIFETIME] = COLUMN(
			"lifetime", "ns", "from allocation to release, of all blocks"),
		[EXPERIMENT_HEAP_MAP_LEFT_BYTES] =
			COLUMN("still-mapped-bytes", "bytes",
			       "memory that the program mapped itself, and never unmapped"),
		[EXPERIMENT_HEAP_MAP_PEAK_BYTES] =
			COLUMN("peak-mapped-bytes", "bytes",
			       "mapped by the program when it had most mapped"),
		[EXPERIMENT_HEAP_MAP_BYTES] = COLUMN(
			"mapped-bytes", "bytes", "memory that the program mapped itself"),
		[EXPERIMENT_HEAP_MAP_CALLS] =
			COLUMN("mappings", "count", "calls that mapped memory"),
		[EXPERIMENT_HEAP_LOST] = COLUMN(
			"lost-bytes", "bytes",
			"of leaked-bytes, what nothing points to any more"),
		COLUMN("lost", "count", "of leaks, what nothing points to any more"),
		COLUMN("indirectly-lost-bytes", "bytes",
		       "of leaked-bytes, what only lost blocks point to"),
		COLUMN("indirectly-lost", "count",
		       "of leaks, what only lost blocks point to"),
		COLUMN("possibly-lost-bytes", "bytes",
		       "of leaked-bytes, what is pointed to only within blocks"),
		COLUMN("possibly-lost", "count",
		       "of leaks, what is pointed to only within blocks"),
	},
};
