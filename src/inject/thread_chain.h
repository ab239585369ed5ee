/* SPDX-License-Identifier: Apache-2.0
 *
 * thread_chain - memory that is kept for each thread, to be another's when it is gone.
 *
 * Without a lock, as a signal's handler may interrupt anything here.  Before memory for
 * another thread is made some of those that there are are looked at, whether they are
 * gone: a few for each that comes.  What one leaves over the next ones have, or those
 * that stay, as the threads of a pool, would be passed a few at a time, each time with
 * memory for one more.  So there is no more than for a seventh beyond those that were
 * ever there at once.
 */
#ifndef DWELL_INJECT_THREAD_CHAIN_H
#define DWELL_INJECT_THREAD_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_CHAIN_EACH 8

/* First in what is kept. */
struct thread_link {
	struct thread_link *next; /* made before */
};

/* Zero-initialise. */
struct thread_chain {
	struct thread_link *newest, *hand; /* the next to be looked at */
	uint32_t n_made;
	uint32_t n_left; /* looks; who writes at the same time may take away some */
};

static inline struct thread_link *thread_chain_newest(const struct thread_chain *c)
{
	return __atomic_load_n(&c->newest, __ATOMIC_ACQUIRE);
}

/* Returns how many there were before. */
static inline uint32_t thread_chain_add(struct thread_chain *c, struct thread_link *t)
{
	uint32_t n = __atomic_fetch_add(&c->n_made, 1, __ATOMIC_RELAXED);

	t->next = __atomic_load_n(&c->newest, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&c->newest, &t->next, t, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return n;
}

static inline struct thread_link *thread_chain_turn(struct thread_chain *c)
{
	struct thread_link *t = __atomic_load_n(&c->hand, __ATOMIC_RELAXED);

	if (!t)
		t = thread_chain_newest(c);
	if (t)
		__atomic_store_n(&c->hand, t->next, __ATOMIC_RELAXED);
	return t;
}

/* One whose thread is gone, which take() found, and made tid's; NULL: none was met. */
static inline struct thread_link *thread_chain_reuse(struct thread_chain *c, int tid,
						     bool (*take)(struct thread_link *t,
								  int tid))
{
	uint32_t n_there = __atomic_load_n(&c->n_made, __ATOMIC_RELAXED);
	uint32_t n = __atomic_load_n(&c->n_left, __ATOMIC_RELAXED) + THREAD_CHAIN_EACH;
	struct thread_link *t = NULL;

	n = n < n_there ? n : n_there; /* each once */
	while (n && (t = thread_chain_turn(c)) && !take(t, tid))
		n--;
	__atomic_store_n(&c->n_left, n && t ? n - 1 : 0, __ATOMIC_RELAXED);
	return n ? t : NULL;
}

#endif
