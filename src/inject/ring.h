/* SPDX-License-Identifier: Apache-2.0
 *
 * ring - the target's side of a ring file (wire/sampler.h).
 *
 * Any thread may write, also from a signal handler: space is reserved by one
 * compare-and-swap, and a record counts once its commit word is stored.
 */
#ifndef DWELL_INJECT_RING_H
#define DWELL_INJECT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sampler.h"

struct ring {
	struct wire_sampler_ring *header; /* NULL: none */
	uint8_t *data;
	uint64_t bytes;
	uint64_t start_ns; /* the header's while the ring is ours */
};

/* Claim one of the control file's rings and map it; false when none is free. */
bool ring_claim(struct ring *r, struct wire_sampler_control *control, int control_fd,
		int pid);
/* The same of the first n, which are mapped already and stay it. */
bool ring_claim_mapped(struct ring *r, struct wire_sampler_control *control, void *rings,
		       uint32_t n, int pid);
/* Make the file of this process in directory and map it.  Fails when the pages cannot
 * all be had now, because touching them later must never fail. */
bool ring_create(struct ring *r, const char *directory, uint64_t bytes, int pid);
void ring_unmap(struct ring *r);
/* Use memory that holds the header page and a power of two of bytes behind it. */
void ring_over(struct ring *r, void *memory, uint64_t bytes);

/* Append a record of two pieces; false when there is no room. */
bool ring_write(struct ring *r, enum wire_sampler_kind kind, const void *head,
		size_t head_size, const void *tail, size_t tail_size);

/* The recorder, who may know us by another pid, can take us for dead and give the ring
 * away. */
static inline bool ring_is_ours(const struct ring *r)
{
	return r->header &&
	       __atomic_load_n(&r->header->start_ns, __ATOMIC_RELAXED) == r->start_ns;
}

static inline void ring_count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
