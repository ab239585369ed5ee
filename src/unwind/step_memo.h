/* SPDX-License-Identifier: Apache-2.0
 *
 * step_memo - from where to where steps were proved by code.
 *
 * Where no table tells, a step is made when the code at both of its ends allows for it
 * (no_table), and to read code that may be gone takes system calls.  What was allowed
 * once is allowed the next time the same step leads from the one place to the other:
 * nothing of the code needs to be read then, nor be there any more.
 *
 * Freestanding; one thread, whose nested signals may ask at any time.  Zeroed memory is a
 * valid empty one.
 */
#ifndef DWELL_UNWIND_STEP_MEMO_H
#define DWELL_UNWIND_STEP_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_MEMO_BITS 10

/* from is written last and cleared first. */
struct step_pair {
	uint64_t from, to; /* return addresses; from 0: empty */
};

struct step_memo {
	struct step_pair pairs[1 << STEP_MEMO_BITS];
};

static inline unsigned step_memo_place(uint64_t from, uint64_t to)
{
	uint64_t hash = (from ^ to << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)(hash >> (64 - STEP_MEMO_BITS));
}

/* Was this step proved? */
static inline bool step_memo_has(const struct step_memo *m, uint64_t from, uint64_t to)
{
	const struct step_pair *p = &m->pairs[step_memo_place(from, to)];

	if (!from || __atomic_load_n(&p->from, __ATOMIC_RELAXED) != from)
		return false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return p->to == to;
}

static inline void step_memo_put(struct step_memo *m, uint64_t from, uint64_t to)
{
	struct step_pair *p = &m->pairs[step_memo_place(from, to)];

	__atomic_store_n(&p->from, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	p->to = to;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&p->from, from, __ATOMIC_RELAXED);
}

#endif
