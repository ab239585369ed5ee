/* SPDX-License-Identifier: Apache-2.0 */
#include "base/distinct.h"

#include <string.h>

#include "base/map.h"
#include "base/search.h"

uint32_t distinct_hash(uint64_t value)
{
	return (uint32_t)(hash_u64(value ^ UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Where it is, or belongs. */
static uint32_t place_of(const struct distinct *d, uint32_t hash)
{
	return (uint32_t)search_split(d->n, i, d->kept[i].hash < hash);
}

void distinct_add(struct distinct *d, uint32_t hash, uint64_t times)
{
	uint32_t i = place_of(d, hash);

	if (i < d->n && d->kept[i].hash == hash) {
		d->kept[i].times += times;
		return;
	}
	if (i == DISTINCT_MAX)
		return;
	d->n += d->n < DISTINCT_MAX;
	memmove(&d->kept[i + 1], &d->kept[i], (d->n - i - 1) * sizeof(d->kept[0]));
	d->kept[i] = (struct distinct_value){ hash, times };
}

double distinct_count(const struct distinct *d)
{
	double largest;

	if (d->n < DISTINCT_MAX)
		return d->n;
	largest = ((double)d->kept[DISTINCT_MAX - 1].hash + 1) / ((double)UINT32_MAX + 1);
	return (DISTINCT_MAX - 1) / largest;
}

double distinct_once(const struct distinct *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n; i++)
		n += d->kept[i].times == 1;
	return d->n ? n * distinct_count(d) / d->n : 0;
}
