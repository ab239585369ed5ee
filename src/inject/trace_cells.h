/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_cells - where programs and libraries keep what include/dwell.h calls: notes tell.
 */
#ifndef DWELL_INJECT_TRACE_CELLS_H
#define DWELL_INJECT_TRACE_CELLS_H

struct dwell_hooks;

/* Set those of all that is loaded. */
void trace_cells_set(const struct dwell_hooks *hooks);
/* Where the recorder sets them itself: to this, NULL to nothing. */
const struct dwell_hooks *trace_cells_hooks(void);

#endif
