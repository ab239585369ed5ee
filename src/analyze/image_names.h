/* SPDX-License-Identifier: Apache-2.0
 *
 * image_names - what images are called: the last component of their paths, and as much
 * before it as tells two files of one recording apart.
 *
 * Two recordings may have one program in two places; in one recording these are two
 * programs.
 */
#ifndef DWELL_ANALYZE_IMAGE_NAMES_H
#define DWELL_ANALYZE_IMAGE_NAMES_H

#include "analyze/profile_data.h"

/* Fills p->image_labels: only what needs more than its last component. */
void image_names_choose(struct profile *p);
const char *image_names_of(const struct profile *p, const char *path);

#endif
