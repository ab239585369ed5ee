/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/poisson.h"

#define LOG_BITS 24
/* ln 2 in 2^-32. */
#define LN_2 UINT64_C(2977044472)

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

uint64_t poisson_seed(uint64_t a, uint64_t b)
{
	return mix(a ^ mix(b)) | 1;
}

/* Marsaglia's xorshift: every number but 0. */
static uint64_t random_number(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* log2(v) in 2^-LOG_BITS, by squaring what is left of it bit by bit. */
static uint64_t log_2(uint64_t v)
{
	unsigned n = 63 - (unsigned)__builtin_clzll(v);
	uint64_t log = n, x = v << (63 - n);

	for (int i = 0; i < LOG_BITS; i++) {
		unsigned __int128 square = (unsigned __int128)x * x;
		unsigned is_2 = (unsigned)(square >> 127);

		log = log << 1 | is_2;
		x = (uint64_t)(square >> (63 + is_2));
	}
	return log;
}

uint64_t poisson_next(uint64_t *state, uint64_t mean)
{
	/* -log2 of a number between 0 and 1. */
	uint64_t log = (UINT64_C(64) << LOG_BITS) - log_2(random_number(state));
	uint64_t ln = log * (LN_2 >> 8) >> LOG_BITS;

	return (uint64_t)((unsigned __int128)ln * mean >> LOG_BITS);
}
