/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_events - every exception by itself, in the order in which they were raised.
 *
 * Which types an instruction raises may be known only when it has been made again: an
 * event waits a little for that.  Zero-initialise.
 */
#ifndef DWELL_COLLECT_FPE_EVENTS_H
#define DWELL_COLLECT_FPE_EVENTS_H

#include <stdint.h>

#include "base/vec.h"

/* What waits of one process: those of all threads between an instruction and itself. */
#define FPE_EVENTS_WAITING 1024

struct fpe_event {
	uint64_t time_ns;
	uint32_t stack; /* index in the image */
	uint32_t types; /* enum wire_tracer_fpe_type */
};

typedef void fpe_events_fn(void *ctx, const struct fpe_event *event);

struct fpe_events {
	VEC(struct fpe_event) waiting;
};

/* What has waited for long is given. */
void fpe_events_add(struct fpe_events *e, const struct fpe_event *event,
		    fpe_events_fn *give, void *ctx);
/* The last one of that stack that was said to be of these types is of others, or of none:
 * then it was not. */
void fpe_events_correct(struct fpe_events *e, uint32_t stack, uint32_t was, uint32_t is);
/* All that waits is given. */
void fpe_events_finish(struct fpe_events *e, fpe_events_fn *give, void *ctx);

#endif
