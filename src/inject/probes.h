/* SPDX-License-Identifier: Apache-2.0
 *
 * probes - how many threads are looked at, whether they are gone, before memory for
 * another one is made: on the whole some for each that comes.
 *
 * What one leaves over the next ones have, or those that stay, as the threads of a pool,
 * would be passed a few at a time, each time with memory for one more.  So there is no
 * more than for an eighth beyond those that were ever there at once.
 */
#ifndef DWELL_INJECT_PROBES_H
#define DWELL_INJECT_PROBES_H

#include <stdint.h>

#define PROBES_EACH 8

/* Who writes at the same time as another may take away some of its. */
struct probes {
	uint32_t n_left;
};

/* How many may be looked at now, of so many: each once. */
static inline uint32_t probes_begin(const struct probes *p, uint32_t n_there)
{
	uint32_t n = __atomic_load_n(&p->n_left, __ATOMIC_RELAXED) + PROBES_EACH;

	return n < n_there ? n : n_there;
}

static inline void probes_end(struct probes *p, uint32_t n_left)
{
	__atomic_store_n(&p->n_left, n_left, __ATOMIC_RELAXED);
}

#endif
