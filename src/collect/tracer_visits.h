/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_visits - the processes that ran already, into which a tracer is put.
 *
 * Of each that was named, with all its descendants if these are followed, several at
 * once; and again until nobody is new: a child that is made by one that is led already
 * comes with it.
 */
#ifndef DWELL_COLLECT_TRACER_VISITS_H
#define DWELL_COLLECT_TRACER_VISITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"

struct inject;
struct scope;
struct source_context;
struct timer_directory;
struct timer_images;

struct tracer_visit {
	pid_t pid;
	struct inject *inject;
};

struct tracer_refusal {
	pid_t pid;
	char *why; /* owned */
};

struct tracer_waiter {
	pid_t pid, tid;
};

/* Set up what is borrowed before anything else. */
struct tracer_visits {
	const struct source_context *context;
	struct timer_images *images;
	uint32_t traces;
	/* Others see waits, too: those of a process that nothing can be put into. */
	bool is_dispensable;
	/* Make a directory as the first one, for the programs of one more user. */
	int (*open)(void *ctx, struct timer_directory *ret, struct err *e);
	void *ctx;

	VEC(struct tracer_visit) injected;
	size_t next;				/* of these, to be looked at */
	VEC(struct tracer_waiter) to_interrupt; /* if they wait */
	struct map visited;			/* pids */
	VEC(struct tracer_refusal) refusals;	/* that were not told yet */
	struct map refused;   /* they are known to have no ring; for timer_totals */
	bool is_given;	      /* the first directory is somebody's */
	uint64_t n_refused;   /* descendants */
	struct err unwrapped; /* why the first was dispensed with; .code 0: none was */
	struct err trouble;   /* what is not as it was there; .code 0: nothing */
	uint64_t until_ns;    /* how long others may be waited for */
	uint64_t stood_ns;    /* how long those stood for it */
};

/* Is there one at all that allows for it?  Else why the first does not. */
must_use int tracer_visits_probe(const struct scope *scope, uint32_t traces,
				 struct err *e);
/* Those that were named and cannot be visited are an error if no other can; else the
 * recording is to name them. */
must_use int tracer_visits_begin(struct tracer_visits *v, struct err *e);
/* That: other sources have begun, who tell first of what runs and whom they follow. */
void tracer_visits_tell(struct tracer_visits *v);
/* Who sees waits in the kernel has begun, and knows the stack of a thread that has waited
 * since before when it passes there: of what was visited those that wait are made to,
 * some with each look. */
void tracer_visits_interrupt(struct tracer_visits *v);
/* Objects may have been loaded since: now and then, for not much longer than others can
 * be kept waiting.  A process with which that makes it impossible is left at once, and
 * the recording says why. */
void tracer_visits_look(struct tracer_visits *v);
/* Their programs come by us no more. */
void tracer_visits_end(struct tracer_visits *v);
void tracer_visits_fini(struct tracer_visits *v);

#endif
