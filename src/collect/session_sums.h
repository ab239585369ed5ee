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

struct source;
struct tracker;

void session_sums_tell(struct source *const *these, size_t n, struct tracker *tracker);

#endif
