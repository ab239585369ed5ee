/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_events - every allocation and release kept by itself, for those who ask for it;
 * and what the program maps and unmaps.
 *
 * A release has the thread and the stack of the allocation.
 */
#ifndef DWELL_COLLECT_HEAP_EVENTS_H
#define DWELL_COLLECT_HEAP_EVENTS_H

#include "collect/heap_ledger.h"
#include "collect/timer_image.h"

enum heap_events_kind {
	HEAP_EVENTS_TAKEN,
	HEAP_EVENTS_GIVEN,
	HEAP_EVENTS_MAPPED,
	HEAP_EVENTS_UNMAPPED,
	HEAP_EVENTS_KINDS,
};

/* Zero-initialise. */
struct heap_events {
	uint32_t types[HEAP_EVENTS_KINDS]; /* ids plus 1; 0: not yet */
};

/* Of a block of the site, as it is or was. */
void heap_events_add(struct heap_events *events, const struct timer_image *m,
		     const struct plan *plan, enum heap_events_kind kind,
		     const struct heap_site *site, uint64_t time_ns,
		     const struct heap_block *block);

#endif
