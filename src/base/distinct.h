/* SPDX-License-Identifier: Apache-2.0
 *
 * distinct - how many different values there were, and how often they came again, from a
 * sample of them that is bounded.
 *
 * Of all values those with the smallest hashes are kept, each with how often it came:
 * a value is among them from its first time on or never, so that what is kept is a fair
 * choice of all, and exact.  Two of them merge to what one would have become.
 */
#ifndef DWELL_BASE_DISTINCT_H
#define DWELL_BASE_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#define DISTINCT_MAX 32 /* values are kept */

struct distinct_value {
	uint32_t hash;
	uint64_t times;
};

struct distinct {
	uint32_t n; /* of these, by hash */
	struct distinct_value kept[DISTINCT_MAX];
};

/* Of any number. */
uint32_t distinct_hash(uint64_t value);
/* Quickly: would it be kept, or is it? */
static inline bool distinct_keeps(const struct distinct *d, uint32_t hash)
{
	return d->n < DISTINCT_MAX || hash <= d->kept[DISTINCT_MAX - 1].hash;
}

void distinct_add(struct distinct *d, uint32_t hash, uint64_t times);
/* How many there were: exactly up to DISTINCT_MAX - 1, else within 18 % in two of three
 * cases. */
double distinct_count(const struct distinct *d);
/* The same of those that came only once. */
double distinct_once(const struct distinct *d);

#endif
