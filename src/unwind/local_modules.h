/* SPDX-License-Identifier: Apache-2.0
 *
 * local_modules - which loaded object a code address of this process belongs to.
 *
 * Asks _dl_find_object (glibc 2.35), which takes no lock; elsewhere a list of our own,
 * as fresh as the last refresh.  Finding is async-signal-safe.
 */
#ifndef DWELL_UNWIND_LOCAL_MODULES_H
#define DWELL_UNWIND_LOCAL_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi.h"

struct local_module {
	uint64_t start, end;   /* or those of one segment */
	uint64_t eh_frame_hdr; /* its address, 0 without a table */
};

bool local_modules_find(uint64_t pc, struct local_module *ret);

/* Not async-signal-safe.  Also starts a new generation: whatever was remembered of
 * modules before may be stale. */
void local_modules_refresh(void);
uint32_t local_modules_generation(void);

/* The FDE that covers pc, and the section it is in. */
bool local_modules_fde(const struct local_module *module, uint64_t pc,
		       struct cfi_section *ret_section, struct cfi_fde *ret);

/* Is pc, which no FDE covers, in a hole of its module's table as no_table means it?
 * Only between two FDEs: where the code ends is not known here. */
bool local_modules_is_hole(uint64_t pc);

#endif
