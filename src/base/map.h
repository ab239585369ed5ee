/* SPDX-License-Identifier: Apache-2.0
 *
 * map - a hash map from a 64-bit key to a 64-bit value, and the hash functions.
 *
 * Open addressing, so a pointer from map_slot() is good until the next insertion.
 * Zero-initialise, release with map_fini().  Any key is allowed.
 */
#ifndef DWELL_BASE_MAP_H
#define DWELL_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key, value;
	bool used;
};

struct map {
	struct map_entry *at;
	size_t n, cap; /* cap is a power of two, or 0 */
};

void map_fini(struct map *m);
void map_clear(struct map *m);
/* So many keys in all will not have it grow. */
void map_reserve(struct map *m, size_t n);
/* The value's place, or NULL when the key is absent. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* The value's place, inserted as 0 when absent; *is_new (NULL allowed) tells. */
uint64_t *map_slot(struct map *m, uint64_t key, bool *is_new);
bool map_remove(struct map *m, uint64_t key);

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

uint64_t hash_bytes(const void *data, size_t size);

#endif
