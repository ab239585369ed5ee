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
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

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

/* Of a process, by a file that is open for reading or both (O_RDONLY, O_RDWR): *ret_fd,
 * which stays where it is, and is -1 if it cannot be had. */
must_use int inject_memory_open(pid_t pid, int how, int *ret_fd,
				struct inject_memory *ret, struct err *e);

/* A string of at most cap - 1 bytes, of a longer one its beginning. */
bool inject_memory_string(const struct inject_memory *m, uint64_t at, char *ret,
			  size_t cap);

#endif
