/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_heap_pass - calls of the allocator's that nobody wants to know of, where blocks
 * are sampled or the heap is not observed: they go on to it by a jump, without a frame of
 * ours.
 *
 * A thread counts down the bytes to the next block before it is there.  Some calls fail:
 * those that pass leave what remains of the distance, which has no memory, and of those
 * that do not it was met, but by no block: it is drawn again (inject/trace_heap).
 */
#ifndef DWELL_INJECT_TRACE_HEAP_PASS_H
#define DWELL_INJECT_TRACE_HEAP_PASS_H

#include <stddef.h>

#include "inject/sampled_set.h"

#define TRACE_HEAP_HIDDEN __attribute__((visibility("hidden")))

/* The allocator's calls from when the first block is looked at; before NULL, and free
 * ours. */
struct trace_heap_pass {
	void *(*malloc)(size_t size);
	void *(*realloc)(void *old, size_t size);
	void (*free)(void *p);
};

TRACE_HEAP_HIDDEN extern struct trace_heap_pass trace_heap_pass;
TRACE_HEAP_HIDDEN extern struct sampled_set trace_heap_sampled;

/* What is to be observed perhaps, in inject/trace_heap.  They are jumped to: their caller
 * is the wrapper's. */
TRACE_HEAP_HIDDEN void *trace_heap_malloc(size_t size);
TRACE_HEAP_HIDDEN void *trace_heap_realloc(void *old, size_t size);
TRACE_HEAP_HIDDEN void trace_heap_free(void *p);

#endif
