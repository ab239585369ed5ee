/* SPDX-License-Identifier: Apache-2.0
 *
 * numbered_tally - segments that can be told apart: one sample at a place of that number.
 */
#ifndef DWELL_UNIT_STORE_NUMBERED_TALLY_H
#define DWELL_UNIT_STORE_NUMBERED_TALLY_H

#include "base/err.h"
#include "base/own.h"
#include "store/database.h"
#include "store/tally.h"

/* Count 1 at offset `number`, in an image that all share. */
struct tally *numbered_tally(uint32_t number);
/* Adds to n[number] what the segments of an epoch hold of it, up to max; ERR_OS with
 * e->os ENOENT when a segment was merged meanwhile. */
must_use int numbered_tally_count(const struct database *d,
				  const struct database_epoch *ep, uint32_t *n,
				  uint32_t max, struct err *e);

#endif
