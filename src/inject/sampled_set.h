/* SPDX-License-Identifier: Apache-2.0
 *
 * sampled_set - the addresses of the few blocks that were sampled, so that the release of
 * another one costs a look into a table of 4 KB.
 *
 * Without locks, for threads and handlers; an address is added before anybody can remove
 * it.  Where there are more than it has room for, others are taken for members, too.
 */
#ifndef DWELL_INJECT_SAMPLED_SET_H
#define DWELL_INJECT_SAMPLED_SET_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLED_SET_BUCKETS 4096
#define SAMPLED_SET_SLOTS   4

/* Zero-initialised. */
struct sampled_set {
	uint8_t n[SAMPLED_SET_BUCKETS]; /* of addresses, or SAMPLED_SET_FULL */
	uint64_t at[SAMPLED_SET_BUCKETS][SAMPLED_SET_SLOTS]; /* 0: free */
};

/* For good: what may be in there is not known any more. */
#define SAMPLED_SET_FULL 255

void sampled_set_add(struct sampled_set *s, const void *p);
bool sampled_set_find(struct sampled_set *s, unsigned bucket, const void *p);

static inline unsigned sampled_set_bucket(const void *p)
{
	return (uint32_t)(uintptr_t)p * UINT32_C(0x9e3779b1) >> 20;
}

/* False: it is none. */
static inline bool sampled_set_may_have(const struct sampled_set *s, const void *p)
{
	return __builtin_expect(
		__atomic_load_n(&s->n[sampled_set_bucket(p)], __ATOMIC_RELAXED) != 0, 0);
}

/* Was it a member? */
static inline bool sampled_set_remove(struct sampled_set *s, const void *p)
{
	return sampled_set_may_have(s, p) &&
	       sampled_set_find(s, sampled_set_bucket(p), p);
}

#endif
