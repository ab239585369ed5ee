/* SPDX-License-Identifier: Apache-2.0
 *
 * cfi - the records of .eh_frame and .debug_frame: CIEs and FDEs.
 *
 * Freestanding and allocation-free; every byte is bounds-checked, so the section may
 * be hostile.  Borrows the bytes.  DWARF 5 section 6.4, LSB Core "Exception Frames".
 */
#ifndef DWELL_UNWIND_CFI_H
#define DWELL_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/registers.h"

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr;	    /* of bytes[0]; results are in the same address space */
	uint64_t data_addr; /* of .eh_frame_hdr, 0 without */
	enum unwind_arch arch;
	bool is_debug_frame;
};

/* Bytes of the section that hold call frame instructions. */
struct cfi_program {
	size_t off, size;
};

/* An FDE together with what its CIE says. */
struct cfi_fde {
	uint64_t start, end; /* the code it covers */
	struct cfi_program initial, program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t ra; /* return address column */
	uint8_t pointer_encoding;
	bool is_signal_frame;
};

enum cfi_record { CFI_FDE, CFI_CIE, CFI_BAD, CFI_LAST };

/* The record at off.  ret is written for CFI_FDE; *ret_next is the next record's
 * offset unless CFI_LAST. */
enum cfi_record cfi_read(const struct cfi_section *s, size_t off, struct cfi_fde *ret,
			 size_t *ret_next);

/* The FDE that covers pc, by reading all records: for tables without an index. */
bool cfi_scan(const struct cfi_section *s, uint64_t pc, struct cfi_fde *ret);

#endif
