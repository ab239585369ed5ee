/* SPDX-License-Identifier: Apache-2.0
 *
 * arena - memory of one lifetime: allocate piecewise, release at once.
 *
 * Zero-initialise, release with arena_fini().  What it returns is zeroed, aligned to
 * 8 bytes and never moves.
 */
#ifndef DWELL_BASE_ARENA_H
#define DWELL_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	char *at, *end;
	size_t total_bytes;
};

void arena_fini(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
void *arena_memdup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
