/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_totals - what is true of a process' whole heap, written into the recording: facts,
 * and rows by size, by lifetime and over time (docs/format.md).
 */
#ifndef DWELL_COLLECT_HEAP_TOTALS_H
#define DWELL_COLLECT_HEAP_TOTALS_H

#include "collect/heap_ending.h"
#include "collect/heap_ledger.h"
#include "collect/timer_image.h"

/* maps: of what the process mapped itself.  Of the process of a thread, which is its id
 * in the recording. */
void heap_totals_write(const struct timer_image *m, const struct plan *plan,
		       uint64_t now_ns, uint32_t thread, const struct heap_ledger *l,
		       const struct heap_ledger *maps, const struct heap_ending *ending);

#endif
