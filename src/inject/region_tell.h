/* SPDX-License-Identifier: Apache-2.0
 *
 * region_tell - what a thread's regions have become, into the ring.
 */
#ifndef DWELL_INJECT_REGION_TELL_H
#define DWELL_INJECT_REGION_TELL_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/region_thread.h"

/* What has changed since it was told. */
void region_tell_changes(struct region_thread *t, bool is_over);
/* All of a thread that still runs, without touching it. */
void region_tell_all(const struct region_thread *t);
/* What is active, as it was when so much less had passed. */
void region_tell_slices(struct region_thread *t, uint64_t passed);

#endif
