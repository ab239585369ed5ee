/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_images - all program images that a library of ours runs in, found in the
 * directory where it and the recorder meet.
 *
 * Set up totals and directory before anything else.
 */
#ifndef DWELL_COLLECT_TIMER_IMAGES_H
#define DWELL_COLLECT_TIMER_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/timer_claims.h"
#include "collect/timer_directory.h"
#include "collect/timer_image.h"

/* Where programs of another user meet the recorder: who may write what is shared may harm
 * whoever uses it. */
struct timer_place {
	struct timer_directory directory;
	struct timer_claims claims;
};

struct timer_images {
	struct timer_directory directory;
	struct timer_totals totals;
	struct map known, present; /* for totals */
	struct timer_claims claims;
	VEC(struct timer_place *) more; /* owned */
	VEC(struct timer_image *) all;	/* that run, oldest first */
};

void timer_images_fini(struct timer_images *s);
/* Let the user as whom pid runs use the directory. */
must_use int timer_images_give(struct timer_images *s, pid_t pid, struct err *e);
/* One more place, whose directory has been made.  It is told of a pause as the others
 * are. */
void timer_images_add(struct timer_images *s, struct timer_place *place);
/* Take what all of them have written, and see who has come and gone.  True: there is work
 * left, which is gone on with at the next time. */
bool timer_images_drain(struct timer_images *s, bool is_final);
void timer_images_pause(struct timer_images *s, bool is_paused);
void timer_images_stop(struct timer_images *s);
/* May the process, which has executed a program, still come to one of the places? */
bool timer_images_are_prospect(const struct timer_images *s, pid_t pid);
/* Wait for programs that were just executed to load the library of one of the places, or
 * not to; shortly. */
void timer_images_await(const struct timer_images *s);
/* Of processes that got no ring. */
uint64_t timer_images_refused(const struct timer_images *s);

#endif
