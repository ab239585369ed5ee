/* SPDX-License-Identifier: Apache-2.0
 *
 * system_fit - which events a CPU can count at the same time.
 *
 * Registers are few, some count certain events only, and others may have taken some: what
 * fits is found by trying.
 */
#ifndef DWELL_COLLECT_SYSTEM_FIT_H
#define DWELL_COLLECT_SYSTEM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/system_event.h"

#define SYSTEM_FIT_ALWAYS 255 /* a group whose events are always on */

/* Can these be on together? */
typedef bool system_fit_fn(void *ctx, const struct system_event *const *events, size_t n);

/* By opening them there. */
bool system_fit_try(void *where /* struct system_event_how */,
		    const struct system_event *const *events, size_t n);

/* Parts events into groups that fit, each event into the first that takes it, and puts
 * their numbers into ret.  No more than n_at_once are in a group; 0: as many as fit, and
 * what takes no register is always on.  Returns how many groups there are. */
size_t system_fit(const struct system_event *events, size_t n, uint32_t n_at_once,
		  system_fit_fn *fn, void *ctx, uint8_t ret[SYSTEM_EVENTS_MAX]);

#endif
