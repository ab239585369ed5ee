/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_events.h"

/* A release has one column more. */
static const struct {
	const char *name;
	enum column_type type;
} columns[] = {
	{ "address", COLUMN_ADDRESS },
	{ "size", COLUMN_BYTES },
	{ "lived", COLUMN_DURATION },
};

static const struct {
	unsigned event; /* index in the plan */
	unsigned n_columns;
} kinds[HEAP_EVENTS_KINDS] = {
	[HEAP_EVENTS_TAKEN] = { EXPERIMENT_HEAP_CALLS, 2 },
	[HEAP_EVENTS_GIVEN] = { EXPERIMENT_HEAP_LIFETIME, 3 },
	[HEAP_EVENTS_MAPPED] = { EXPERIMENT_HEAP_MAP_CALLS, 2 },
	[HEAP_EVENTS_UNMAPPED] = { EXPERIMENT_HEAP_MAP_BYTES, 3 },
};

static uint32_t type_of(struct heap_events *events, struct writer *w,
			const struct plan *plan, enum heap_events_kind kind)
{
	struct model_trace_type type = { .event = plan->events[kinds[kind].event],
					 .n_columns = kinds[kind].n_columns };

	for (unsigned i = 0; i < type.n_columns; i++) {
		type.columns[i].name = writer_string(w, columns[i].name);
		type.columns[i].type = columns[i].type;
	}
	if (!events->types[kind])
		events->types[kind] = writer_trace_type(w, &type) + 1;
	return events->types[kind] - 1;
}

void heap_events_add(struct heap_events *events, const struct timer_image *m,
		     const struct plan *plan, enum heap_events_kind kind,
		     const struct heap_site *site, uint64_t time_ns,
		     const struct heap_block *block)
{
	struct writer *w = m->totals->writer;
	struct model_trace t = { .time_ns = time_ns,
				 .trace_type = type_of(events, w, plan, kind),
				 .thread = site->thread,
				 .cpu = UINT32_MAX,
				 .stack = site->stack,
				 .values = { block->address, block->size_bytes } };

	if (kinds[kind].n_columns > 2 && time_ns > block->time_ns)
		t.values[2] = time_ns - block->time_ns;
	writer_trace(w, &t);
}
