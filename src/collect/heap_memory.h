/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_memory - reads memory of a process that looks through it and takes none: whoever
 * reads a page that is not there yet has it made.
 *
 * What a process has never touched counts as zeroes.  So does what it has touched of
 * shared memory, and the kernel has taken away since.  Zero-initialise, release with
 * heap_memory_fini().
 */
#ifndef DWELL_COLLECT_HEAP_MEMORY_H
#define DWELL_COLLECT_HEAP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct heap_memory {
	pid_t pid;
	int pagemap;	  /* of /proc/PID */
	bool has_pagemap; /* else all is read */
	bool has_scan;	  /* the kernel looks for pages itself, as far as is known */
};

void heap_memory_begin(struct heap_memory *m, pid_t pid);
void heap_memory_fini(struct heap_memory *m);
/* As functions of heap_roots and heap_reach; ctx is the struct.  False: not all of it is
 * readable. */
bool heap_memory_read(void *ctx, uint64_t address, void *to, size_t size);
/* The same where blocks are: less than a page is touched anyway, and not asked about. */
bool heap_memory_read_blocks(void *ctx, uint64_t address, void *to, size_t size);
/* Up to where there is nothing, maybe not all of it. */
uint64_t heap_memory_skip(void *ctx, uint64_t address, uint64_t end);

#endif
