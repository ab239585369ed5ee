/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/fpe_sums.h"

#include "wire/tracer.h"

_Static_assert(WIRE_TRACER_FPE_TYPES == (1 << FPE_SUMS_TYPES) - 1, "a column for each");

void fpe_sums_add(struct fpe_sums *s, uint32_t types)
{
	types &= WIRE_TRACER_FPE_TYPES;
	s->of[EXPERIMENT_FPE_ALL] += types != 0;
	for (unsigned i = 0; i < FPE_SUMS_TYPES; i++)
		s->of[EXPERIMENT_FPE_TYPES + i] += types >> i & 1;
}

void fpe_sums_take_back(struct fpe_sums *s, uint32_t types)
{
	types &= WIRE_TRACER_FPE_TYPES;
	s->of[EXPERIMENT_FPE_ALL] -= types != 0 && s->of[EXPERIMENT_FPE_ALL];
	for (unsigned i = 0; i < FPE_SUMS_TYPES; i++) {
		uint64_t *n = &s->of[EXPERIMENT_FPE_TYPES + i];

		*n -= (types >> i & 1) && *n;
	}
}
