/* SPDX-License-Identifier: Apache-2.0
 *
 * path_memory - memory as far as it is known, while code is gone over that stores to it.
 *
 * What was stored is remembered; the rest is as it was at the beginning, until something
 * is stored nobody knows where.  Freestanding, bounded, of one owner.
 */
#ifndef DWELL_DECODE_PATH_MEMORY_H
#define DWELL_DECODE_PATH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/known_bits.h"

#define PATH_MEMORY_N_STORES 48 /* then all that was is forgotten */

/* Gives what was at addr in the beginning, up to 8 bytes; false: it is not known. */
typedef bool path_memory_read_fn(void *ctx, uint64_t addr, void *to, unsigned bytes);

struct path_memory_store {
	uint64_t addr, bytes;
	struct known_bits value; /* of more than 8 bytes: not known */
};

struct path_memory {
	path_memory_read_fn *read;     /* NULL: nothing is known */
	path_memory_read_fn *constant; /* of what nobody can store to; NULL: the same */
	void *ctx;
	bool is_lost; /* what there was in the beginning */
	unsigned n_stores;
	struct path_memory_store stores[PATH_MEMORY_N_STORES];
};

void path_memory_init(struct path_memory *m, path_memory_read_fn *read,
		      path_memory_read_fn *constant, void *ctx);
/* addr: not known in all bits, nor is what is there.  Up to 8 bytes. */
struct known_bits path_memory_load(const struct path_memory *m, struct known_bits addr,
				   unsigned bytes);
void path_memory_store(struct path_memory *m, struct known_bits addr, unsigned bytes,
		       struct known_bits value);
/* Something was stored somewhere there: what, nobody knows. */
void path_memory_spoil(struct path_memory *m, struct known_bits addr, uint64_t bytes);
/* Something was stored somewhere. */
void path_memory_lose(struct path_memory *m);
/* Has anything been stored there? */
bool path_memory_is_changed(const struct path_memory *m, uint64_t addr, uint64_t bytes);

#endif
