/* SPDX-License-Identifier: Apache-2.0
 *
 * calc_access - which places in memory an instruction accesses, in words and as JSON.
 */
#ifndef DWELL_CMD_CALC_ACCESS_H
#define DWELL_CMD_CALC_ACCESS_H

#include "analyze/access_places.h"
#include "base/buf.h"
#include "base/json.h"

/* "walks by 64 bytes over 64.0 MB", or "~62 lines in 2 pages"; nothing: none is known. */
void calc_access_places(const struct access_place *a, struct buf *ret);
/* "known 12.3 % of the times"; nothing: nearly always. */
void calc_access_share(const struct access_place *a, struct buf *ret);
/* An object. */
void calc_access_json(const struct access_place *a, struct json *j);

#endif
