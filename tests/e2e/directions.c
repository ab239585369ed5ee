/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches whose shares are known, and symbols that say where they are: of each fork
 * NAME_fork is the branch and NAME_next the instruction behind it.  Prints how often each
 * was taken, and how often it was met.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 21000000 /* three divide it */
#define HEAP  (1u << 12)
#define FAR   (HEAP + 512) /* in it, words from its begin */
/* So long that its memory is looked at several times meanwhile, however busy the machine.
 */
#define SETTLED_TURNS (6 * TURNS)

#define SEED 88172645463325252u

/* Of a state that stays in a register: a sample tells all that comes. */
static inline uint64_t chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state & 0xff;
}

/* In a register. */
static inline uint64_t *pointer(uint64_t *to)
{
	__asm__("" : "+r"(to));
	return to;
}

/* Jumps to low where the value, an operand as its constraint says, is below the limit. */
#define FORK(name, constraint, value, limit)                                             \
	__asm__ goto("cmpq %1, %0\n" #name "_fork: jb %l[low]\n" #name "_next:"          \
		     :                                                                   \
		     : constraint(value), "r"((uint64_t)(limit))                         \
		     : "cc"                                                              \
		     : low)

#define FORKS(name, turns, constraint, value, limit)                                     \
	static __attribute__((noinline)) uint64_t name(uint64_t *heap)                   \
	{                                                                                \
		uint64_t n = 0, state = SEED;                                            \
                                                                                         \
		for (uint64_t i = 0; i < (turns); i++) {                                 \
			uint64_t drawn = chance(&state);                                 \
			volatile uint64_t kept = drawn;                                  \
                                                                                         \
			heap[i % HEAP] = kept;                                           \
			FORK(name, constraint, value, limit);                            \
			continue;                                                        \
		low:                                                                     \
			n++;                                                             \
		}                                                                        \
		return n;                                                                \
	}

FORKS(often, TURNS, "r", drawn, 240)
FORKS(even, TURNS, "r", drawn, 128)
FORKS(seldom, TURNS, "r", drawn, 16)
FORKS(never, TURNS, "r", drawn, 0)
FORKS(on_stack, TURNS, "m", kept, 64)
FORKS(on_heap, TURNS, "m", heap[(i * 7) % HEAP], 64)
/* Nobody can write to it, as nobody can to tables of jumps. */
static const uint64_t table[8] = { 1, 99, 99, 1, 99, 1, 99, 99 };
FORKS(in_table, TURNS, "m", table[drawn & 7], 64)

/* Written at the beginning, and then read alone. */
FORKS(in_settled, SETTLED_TURNS, "m", heap[HEAP + drawn], 64)

/* What was drawn three turns ago, by a pointer that goes on from there. */
FORKS(in_reach, TURNS, "m", *pointer(heap + (i - 3) % HEAP), 64)

/* Far from wherever a register points to: what was drawn the turn before. */
static __attribute__((noinline)) uint64_t in_far(uint64_t *heap)
{
	uint64_t n = 0, state = SEED;

	for (uint64_t i = 0; i < TURNS; i++) {
		FORK(in_far, "m", heap[FAR], 64);
		heap[FAR] = chance(&state);
		continue;
	low:
		heap[FAR] = chance(&state);
		n++;
	}
	return n;
}

/* Loops of three turns, of which the first one waits: samples are there. */
static __attribute__((noinline)) uint64_t waits(uint64_t *heap)
{
	uint64_t n = 0, waited = SEED;

	for (uint64_t i = 0; i < TURNS / 3; i++) {
		heap[i % HEAP] = i;
		for (uint64_t turn = 0;; n++) {
			if (turn++ == 0)
				__asm__ volatile(".rept 40\nimul %0, %0\n.endr"
						 : "+r"(waited));
			FORK(waits, "r", turn, 3);
			break;
		low:;
		}
	}
	return n;
}

/* One of eight places, each as often as the others. */
static __attribute__((noinline)) void spread(void)
{
	uint64_t state = SEED;

	for (uint64_t i = 0; i < TURNS; i++)
		__asm__ volatile("and $7, %0\n"
				 "shl $4, %0\n"
				 "lea spread_slots(%%rip), %%rcx\n"
				 "add %0, %%rcx\n"
				 "spread_leap: jmp *%%rcx\n"
				 ".p2align 4\n"
				 "spread_slots:\n"
				 ".rept 8\n"
				 "jmp 1f\n"
				 ".p2align 4\n"
				 ".endr\n"
				 "1:"
				 :
				 : "a"(chance(&state))
				 : "rcx", "cc");
}

int main(void)
{
	uint64_t *heap = calloc(FAR + 1, sizeof(*heap));

	if (!heap)
		return 1;
	for (uint64_t i = 0; i < 256; i++)
		heap[HEAP + i] = i * 7 % 256;
#define RUN_LONG(name, turns) printf(#name " %" PRIu64 " %d\n", name(heap), turns)
#define RUN(name)	      RUN_LONG(name, TURNS)
	RUN(often);
	RUN(even);
	RUN(seldom);
	RUN(never);
	RUN(on_stack);
	RUN(on_heap);
	RUN(in_table);
	RUN_LONG(in_settled, SETTLED_TURNS);
	RUN(in_reach);
	RUN(in_far);
	RUN(waits);
	spread();
	free(heap);
	return 0;
}
