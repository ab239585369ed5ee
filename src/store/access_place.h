/* SPDX-License-Identifier: Apache-2.0
 *
 * access_place - which places in memory one instruction accessed after samples, summed
 * up.
 *
 * Recordings have it as rows of model_access.  Of several, of processes or of recordings,
 * rows add up to what one would have had; but for strides, of which only the most
 * frequent stay.
 */
#ifndef DWELL_STORE_ACCESS_PLACE_H
#define DWELL_STORE_ACCESS_PLACE_H

#include <stdint.h>

#include "base/distinct.h"
#include "store/model.h"

#define ACCESS_PLACE_STRIDES 8

struct access_place_stride {
	int64_t by;
	uint64_t times;
};

struct access_place {
	uint64_t sums[ACCESS_N_WHATS]; /* times, by enum model_access_what */
	uint64_t samples;	       /* after which its address was known */
	uint64_t low, high;	       /* addresses; low > high: none was known */
	struct distinct lines, pages;
	struct access_place_stride strides[ACCESS_PLACE_STRIDES];
};

struct writer;

void access_place_init(struct access_place *p);
/* A row of that instruction, whatever location it has. */
void access_place_add(struct access_place *p, const struct model_access *a);
/* As rows of that process and location. */
void access_place_write(const struct access_place *p, uint32_t process, uint32_t location,
			struct writer *w);

#endif
