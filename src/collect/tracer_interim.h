/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_interim - what tracers in programs have told so far, kept now and then for the
 * case that the recorder is killed (store/writer.h).
 *
 * Zero-initialise; nothing is to be released.
 */
#ifndef DWELL_COLLECT_TRACER_INTERIM_H
#define DWELL_COLLECT_TRACER_INTERIM_H

#include <stdint.h>

#include "collect/timer_images.h"

struct tracer_interim {
	uint64_t next_ns; /* 0: nothing was seen yet */
	uint64_t cost_ns; /* of CPU time, the last ones */
};

/* All that programs had told until now_ns was taken. */
void tracer_interim_look(struct tracer_interim *x, struct timer_images *images,
			 uint64_t now_ns);

#endif
