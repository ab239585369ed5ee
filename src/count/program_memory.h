/* SPDX-License-Identifier: Apache-2.0
 *
 * program_memory - where a program says that something is, and it may not be.
 */
#ifndef DWELL_COUNT_PROGRAM_MEMORY_H
#define DWELL_COUNT_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <sys/uio.h>

#include "bare/sys.h"

/* How much could be copied. */
static inline long program_memory_copy(long call, const void *own, uint64_t other,
				       size_t bytes)
{
	struct iovec here = { (void *)own, bytes }, there = { (void *)other, bytes };

	return sys_call(call, sys_getpid(), &here, 1, &there, 1, 0);
}

static inline bool program_memory_read(void *to, uint64_t from, size_t bytes)
{
	return program_memory_copy(SYS_process_vm_readv, to, from, bytes) == (long)bytes;
}

static inline bool program_memory_write(uint64_t to, const void *from, size_t bytes)
{
	return program_memory_copy(SYS_process_vm_writev, from, to, bytes) == (long)bytes;
}

/* With the final 0; false: it is longer, or not all there. */
static inline bool program_memory_read_text(char *to, uint64_t from, size_t size)
{
	long n = program_memory_copy(SYS_process_vm_readv, to, from, size);

	for (long i = 0; i < n; i++)
		if (!to[i])
			return true;
	*to = 0;
	return false;
}

#endif
