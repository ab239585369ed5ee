/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_fpe - floating-point exceptions of a process that runs: unmasked in its threads
 * while all of them stand, and masked again.
 *
 * The library in the process takes their signal (inject/trace_fpe_threads.h); what a
 * thread has in its registers, and in those that a handler has interrupted, is changed
 * from here.
 */
#ifndef DWELL_COLLECT_INJECT_FPE_H
#define DWELL_COLLECT_INJECT_FPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/inject_memory.h"
#include "collect/inject_stop.h"

/* The library, and how to reach it. */
struct inject_fpe_library {
	struct inject_memory memory;
	bool (*write)(void *ctx, uint64_t at, const void *from, size_t bytes);
	/* A thread runs an entry: *ret_state is enum wire_injected_state. */
	int (*run)(void *ctx, struct inject_stop *s, const char *entry,
		   uint64_t *ret_state, struct err *e);
	void *ctx;
	uint64_t at;	/* of its struct wire_injected_fpe */
	int32_t tid_at; /* as inject_stop_take() says */
};

/* What a handler's frame holds of the interrupted context, by address. */
struct inject_fpe_frame {
	uint64_t at, state; /* of the context, of its floating-point state */
	uint64_t pc, flags, mask;
	uint32_t mxcsr;
	uint16_t control, status;
	uint32_t types; /* that were unmasked in it by us */
};

struct inject_fpe {
	/* Of functions that put exceptions aside and back within: the C library's. */
	uint64_t code, code_end;
	VEC(struct inject_fpe_frame) frames; /* as they were, of those that were armed */
	unsigned n_waits;		     /* for threads in what takes no time */
	unsigned n_within;		     /* and for those that were not led out */
};

void inject_fpe_fini(struct inject_fpe *f);

/* Where those functions are: with the one that has this address; 0: there are none.
 * maps: the text of /proc/PID/maps. */
void inject_fpe_find(struct inject_fpe *f, uint64_t address, const char *maps,
		     size_t maps_bytes);
/* All threads stand and none is taken: what they have in their registers is to be what
 * they go on with.  ERR_LIMIT: not now. */
must_use int inject_fpe_lead_out(struct inject_fpe *f, pid_t pid, struct inject_stop *s,
				 struct err *e);
/* All threads stand, and one is taken.  ERR_LIMIT: not now. */
must_use int inject_fpe_arm(struct inject_fpe *f, const struct inject_fpe_library *l,
			    struct inject_stop *s, struct err *e);
/* As that; also where nothing is armed. */
must_use int inject_fpe_disarm(struct inject_fpe *f, const struct inject_fpe_library *l,
			       struct inject_stop *s, struct err *e);

#endif
