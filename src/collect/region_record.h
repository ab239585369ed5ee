/* SPDX-License-Identifier: Apache-2.0
 *
 * region_record - what the tracer says of regions (wire/tracer_regions.h), one row at a
 * time.
 *
 * timer_record has seen to it that as many rows are there as the head says.
 */
#ifndef DWELL_COLLECT_REGION_RECORD_H
#define DWELL_COLLECT_REGION_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tracer_regions.h"

struct reader;

/* Is the rest of a record of that kind what its head says?  Borrowed from r. */
bool region_record_check(struct reader *r, unsigned kind, const void *head,
			 const uint8_t **ret_rows, size_t *ret_size);
/* Bytes of the head of a record of that kind, 0: it is no record of regions. */
size_t region_record_head(unsigned kind);

struct wire_regions_node region_record_node(const uint8_t *rows, uint32_t i);
struct wire_regions_slice region_record_slice(const uint8_t *rows, uint32_t i);
/* Of a quantity in ticks, or not, by the head. */
uint64_t region_record_scale(const struct wire_regions_nodes *head, uint64_t v);

#endif
