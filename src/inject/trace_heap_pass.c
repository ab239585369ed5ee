/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_heap_pass.h"

#include <stdbool.h>
#include <stdlib.h>

#include "inject/trace_local.h"

#define EXPORT	  __attribute__((visibility("default")))
#define likely(x) __builtin_expect(x, 1)

struct trace_heap_pass trace_heap_pass = { .free = trace_heap_free };
struct sampled_set trace_heap_sampled;

/* A block of no bytes counts as one.  Nothing passes before the allocator's calls are
 * there, as until_next is 0. */
static inline bool is_passed(struct trace_local *l, size_t size)
{
	uint64_t until = (uint64_t)l->until_next, left = until - size - 1;

	if (until <= size)
		return false;
	l->until_next = (int64_t)left;
	return true;
}

EXPORT void *malloc(size_t size)
{
	if (likely(is_passed(trace_local(), size)))
		return __atomic_load_n(&trace_heap_pass.malloc, __ATOMIC_RELAXED)(size);
	return trace_heap_malloc(size);
}

EXPORT void *realloc(void *old, size_t size)
{
	if (likely(!sampled_set_may_have(&trace_heap_sampled, old) &&
		   is_passed(trace_local(), size)))
		return __atomic_load_n(&trace_heap_pass.realloc, __ATOMIC_RELAXED)(old,
										   size);
	return trace_heap_realloc(old, size);
}

EXPORT void free(void *p)
{
	if (likely(!sampled_set_may_have(&trace_heap_sampled, p)))
		__atomic_load_n(&trace_heap_pass.free, __ATOMIC_RELAXED)(p);
	else
		trace_heap_free(p);
}
