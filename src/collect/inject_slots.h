/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_slots - the slots of a running process that lead to calls that are traced: to
 * wrappers of ours, or back to where they led.
 *
 * A slot is changed only if what it holds is understood: the call itself, or the code
 * that is to look up this very slot when it is first needed, if there is only one that it
 * can find: of two versions (pthread_cond_wait) the object may mean the older one, which
 * goes with its own signal.  One of an object that is being loaded holds something else,
 * and is seen to later.  A word of data is the program's own: it is none of ours unless
 * the linker has filled it with our wrapper (inject_symbols).  The threads of the process
 * stand while slots are changed.
 */
#ifndef DWELL_COLLECT_INJECT_SLOTS_H
#define DWELL_COLLECT_INJECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/inject_calls.h"
#include "collect/inject_memory.h"
#include "collect/inject_objects.h"

struct inject_slot {
	uint64_t at, was; /* 0: it never led to us */
	uint64_t number;  /* of its table, as of inject_slot_fn */
	unsigned call;
	bool means_newer; /* than the C library's first call of that name */
	size_t object;
};

struct inject_slots {
	VEC(struct inject_slot) of;
};

void inject_slots_fini(struct inject_slots *s);

/* All slots of objects, anew; what is known of those at the same addresses stays. */
void inject_slots_find(struct inject_slots *s, const struct inject_calls *c,
		       const struct inject_memory *m,
		       const struct inject_objects *objects);

typedef bool inject_write_fn(void *ctx, uint64_t at, uint64_t value);

/* Writes what leads to our wrappers; lo, hi: where wrappers of ours may be that it led to
 * before.  write NULL: nothing is changed.  How many it is or were. */
size_t inject_slots_patch(struct inject_slots *s, const struct inject_calls *c,
			  const struct inject_memory *m, uint64_t lo, uint64_t hi,
			  inject_write_fn *write, void *ctx);
/* Those that lead to our wrappers still lead back; only of objects that are still there.
 */
void inject_slots_restore(const struct inject_slots *s, const struct inject_calls *c,
			  const struct inject_memory *m,
			  const struct inject_objects *before,
			  const struct inject_objects *now, inject_write_fn *write,
			  void *ctx);

#endif
