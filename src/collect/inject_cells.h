/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_cells - the pointers by which a running program's own marks (include/dwell.h)
 * reach whoever records: notes in its objects tell where they are.
 *
 * A cell holds nothing, or leads to us: another value is left alone.  The threads of the
 * process stand while cells are changed.
 */
#ifndef DWELL_COLLECT_INJECT_CELLS_H
#define DWELL_COLLECT_INJECT_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/inject_memory.h"
#include "collect/inject_objects.h"
#include "collect/inject_slots.h"

struct inject_cells {
	VEC(uint64_t) at;
};

void inject_cells_fini(struct inject_cells *c);

/* All of them anew.  maps: the text of /proc/PID/maps, which tells where an object's
 * headers are. */
void inject_cells_find(struct inject_cells *c, const struct inject_memory *m,
		       const struct inject_objects *objects, const char *maps,
		       size_t maps_bytes);

/* Those lead to hooks that hold nothing, or an address from lo on up to hi, where hooks
 * of an earlier time may be; hooks 0: what leads there holds nothing any more.  write
 * NULL: nothing is changed.  How many it is or were. */
size_t inject_cells_lead(const struct inject_cells *c, const struct inject_memory *m,
			 uint64_t hooks, uint64_t lo, uint64_t hi, inject_write_fn *write,
			 void *ctx);

#endif
