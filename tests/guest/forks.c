/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches of aarch64 that are taken by chance, one kind in each function: prints how
 * often each was taken and met.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define TURNS 2000000

static inline uint64_t chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state & 0xff;
}

/* code: jumps to low or not, by what it finds in %0. */
#define FORKS(name, code)                                                                \
	static __attribute__((noinline)) uint64_t name(void)                             \
	{                                                                                \
		uint64_t n = 0, state = 88172645463325252u;                              \
                                                                                         \
		for (uint64_t i = 0; i < TURNS; i++) {                                   \
			volatile uint64_t kept = chance(&state);                         \
			uint64_t drawn = kept;                                           \
                                                                                         \
			__asm__ goto(code : : "r"(drawn) : "cc", "x9" : low);            \
			continue;                                                        \
		low:                                                                     \
			n++;                                                             \
		}                                                                        \
		return n;                                                                \
	}

FORKS(by_flags, "cmp %0, #64\n b.lo %l[low]")
FORKS(by_bit, "tbnz %w0, #3, %l[low]")
FORKS(by_zero, "and x9, %0, #6\n cbz x9, %l[low]")
FORKS(by_both, "cmp %0, #4\n ccmp %0, #20, #2, hs\n b.lo %l[low]")

int main(void)
{
	printf("{");
#define RUN(name) printf("\"" #name "\": %" PRIu64 ", ", name())
	RUN(by_flags);
	RUN(by_bit);
	RUN(by_zero);
	RUN(by_both);
	printf("\"turns\": %d}\n", TURNS);
	return 0;
}
