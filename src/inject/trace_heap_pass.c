/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_heap_pass.h"

#include <stdbool.h>
#include <stdlib.h>

#include "inject/trace_local.h"

#define EXPORT	  __attribute__((visibility("default")))
#define likely(x) __builtin_expect(x, 1)

struct trace_heap_pass trace_heap_pass;

/* A block of no bytes counts as one. */
static inline bool is_passed(struct trace_local *l, size_t size)
{
	if ((uint64_t)l->until_next <= size)
		return false;
	l->until_next -= (int64_t)size + 1;
	l->last_taken = TRACE_HEAP_PASSED;
	return true;
}

EXPORT void *malloc(size_t size)
{
	void *(*f)(size_t) = __atomic_load_n(&trace_heap_pass.malloc, __ATOMIC_RELAXED);

	if (likely(f && is_passed(trace_local(), size)))
		return f(size);
	return trace_heap_malloc(size);
}

EXPORT void *realloc(void *old, size_t size)
{
	void *(*f)(void *, size_t) =
		__atomic_load_n(&trace_heap_pass.realloc, __ATOMIC_RELAXED);

	if (likely(f && !sampled_set_may_have(&trace_heap_pass.sampled, old) &&
		   is_passed(trace_local(), size)))
		return f(old, size);
	return trace_heap_realloc(old, size);
}

EXPORT void free(void *p)
{
	void (*f)(void *) = __atomic_load_n(&trace_heap_pass.free, __ATOMIC_RELAXED);

	if (likely(f && !sampled_set_may_have(&trace_heap_pass.sampled, p)))
		f(p);
	else
		trace_heap_free(p);
}
