/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/wait_place.h"

#include <string.h>

#define WORD_BITS 64
#define N_WORDS	  (WIRE_SAMPLER_N_WAITING / WORD_BITS)

/* Neighbours are in different words, so that few threads write to one. */
static struct {
	uint64_t taken;
} __attribute__((aligned(64))) words[N_WORDS];

static bool take_in(struct wait_place *p, uint32_t word)
{
	uint64_t *taken = &words[word].taken,
		 was = __atomic_load_n(taken, __ATOMIC_RELAXED);
	uint64_t wanted = UINT64_C(1) << p->at / N_WORDS % WORD_BITS;

	while (~was) {
		uint64_t bit = was & wanted ? ~was & (was + 1) : wanted;

		if (__atomic_compare_exchange_n(taken, &was, was | bit, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			p->at = (uint32_t)__builtin_ctzll(bit) * N_WORDS + word;
			p->is_taken = true;
			return true;
		}
	}
	return false;
}

bool wait_place_take(struct wait_place *p)
{
	uint32_t first = p->at % N_WORDS;

	for (uint32_t i = 0; i < N_WORDS && !p->is_taken; i++)
		take_in(p, (first + i) % N_WORDS);
	return p->is_taken;
}

void wait_place_give(struct wait_place *p)
{
	uint32_t at = p->at;

	if (!p->is_taken)
		return;
	__atomic_signal_fence(
		__ATOMIC_SEQ_CST); /* a handler may take another from here */
	p->is_taken = false;
	__atomic_fetch_and(&words[at % N_WORDS].taken, ~(UINT64_C(1) << at / N_WORDS),
			   __ATOMIC_RELEASE);
}

void wait_place_reset(void)
{
	memset(words, 0, sizeof(words));
}
