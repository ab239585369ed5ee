/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cmd/heap_timeline_view.h"
#include "cmd/heap_view.h"
#include "cmd/heap_whole.h"

static const struct heap_table leaks = {
	.name = "leaks",
	.title = "Never given back",
	.title_so_far = "Not given back so far",
	.order = "leaked-bytes",
	.estimated = "leaked-bytes",
	.nothing = "Everything was given back.",
	.has = HEAP_FACT_LEFT_BLOCKS,
	.columns = { { .title = "Bytes", .event = "leaked-bytes" },
		     { .title = "Blocks", .event = "leaks" },
		     { .title = "Lost", .event = "lost-bytes", .is_seldom = true },
		     { .title = "Lost with others",
		       .event = "indirectly-lost-bytes",
		       .is_seldom = true },
		     { .title = "Possibly lost",
		       .event = "possibly-lost-bytes",
		       .is_seldom = true } },
};

static const struct heap_table lost = {
	.name = "lost",
	.title = "Lost, as nothing points to it any more",
	.order = "lost-bytes",
	.nothing = "Nothing is known to be lost.",
	.has = HEAP_FACT_LOST_BLOCKS,
	.columns = { { .title = "Bytes", .event = "lost-bytes" },
		     { .title = "Blocks", .event = "lost" } },
};

static const struct heap_table peak = {
	.name = "peak",
	.title = "Held at the peak",
	.order = "peak-bytes",
	.estimated = "peak-bytes",
	.nothing = "No process ever held memory.",
	.has = HEAP_FACT_PEAK,
	.columns = { { .title = "Bytes", .event = "peak-bytes" },
		     { .title = "Blocks", .event = "peak-blocks" } },
};

static const struct heap_table churn = {
	.name = "churn",
	.title = "Allocated most often",
	.order = "allocations",
	.estimated = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.has = HEAP_FACT_ALLOCATIONS,
	.columns = { { .title = "Calls", .event = "allocations" },
		     { .title = "Bytes", .event = "allocated-bytes" },
		     { .title = "Temporary", .event = "temporary" },
		     { .title = "Mean life",
		       .event = "lifetime",
		       .per = "allocations",
		       .less = "leaks" } },
};

static const struct heap_table mapped = {
	.name = "mapped",
	.title = "Mapped by the program itself",
	.order = "mapped-bytes",
	.nothing = "The program mapped nothing itself.",
	.has = HEAP_FACT_MAPPINGS,
	.columns = { { .title = "Bytes", .event = "mapped-bytes" },
		     { .title = "Calls", .event = "mappings" },
		     { .title = "At the peak", .event = "peak-mapped-bytes" },
		     { .title = "Left", .event = "still-mapped-bytes" } },
};

static const struct heap_table sizes = {
	.name = "sizes",
	.title = "By size, and by how long blocks lived",
	.order = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.has = HEAP_FACT_ALLOCATIONS,
	.print = heap_whole_sizes,
};

static const struct heap_table timeline = {
	.name = "timeline",
	.title = "Over time",
	.order = "allocated-bytes",
	.nothing = "Nothing was allocated.",
	.has = HEAP_FACT_ALLOCATIONS,
	.print = heap_timeline_view_print,
	.limit = 24,
};

const struct heap_table *const heap_tables[] = { &leaks,  &lost,  &peak,     &churn,
						 &mapped, &sizes, &timeline, NULL };
