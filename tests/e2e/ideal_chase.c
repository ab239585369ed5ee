/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows a ring of places through more memory than caches hold, and works about as many
 * instructions without memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N     (16u << 20)
#define TURNS 2000000

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone, noipa))
#endif

static uint32_t *ring;

static uint64_t next_random(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

/* One ring through all places, in an order that nothing foresees. */
ALONE void lay_ring(void)
{
	uint64_t x = 1;

	ring = malloc(N * sizeof(*ring));
	if (!ring)
		exit(2);
	for (uint32_t i = 0; i < N; i++)
		ring[i] = i;
	for (uint32_t i = N - 1; i; i--) {
		uint32_t other = (uint32_t)((x = next_random(x)) >> 33) % i;
		uint32_t was = ring[i];

		ring[i] = ring[other];
		ring[other] = was;
	}
}

ALONE uint32_t chase(uint32_t at)
{
	for (int i = 0; i < TURNS; i++)
		at = ring[at];
	return at;
}

ALONE uint64_t compute(uint64_t x)
{
	for (int i = 0; i < TURNS; i++)
		x = next_random(x);
	return x;
}

int main(void)
{
	lay_ring();
	return printf("%u %llu\n", chase(0), (unsigned long long)compute(7)) < 0;
}
