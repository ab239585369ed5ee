/* SPDX-License-Identifier: Apache-2.0
 *
 * frames - the locations of a source resolved into the profile's frames and functions.
 */
#ifndef DWELL_ANALYZE_FRAMES_H
#define DWELL_ANALYZE_FRAMES_H

#include <stdbool.h>

#include "analyze/profile_data.h"

/* Resolve the locations that are used (NULL: all), image by image. */
void frames_resolve(struct profile *p, struct input *s, const bool *is_used);

#endif
