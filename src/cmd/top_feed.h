/* SPDX-License-Identifier: Apache-2.0
 *
 * top_feed - what is shown live: samples of the last while, as a profile.
 *
 * Reads a live recorder's recording along and remembers how far it had come at each
 * look, so that a profile can begin at any of them.  One thread.
 */
#ifndef DWELL_CMD_TOP_FEED_H
#define DWELL_CMD_TOP_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "collect/live.h"

/* How far back a profile goes; 0: to the look before, TOP_FEED_ALL: as far as the
 * recording does. */
#define TOP_FEED_ALL UINT64_MAX

struct top_feed;

struct top_feed *top_feed_new(struct live *l, const struct sym_options *sym);
void top_feed_free(struct top_feed *f);
void top_feed_freep(struct top_feed **f);

/* Takes what there is until now.  The profile that was loaded before is gone then. */
must_use int top_feed_look(struct top_feed *f, struct err *e);
/* Something was taken at all. */
bool top_feed_has(const struct top_feed *f);
/* A profile of the time before the last look.  Borrowed; the next one replaces it. */
must_use int top_feed_load(struct top_feed *f, uint64_t window_ns,
			   const struct profile_options *o, struct err *e);
const struct profile *top_feed_profile(const struct top_feed *f); /* NULL: none */

/* Of the time that the profile is of. */
struct top_feed_span {
	uint64_t from_ns, to_ns;  /* monotonic */
	uint64_t lost;		  /* samples */
	uint64_t cpu_ns, self_ns; /* of the recorder, of this process */
};

void top_feed_span(const struct top_feed *f, struct top_feed_span *ret);
const struct live_state *top_feed_state(const struct top_feed *f);
/* What was observed has ended: there will be nothing new. */
bool top_feed_is_over(const struct top_feed *f);

#endif
