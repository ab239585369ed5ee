/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_site - a direct call or jump of a program, which may lead through a counter.
 */
#ifndef DWELL_COLLECT_ANCHOR_SITE_H
#define DWELL_COLLECT_ANCHOR_SITE_H

#include <stdint.h>

#define ANCHOR_SITE_BYTES 5u

struct anchor_site {
	uint64_t addr; /* of the instruction */
	uint64_t target;
	uint64_t times; /* in a window */
	uint32_t image; /* of the recording, and where it is in that */
	uint64_t offset;
};

#endif
