/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_words - who may have caused a stall, as text and as JSON.
 */
#ifndef DWELL_CMD_STALL_WORDS_H
#define DWELL_CMD_STALL_WORDS_H

#include "analyze/stall_place.h"
#include "base/buf.h"
#include "base/json.h"

/* "D-cache miss, DTLB miss ≤ 2.9, mispredict of 3 places, unexplained 3.1": each cause
 * once, with the most that it explains where that is less than all; what is of no other
 * address is of the place's own, or of none in particular, beside which others stand in
 * brackets: "mispredict (also of 0x2000) ≤ 15.0". */
void stall_words_put(const struct stall_place *x, struct buf *to);
/* Keys of the object that is open: cycles each time, and culprits. */
void stall_words_json(const struct stall_place *x, struct json *j);

#endif
