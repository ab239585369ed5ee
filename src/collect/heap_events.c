/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_events.h"

enum { TAKEN, GIVEN };

/* A release has one column more. */
static const struct {
	const char *name;
	enum column_type type;
} columns[] = {
	{ "address", COLUMN_ADDRESS },
	{ "size", COLUMN_BYTES },
	{ "lived", COLUMN_DURATION },
};

static uint32_t type_of(struct heap_events *events, struct writer *w,
			const struct plan *plan, int kind)
{
	struct model_trace_type type = {
		.event = plan->events[kind == TAKEN ? EXPERIMENT_HEAP_CALLS
						    : EXPERIMENT_HEAP_LIFETIME],
		.n_columns = kind == TAKEN ? 2 : 3
	};

	for (unsigned i = 0; i < type.n_columns; i++) {
		type.columns[i].name = writer_string(w, columns[i].name);
		type.columns[i].type = columns[i].type;
	}
	if (!events->types[kind])
		events->types[kind] = writer_trace_type(w, &type) + 1;
	return events->types[kind] - 1;
}

void heap_events_taken(struct heap_events *events, const struct timer_image *m,
		       const struct plan *plan, const struct heap_site *site,
		       const struct wire_tracer_alloc *x)
{
	struct writer *w = m->totals->writer;

	writer_trace(w,
		     &(struct model_trace){ .time_ns = x->time_ns,
					    .trace_type = type_of(events, w, plan, TAKEN),
					    .thread = site->thread,
					    .cpu = UINT32_MAX,
					    .stack = site->stack,
					    .values = { x->address, x->size_bytes } });
}

void heap_events_given(struct heap_events *events, const struct timer_image *m,
		       const struct plan *plan, const struct heap_site *site,
		       const struct wire_tracer_free *x, const struct heap_block *block)
{
	struct writer *w = m->totals->writer;
	uint64_t lived_ns = x->time_ns > block->time_ns ? x->time_ns - block->time_ns : 0;

	writer_trace(w, &(struct model_trace){
				.time_ns = x->time_ns,
				.trace_type = type_of(events, w, plan, GIVEN),
				.thread = site->thread,
				.cpu = UINT32_MAX,
				.stack = site->stack,
				.values = { x->address, block->size_bytes, lived_ns } });
}
