/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_claims - the rings of the control file: who has claimed which.
 *
 * A target claims a ring, makes it ready, and writes; the recorder opens it then, and
 * gives it back when the process has gone.  One that is killed before its ring is ready
 * leaves nothing but its pid in the claim.
 */
#ifndef DWELL_COLLECT_TIMER_CLAIMS_H
#define DWELL_COLLECT_TIMER_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/timer_directory.h"
#include "collect/timer_ring.h"

struct timer_claims {
	struct timer_claim {
		uint32_t pid; /* of the claim as it was last seen, 0: free */
		enum timer_claim_state {
			TIMER_CLAIM_NEW, /* not ready yet */
			TIMER_CLAIM_OPEN,
			TIMER_CLAIM_DAMAGED,
		} state;
		bool was_gone;	  /* its process, before anybody looked for its ring */
		uint64_t gone_ns; /* since when its process is, 0: it is there */
	} at[WIRE_SAMPLER_N_RINGS_MAX];
};

/* A ring that has become ready, to be freed by who takes it; NULL: what is there is none.
 */
typedef void timer_claims_fn(void *ctx, struct timer_ring *ring);

/* Of whom will be met at the next look, who has gone already? */
void timer_claims_look_for_gone(struct timer_claims *c, const struct timer_directory *d);
/* Hands over rings that are ready, gives back those whose process was killed before, and
 * makes more before they run out: a process without one makes a file of its own. */
void timer_claims_look(struct timer_claims *c, struct timer_directory *d, uint64_t now_ns,
		       timer_claims_fn *fn, void *ctx);
/* Whoever made the ring had gone before it was looked for: it has made no other since,
 * and written everything. */
bool timer_claims_was_gone(const struct timer_claims *c, const struct timer_ring *ring);
/* The ring's process is gone: it is free again, if it is one of these. */
void timer_claims_give_back(struct timer_claims *c, struct timer_ring *ring);

#endif
