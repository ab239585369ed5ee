/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_ways - all by which the objects of a running process reach what is traced: the
 * slots of their calls and those calls that have none, the symbols by which later ones
 * will find those, and the pointers of their marks.
 *
 * The threads of the process stand while these are changed.
 */
#ifndef DWELL_COLLECT_INJECT_WAYS_H
#define DWELL_COLLECT_INJECT_WAYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/inject_calls.h"
#include "collect/inject_cells.h"
#include "collect/inject_inner.h"
#include "collect/inject_memory.h"
#include "collect/inject_objects.h"
#include "collect/inject_slots.h"

struct inject_ways {
	struct inject_objects objects; /* those that the others are of */
	struct inject_slots slots;
	struct inject_cells cells;
	struct inject_inner inner;
};

void inject_ways_fini(struct inject_ways *w);

/* Of the objects, anew.  maps: the text of /proc/PID/maps. */
void inject_ways_find(struct inject_ways *w, const struct inject_calls *c,
		      const struct inject_memory *m, const char *maps, size_t maps_bytes);
/* In a forked child, which may have what its parent has unloaded since: what leads to us
 * is to be found in its own objects, which it has none of yet. */
void inject_ways_copy(const struct inject_ways *w, struct inject_ways *ret);

/* The objects are others than before: those are known now, and calls that only they have;
 * what leads to these is still to be found. */
bool inject_ways_renew(struct inject_ways *w, struct inject_calls *c,
		       const struct inject_memory *m, uint64_t debug);

/* What is known is of the objects that were there before the process stood.  ERR_LIMIT:
 * it is not. */
must_use int inject_ways_check(const struct inject_ways *w, const struct inject_memory *m,
			       uint64_t debug, struct err *e);
/* All lead to the wrappers and hooks of ours.  write NULL: nothing is changed.  How many
 * it is or were. */
size_t inject_ways_lead(struct inject_ways *w, struct inject_calls *c,
			const struct inject_memory *m, uint64_t hooks,
			inject_write_fn *write, void *ctx);
/* And back, in the objects that are still there. */
must_use int inject_ways_lead_back(struct inject_ways *w, const struct inject_calls *c,
				   const struct inject_memory *m, uint64_t debug,
				   inject_write_fn *write, void *ctx, struct err *e);

#endif
