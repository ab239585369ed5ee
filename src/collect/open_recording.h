/* SPDX-License-Identifier: Apache-2.0
 *
 * open_recording - the recording that what is counted goes into now, beside the epochs of
 * a database.
 *
 * When it is closed it gets a name under which it waits to become a segment.  What a
 * killed daemon left open is adopted: it waits, too.  One thread.
 */
#ifndef DWELL_COLLECT_OPEN_RECORDING_H
#define DWELL_COLLECT_OPEN_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/continuous_plans.h"
#include "collect/recorder.h"
#include "store/writer.h"

struct open_recording;

/* In a host's directory; both are borrowed. */
struct open_recording *open_recording_new(const char *directory,
					  struct continuous_plans *plans);
void open_recording_free(struct open_recording *o); /* what is open stays as it is */

/* What a killed daemon left on the disk; place: and of it for sure, or NULL.  How long a
 * recording lasts at most. */
must_use int open_recording_adopt(struct open_recording *o,
				  const struct recorder_place *place, uint64_t longest_ns,
				  struct err *e);
/* From now on what that recorder takes goes into a new one; a failure: too much waits in
 * memory for another. */
must_use int open_recording_begin(struct open_recording *o, struct recorder *r,
				  struct err *e);
/* It began where the killed one's ends. */
void open_recording_begin_earlier(struct open_recording *o,
				  const struct recorder_left *left);
/* It has ended, and waits to become a segment: as soon as it is written in whole, if that
 * fails now. */
must_use int open_recording_end(struct open_recording *o, struct err *e);

bool open_recording_is_there(const struct open_recording *o);
const char *open_recording_path(const struct open_recording *o);
uint64_t open_recording_began_ns(const struct open_recording *o);
uint64_t open_recording_bytes(const struct open_recording *o);

/* All that was taken is in the files, of those that have ended, too; on failure it waits
 * in memory. */
must_use int open_recording_settle(struct open_recording *o, struct err *e);
/* The same when it is due. */
must_use int open_recording_tick(struct open_recording *o, uint64_t now_ns,
				 struct err *e);
/* Why something waits; NULL: nothing does. */
const struct err *open_recording_trouble(const struct open_recording *o);
uint64_t open_recording_waiting(const struct open_recording *o); /* bytes in memory */

#endif
