/* SPDX-License-Identifier: Apache-2.0
 *
 * session_sums - has what a session's sources still keep together told at once.
 *
 * Sums of the kernel are fetched once a second and are of the time until then.  Where one
 * interval of the recording ends they are fetched first, so that what came before is not
 * counted to the next.  One thread.
 */
#ifndef DWELL_COLLECT_SESSION_SUMS_H
#define DWELL_COLLECT_SESSION_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct source;
struct tracker;

/* Returns the CPU time that it took: threads of the whole machine may be gone through. */
uint64_t session_sums_tell(struct source *const *these, size_t n,
			   struct tracker *tracker);

#endif
