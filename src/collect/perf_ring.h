/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_ring - the memory that the kernel writes the records of one CPU into.
 *
 * Records are read in place; what was taken is given back with perf_ring_advance().
 */
#ifndef DWELL_COLLECT_PERF_RING_H
#define DWELL_COLLECT_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	uint8_t *data;
	size_t size; /* power of two */
	uint64_t head, tail;
	uint8_t *wrapped; /* a record that goes over the end, made whole */
};

/* Map a ring for the event fd: as large as allowed, from max_bytes down to
 * min_bytes. */
must_use int perf_ring_map(struct perf_ring *r, int fd, size_t max_bytes,
			   size_t min_bytes, struct err *e);
void perf_ring_unmap(struct perf_ring *r);
/* See what the kernel has written since. */
void perf_ring_refresh(struct perf_ring *r);
size_t perf_ring_used(const struct perf_ring *r);
/* The next record, or NULL. */
const void *perf_ring_peek(struct perf_ring *r, size_t *ret_size);
void perf_ring_advance(struct perf_ring *r, size_t size);

#endif
