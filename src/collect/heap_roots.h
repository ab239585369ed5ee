/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_roots - the memory of a process from which a pointer keeps a block reachable: all
 * that can be written but what belongs to an allocator, to the tracer, or is below the
 * end of a stack.
 *
 * Blocks may lie in it; they are not part of it.
 */
#ifndef DWELL_COLLECT_HEAP_ROOTS_H
#define DWELL_COLLECT_HEAP_ROOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/heap_finder.h"
#include "collect/heap_maps.h"
#include "collect/heap_ranges.h"

/* What is known of a process besides what the kernel tells. */
struct heap_roots_of {
	pid_t pid;
	uint32_t tid; /* of the thread that ends it, whose stack ends there: */
	uint64_t stack_pointer;
	bool is_glibc;
	const struct heap_finder *finder;
	const struct heap_maps *maps;	/* what the program has mapped itself */
	const struct heap_ranges *ours; /* the tracer's */
};

typedef bool heap_roots_read_fn(void *ctx, uint64_t address, void *to, size_t size);
/* Ascending. */
must_use int heap_roots_find(const struct heap_roots_of *of, heap_roots_read_fn *read,
			     void *ctx, struct heap_ranges *ret, struct err *e);
/* The same of a text as /proc/PID/maps is, with the stack pointers of its threads. */
void heap_roots_of_text(const struct heap_roots_of *of, const char *text, size_t size,
			const uint64_t *stack_pointers, size_t n_stack_pointers,
			heap_roots_read_fn *read, void *ctx, struct heap_ranges *ret);

#endif
