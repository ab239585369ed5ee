/* SPDX-License-Identifier: Apache-2.0
 *
 * aranges - which unit covers an address, as .debug_aranges lists it.
 *
 * Only for units whose root entry does not list its ranges, as before DWARF 3.
 */
#ifndef DWELL_SYM_ARANGES_H
#define DWELL_SYM_ARANGES_H

#include "sym/debug_file.h"

/* False ends the iteration. */
typedef bool aranges_fn(void *ctx, struct debug_unit *u, uint64_t start, uint64_t end);

void aranges_each(struct debug_file *f, aranges_fn *fn, void *ctx);

#endif
