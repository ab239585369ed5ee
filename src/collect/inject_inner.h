/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_inner - calls of posix_spawn by which the C library of a running process reaches
 * it itself, in system(), popen() and wordexp(): instructions, where others have slots.
 *
 * A call reaches two gigabytes and our wrapper is farther, so it is led to a jump that is
 * put where the last page of the library's code is empty, and stays: a thread may be
 * about to execute it.  What looks like a call is one if the instructions of its
 * procedure are read up to it.  The threads of the process stand while calls are changed.
 */
#ifndef DWELL_COLLECT_INJECT_INNER_H
#define DWELL_COLLECT_INJECT_INNER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/inject_calls.h"
#include "collect/inject_memory.h"
#include "collect/inject_slots.h"

struct inject_inner {
	uint64_t start, end; /* of the code that is known */
	uint64_t call;	     /* address of posix_spawn */
	uint64_t jump;	     /* address of ours */
	VEC(uint64_t) at;    /* the words that tell calls where to go */
};

void inject_inner_fini(struct inject_inner *i);

/* All of the object that has posix_spawn, anew if that is another.  maps: the text of
 * /proc/PID/maps. */
void inject_inner_find(struct inject_inner *i, const struct inject_calls *c,
		       const struct inject_memory *m, const char *maps,
		       size_t maps_bytes);
/* All lead to our wrapper.  write NULL: nothing is changed.  How many it is or were; what
 * cannot be written is left alone from then on. */
size_t inject_inner_lead(struct inject_inner *i, const struct inject_calls *c,
			 const struct inject_memory *m, inject_write_fn *write,
			 void *ctx);
/* Those that lead to our wrapper lead to posix_spawn. */
void inject_inner_lead_back(const struct inject_inner *i, const struct inject_calls *c,
			    const struct inject_memory *m, inject_write_fn *write,
			    void *ctx);

#endif
