/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_symbols - what objects of a running process tell its dynamic linker of the calls
 * that are traced: that our wrappers are these, and again what they told before.
 *
 * So a library that is loaded later has wrappers in its slots before any of its code is
 * executed, and so has who asks for a call by name.  The threads of the process stand
 * while symbols are changed.
 */
#ifndef DWELL_COLLECT_INJECT_SYMBOLS_H
#define DWELL_COLLECT_INJECT_SYMBOLS_H

#include <stddef.h>

#include "collect/inject_calls.h"
#include "collect/inject_memory.h"
#include "collect/inject_slots.h"

/* Those that tell of a call, or of a wrapper of an earlier time.  write NULL: nothing is
 * changed.  How many it is or were; what cannot be written is left alone from then on. */
size_t inject_symbols_lead(struct inject_calls *c, const struct inject_memory *m,
			   inject_write_fn *write, void *ctx);
/* Those that tell of our wrappers; of an object that is gone there are none. */
void inject_symbols_lead_back(const struct inject_calls *c, const struct inject_memory *m,
			      inject_write_fn *write, void *ctx);

#endif
