/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_memory - memory as far as it is known, while code is gone over that stores to it.
 *
 * What was stored is remembered; the rest is as it was at the beginning, until something
 * is stored nobody knows where.  Freestanding, bounded, of one owner.
 */
#ifndef DWELL_DECODE_X86_MEMORY_H
#define DWELL_DECODE_X86_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/x86_alu.h"

#define X86_MEMORY_N_STORES 48 /* then all that was is forgotten */

/* Gives what was at addr in the beginning, up to 8 bytes; false: it is not known. */
typedef bool x86_memory_read_fn(void *ctx, uint64_t addr, void *to, unsigned bytes);

struct x86_memory_store {
	uint64_t addr, bytes;
	struct x86_value value; /* of more than 8 bytes: not known */
};

struct x86_memory {
	x86_memory_read_fn *read;     /* NULL: nothing is known */
	x86_memory_read_fn *constant; /* of what nobody can store to; NULL: the same */
	void *ctx;
	bool is_lost; /* what there was in the beginning */
	unsigned n_stores;
	struct x86_memory_store stores[X86_MEMORY_N_STORES];
};

void x86_memory_init(struct x86_memory *m, x86_memory_read_fn *read,
		     x86_memory_read_fn *constant, void *ctx);
/* addr: not known in all bits, nor is what is there.  Up to 8 bytes. */
struct x86_value x86_memory_load(const struct x86_memory *m, struct x86_value addr,
				 unsigned bytes);
void x86_memory_store(struct x86_memory *m, struct x86_value addr, unsigned bytes,
		      struct x86_value value);
/* Something was stored somewhere there: what, nobody knows. */
void x86_memory_spoil(struct x86_memory *m, struct x86_value addr, uint64_t bytes);
/* Something was stored somewhere. */
void x86_memory_lose(struct x86_memory *m);
/* Has anything been stored there? */
bool x86_memory_is_changed(const struct x86_memory *m, uint64_t addr, uint64_t bytes);

#endif
