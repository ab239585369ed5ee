/* SPDX-License-Identifier: Apache-2.0
 *
 * split_unit - the units that -gsplit-dwarf put into .dwo files or one .dwp.
 *
 * The package FILE.dwp next to the binary is asked first, then the .dwo where the
 * compiler put it.  A unit counts only when its id is the skeleton's.
 */
#ifndef DWELL_SYM_SPLIT_UNIT_H
#define DWELL_SYM_SPLIT_UNIT_H

#include "sym/debug_file.h"

struct split_units;

/* sysroot may be NULL; both strings are borrowed. */
struct split_units *split_unit_new(const char *binary_path, const char *sysroot);
void split_unit_free(struct split_units *s);

/* The split unit of a skeleton, once found remembered, or NULL. */
struct debug_unit *split_unit_find(struct split_units *s, struct debug_unit *skeleton);

#endif
