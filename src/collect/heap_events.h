/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_events - every allocation and release kept by itself, for those who ask for it.
 *
 * A release has the thread and the stack of the allocation.
 */
#ifndef DWELL_COLLECT_HEAP_EVENTS_H
#define DWELL_COLLECT_HEAP_EVENTS_H

#include "collect/heap_ledger.h"
#include "collect/timer_image.h"

/* Zero-initialise. */
struct heap_events {
	uint32_t types[2]; /* ids plus 1 of allocations and releases; 0: not yet */
};

void heap_events_taken(struct heap_events *events, const struct timer_image *m,
		       const struct plan *plan, const struct heap_site *site,
		       const struct wire_tracer_alloc *x);
void heap_events_given(struct heap_events *events, const struct timer_image *m,
		       const struct plan *plan, const struct heap_site *site,
		       const struct wire_tracer_free *x, const struct heap_block *block);

#endif
