/* SPDX-License-Identifier: Apache-2.0
 *
 * function_bounds - where functions begin and end, from the unwind table.
 *
 * A stripped program still carries one .eh_frame entry per function; its bounds are
 * better than nothing: samples of one function stay together under "fn@0x1a2b".  Only
 * where the program begins is it known what the function is called.
 */
#ifndef DWELL_SYM_FUNCTION_BOUNDS_H
#define DWELL_SYM_FUNCTION_BOUNDS_H

#include "base/arena.h"
#include "sym/object.h"
#include "sym/symtab.h"

/* Adds every function that the table does not name already. */
size_t function_bounds_add(struct symtab *t, struct object *o, struct arena *names);
bool function_bounds_is_synthetic(const char *name);

#endif
