/* SPDX-License-Identifier: Apache-2.0
 *
 * tracing - what becomes of the records that a tracer in the program writes for one
 * experiment: one const struct per such experiment.
 *
 * Every program image has a state of its own for each, made with the first record.
 */
#ifndef DWELL_COLLECT_TRACING_H
#define DWELL_COLLECT_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/experiment.h"
#include "wire/tracer.h"

struct plan;
struct timer_record;
struct traced_image;

struct tracing {
	enum experiment_trigger trigger; /* of the experiment that is fed */
	enum wire_tracer_trace trace;	 /* what the program is told */
	unsigned first_kind, last_kind;	 /* of its records */
	const char *why_not;		 /* it does not work on this CPU; or NULL */
	/* A state, which borrows the image.  plan is NULL where nothing of it is to be
	 * kept: its process is not followed. */
	void *(*begin)(struct traced_image *image, const struct plan *plan);
	void (*take)(void *state, const struct timer_record *r);
	/* Work that takes long, a few milliseconds of it; false: there is no more.  NULL:
	 * never any. */
	bool (*go_on)(void *state);
	/* Writes what end() would if nothing more came, changes nothing that this would
	 * not; false: that is nothing.  NULL: all is written as it comes, or is lost with
	 * the recorder. */
	bool (*interim)(void *state, uint64_t now_ns);
	/* Nothing more will come; its process, if it goes, has not gone yet.  Frees the
	 * state. */
	void (*end)(void *state, uint64_t now_ns);
};

/* NULL-terminated. */
extern const struct tracing *const tracings[];
enum {
#define TRACING(name) TRACING_INDEX_##name,
#include "collect/tracings.def"
#undef TRACING
	TRACING_N
};

/* NULL: a tracer has nothing to do with it. */
const struct tracing *tracing_of(const struct experiment *x);

#endif
