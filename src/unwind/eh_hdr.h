/* SPDX-License-Identifier: Apache-2.0
 *
 * eh_hdr - .eh_frame_hdr, the sorted index of .eh_frame.
 *
 * Freestanding; bounds-checked.  Borrows the bytes.
 */
#ifndef DWELL_UNWIND_EH_HDR_H
#define DWELL_UNWIND_EH_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eh_hdr {
	uint64_t addr;		/* of the header: entries are relative to it */
	uint64_t eh_frame;	/* address of .eh_frame */
	const uint8_t *entries; /* pairs of int32: code, FDE; NULL without an index */
	size_t n_entries;
};

/* False when the header cannot be understood at all. */
bool eh_hdr_parse(const uint8_t *bytes, size_t size, uint64_t addr, struct eh_hdr *ret);

/* Entry i: where its code starts and the address of its FDE. */
uint64_t eh_hdr_start(const struct eh_hdr *h, size_t i);
uint64_t eh_hdr_fde(const struct eh_hdr *h, size_t i);

/* The last entry that starts at or before pc; false when there is none. */
bool eh_hdr_find(const struct eh_hdr *h, uint64_t pc, size_t *ret_i);

/* Is the index sorted, as binary search needs? */
bool eh_hdr_is_sorted(const struct eh_hdr *h);

#endif
