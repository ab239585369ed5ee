/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_rate.h"

struct region_rate region_rate_of(uint64_t ns, uint64_t units)
{
	while ((ns | units) > UINT32_MAX) {
		ns >>= 1;
		units >>= 1;
	}
	if (!ns || !units)
		ns = units = 1;
	return (struct region_rate){ (uint32_t)ns, (uint32_t)units };
}

static uint64_t scale(uint64_t v, uint64_t by, uint64_t of)
{
	return v / of * by + v % of * by / of;
}

uint64_t region_rate_ns(struct region_rate r, uint64_t units)
{
	return scale(units, r.ns, r.units);
}

uint64_t region_rate_units(struct region_rate r, uint64_t ns)
{
	return scale(ns, r.units, r.ns);
}
