/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_memory - memory of a process into which something is put, read by address.
 *
 * Whatever it holds may be anything: who reads has limits of its own.
 */
#ifndef DWELL_COLLECT_INJECT_MEMORY_H
#define DWELL_COLLECT_INJECT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inject_memory {
	/* All of it, or false. */
	bool (*read)(void *ctx, uint64_t at, void *to, size_t bytes);
	void *ctx;
};

static inline bool inject_memory_read(const struct inject_memory *m, uint64_t at,
				      void *to, size_t bytes)
{
	return m->read(m->ctx, at, to, bytes);
}

/* A string of at most cap - 1 bytes, of a longer one its beginning. */
bool inject_memory_string(const struct inject_memory *m, uint64_t at, char *ret,
			  size_t cap);

#endif
