/* SPDX-License-Identifier: Apache-2.0
 *
 * system_exes - executables of a recording, whoever has met them.
 *
 * Each recorder that sums numbers the files it meets by itself; here a path has one
 * number for all of them, and a file whose path nobody knows is its recorder's own.
 * Zero-initialise.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_EXES_H
#define DWELL_COLLECT_SYSTEM_EXES_H

#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

struct system_images;

struct system_exes {
	struct intern *paths;
	struct map met;	    /* hash of a recorder's number → ours */
	struct map by_path; /* id in paths → ours */
	VEC(uint32_t) all;  /* ids in paths of 1 and up, 0: not known */
};

void system_exes_fini(struct system_exes *x);
/* Of an image that these have met, which stay where they are; 0 of 0. */
uint32_t system_exes_number(struct system_exes *x, const struct system_images *images,
			    uint32_t image);
/* NULL: not known.  Borrowed. */
const char *system_exes_path(const struct system_exes *x, uint32_t number);

#endif
