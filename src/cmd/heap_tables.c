/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cmd/heap_view.h"
#include "cmd/heap_whole.h"

static const struct heap_table leaks = {
	.name = "leaks",
	.title = "Never given back",
	.order = "leaked-bytes",
	.estimated = "leaked-bytes",
	.nothing = "Everything was given back.",
	.columns = { { "Bytes", "leaked-bytes", NULL }, { "Blocks", "leaks", NULL } },
};

static const struct heap_table peak = {
	.name = "peak",
	.title = "Held at the peak",
	.order = "peak-bytes",
	.estimated = "peak-bytes",
	.nothing = "No process ever held memory.",
	.columns = { { "Bytes", "peak-bytes", NULL }, { "Blocks", "peak-blocks", NULL } },
};

static const struct heap_table churn = {
	.name = "churn",
	.title = "Allocated most often",
	.order = "allocations",
	.estimated = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.columns = { { "Calls", "allocations", NULL },
		     { "Bytes", "allocated-bytes", NULL },
		     { "Temporary", "temporary", NULL },
		     { "Mean life", "lifetime", "allocations" } },
};

static const struct heap_table mapped = {
	.name = "mapped",
	.title = "Mapped by the program itself",
	.order = "mapped-bytes",
	.nothing = "The program mapped nothing itself.",
	.columns = { { "Bytes", "mapped-bytes", NULL },
		     { "Calls", "mappings", NULL },
		     { "At the peak", "peak-mapped-bytes", NULL },
		     { "Left", "still-mapped-bytes", NULL } },
};

static const struct heap_table sizes = {
	.name = "sizes",
	.title = "By size, and by how long blocks lived",
	.order = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.print = heap_whole_sizes,
};

static const struct heap_table timeline = {
	.name = "timeline",
	.title = "Over time, of the process that held most",
	.order = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.print = heap_whole_timeline,
};

const struct heap_table *const heap_tables[] = { &leaks, &peak,	    &churn, &mapped,
						 &sizes, &timeline, NULL };
