/* SPDX-License-Identifier: Apache-2.0
 *
 * system_delivered - how much of each sum of the kernel is in a recording.
 *
 * Sums only grow; what is new of one is what it is beyond that.  Of each there are two
 * copies with versions: what is put is of the next version, and all of it is true at once
 * when that is said to be the version.  So whoever goes on with them finds what was true,
 * whenever this process was killed.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_DELIVERED_H
#define DWELL_COLLECT_SYSTEM_DELIVERED_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "wire/state_record.h"

struct system_delivered;

#define SYSTEM_DELIVERED       "delivered" /* what the map is pinned as */
#define SYSTEM_DELIVERED_BYTES 64	   /* a slot */

/* The descriptor of a map for it. */
must_use int system_delivered_make(struct err *e);
/* Of that map, which is borrowed, as it is in that version; -1: in memory. */
must_use int system_delivered_new(int fd, uint64_t version, struct system_delivered **ret,
				  struct err *e);
void system_delivered_free(struct system_delivered *d);
void system_delivered_freep(struct system_delivered **d);

/* Keys are not kept. */
void system_delivered_get(const struct system_delivered *d, uint32_t slot,
			  struct state_record_sum *ret);
void system_delivered_put(struct system_delivered *d, uint32_t slot,
			  const struct state_record_sum *sum);
/* At once: nothing is delivered of it. */
void system_delivered_clear(struct system_delivered *d, uint32_t slot);
/* What what was put is of; and that it is true. */
uint64_t system_delivered_next(const struct system_delivered *d);
void system_delivered_commit(struct system_delivered *d);

/* Of a sum, what is not delivered. */
void system_delivered_rest(const struct system_delivered *d, uint32_t slot,
			   const struct state_record_sum *sum,
			   struct state_record_sum *ret);

#endif
