/* SPDX-License-Identifier: Apache-2.0
 *
 * matching - which functions of several recordings are the same, though not called so.
 *
 * On loading, functions of one name in images of one name are shared already.  Of the
 * rest: images that were renamed, functions that moved to another file or that the
 * compiler cloned are matched by name; what has no such match may be guessed by shape.
 * Frames are rewritten to the function of the earliest recording, so that every view of
 * the profile compares; lines are counted from where the function begins.
 */
#ifndef DWELL_ANALYZE_MATCHING_H
#define DWELL_ANALYZE_MATCHING_H

#include "analyze/profile_data.h"

void matching_apply(struct profile *p, bool may_guess);

#endif
