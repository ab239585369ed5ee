/* SPDX-License-Identifier: Apache-2.0
 *
 * plt - names for the jump stubs through which a program calls its libraries.
 *
 * Each stub of .plt, .plt.sec, .plt.got and .iplt is decoded for the slot it jumps
 * through; the relocation of that slot names the function: "malloc@plt".
 */
#ifndef DWELL_SYM_PLT_H
#define DWELL_SYM_PLT_H

#include "base/arena.h"
#include "sym/object.h"
#include "sym/symtab.h"

/* Names are made in the arena, which must outlive the table. */
void plt_add_symbols(struct symtab *t, struct object *o, struct arena *names);

#endif
