/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_heap - what the tracer wraps to observe the heap.
 *
 * An event is written as long as the memory is the caller's: behind the call that takes
 * it, before the one that gives it back, so that the order of events is right though
 * another thread gets the same address at once.  The allocator is whichever comes next in
 * the program's order of libraries, the C library's or another one; what it calls within
 * itself does not come by here.  C++ operators come by as malloc and free.
 *
 * Where blocks are sampled most calls do not come by here (inject/trace_heap_pass): what
 * does has a block that is taken, or is seldom called.  Where every block is observed
 * nothing is ever left to count down; where other calls are observed than the heap's,
 * hardly anything ever counts down to its end.
 */
#include <errno.h>
#include <stdlib.h>

#include "inject/next.h"
#include "inject/poisson.h"
#include "inject/trace_heap_end.h"
#include "inject/trace_heap_pass.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/tracer.h"

#define EXPORT __attribute__((visibility("default")))

__attribute__((weak)) extern int *__errno_location(void);

typedef void *one_size_fn(size_t size);
typedef void *two_sizes_fn(size_t a, size_t b);
typedef void *resize_fn(void *p, size_t size);
typedef void release_fn(void *p);
typedef int aligned_fn(void **ret, size_t alignment, size_t size);

enum heap_call {
	HEAP_MALLOC,
	HEAP_CALLOC,
	HEAP_REALLOC,
	HEAP_FREE,
	HEAP_POSIX_MEMALIGN,
	HEAP_ALIGNED_ALLOC,
	HEAP_MEMALIGN,
	HEAP_VALLOC,
	HEAP_PVALLOC,
	HEAP_N_CALLS,
};

static const char *const names[HEAP_N_CALLS] = {
	[HEAP_MALLOC] = "malloc",
	[HEAP_CALLOC] = "calloc",
	[HEAP_REALLOC] = "realloc",
	[HEAP_FREE] = "free",
	[HEAP_POSIX_MEMALIGN] = "posix_memalign",
	[HEAP_ALIGNED_ALLOC] = "aligned_alloc",
	[HEAP_MEMALIGN] = "memalign",
	[HEAP_VALLOC] = "valloc",
	[HEAP_PVALLOC] = "pvalloc",
};

static void *next[HEAP_N_CALLS];
static __attribute__((noinline)) void *look_up(enum heap_call call)
{
	void *p = next_symbol(names[call]);

	__atomic_store_n(&next[call], p, __ATOMIC_RELAXED);
	return p;
}

/* NULL: no library has it. */
static inline void *next_of(enum heap_call call)
{
	void *p = __atomic_load_n(&next[call], __ATOMIC_RELAXED);

	return __builtin_expect(p != NULL, 1) ? p : look_up(call);
}

static void *refuse(void)
{
	if (__errno_location)
		*__errno_location() = ENOMEM;
	return NULL;
}

/* From the first block on that is sampled.  Where no library has a call ours goes on
 * refusing it. */
static __attribute__((noinline)) void let_pass(void)
{
	struct trace_heap_pass *pass = &trace_heap_pass;
	one_size_fn *take = (one_size_fn *)next_of(HEAP_MALLOC);
	resize_fn *resize = (resize_fn *)next_of(HEAP_REALLOC);
	release_fn *give = (release_fn *)next_of(HEAP_FREE);

	__atomic_store_n(&pass->free, give ? give : trace_heap_free, __ATOMIC_RELAXED);
	__atomic_store_n(&pass->realloc, resize ? resize : trace_heap_realloc,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&pass->malloc, take ? take : trace_heap_malloc,
			 __ATOMIC_RELEASE);
}

/* Before a thread has anything to count down. */
static inline void need_pass(void)
{
	if (!__atomic_load_n(&trace_heap_pass.malloc, __ATOMIC_ACQUIRE))
		let_pass();
}

/* Nobody asked for the heap: what a thread takes is no more looked at. */
static void let_all_pass(struct trace_local *l)
{
	need_pass();
	l->until_next = INT64_MAX;
}

static inline uintptr_t disguise(const void *p)
{
	return ~(uintptr_t)p;
}

/* A block of no bytes counts as one. */
static inline int64_t extent(size_t size)
{
	return (int64_t)size + 1;
}

/* until_next has been passed: by a thread's first block, or its first behind a pause,
 * that may mean nothing. */
static bool is_next(struct trace_local *l, size_t size)
{
	uint64_t *state = &l->random_state, mean = trace_runtime.sample_bytes;

	if (!*state) {
		*state = poisson_seed((uintptr_t)state, vdso_now_ns());
		int64_t left = (int64_t)poisson_next(state, mean) - extent(size);

		if (left >= 0) {
			l->until_next = left;
			return false;
		}
	}
	l->until_next = (int64_t)poisson_next(state, mean);
	return true;
}

/* A call failed that did not pass, as the distance was no longer than what it asked for:
 * left as it is, it would be known to be short. */
static __attribute__((noinline)) void note_failed(struct trace_local *l)
{
	if (trace_runtime.sample_bytes && l->random_state)
		l->until_next = (int64_t)poisson_next(&l->random_state,
						      trace_runtime.sample_bytes);
}

static __attribute__((noinline)) void observe(struct trace_local *l, const void *p,
					      size_t size, const uint64_t *frame)
{
	struct wire_tracer_alloc r = { .address = (uintptr_t)p, .size_bytes = size };

	l->until_next = 0;
	/* Whatever the distance to the next one was, it was passed unseen: from where
	 * observing goes on it is another, or the first block there were sure of it. */
	if (!trace_runtime_traces(WIRE_TRACER_HEAP) || trace_runtime_is_paused()) {
		l->random_state = 0;
		trace_heap_end_unknown();
		if (trace_runtime.is_on && !(trace_runtime.traces & WIRE_TRACER_HEAP))
			let_all_pass(l);
		return;
	}
	l->last_taken = disguise(p);
	if (trace_runtime.sample_bytes) {
		need_pass();
		if (!is_next(l, size))
			return;
		sampled_set_add(&trace_heap_sampled, p);
	}
	r.stack = trace_thread_stack(frame);
	r.time_ns = vdso_now_ns();
	trace_runtime_write(WIRE_TRACER_ALLOC, &r, sizeof(r), NULL, 0);
}

static inline void note_taken(const void *p, size_t size, const uint64_t *frame)
{
	struct trace_local *l = trace_local();

	int64_t left = l->until_next - extent(size);

	/* Never less than nothing, by which all that a handler takes would pass. */
	if (left < 0) {
		observe(l, p, size, frame);
		return;
	}
	l->until_next = left;
	l->last_taken = disguise(p);
}

static void write_given(enum wire_tracer_kind kind, const void *p)
{
	struct wire_tracer_free r = { .address = (uintptr_t)p };

	r.time_ns = vdso_now_ns();
	trace_runtime_write(kind, &r, sizeof(r), NULL, 0);
}

/* False: it is none that was observed. */
static inline bool note_given(enum wire_tracer_kind kind, const void *p)
{
	if (trace_runtime.sample_bytes && !sampled_set_remove(&trace_heap_sampled, p))
		return false;
	if (!trace_runtime_traces(WIRE_TRACER_HEAP))
		return false;
	write_given(kind, p);
	return true;
}

/* It was not given back after all. */
static void note_kept(const void *p)
{
	if (trace_runtime.sample_bytes)
		sampled_set_add(&trace_heap_sampled, p);
	write_given(WIRE_TRACER_UNMOVE, p);
}

/* For whoever wraps what may be made of others: what they took is known by what was last
 * observed, or by what was counted down where it passed. */
struct made {
	struct trace_local *local;
	int64_t until_next;
};

static inline struct made begin(void)
{
	struct trace_local *l = trace_local();

	l->last_taken = 0;
	return (struct made){ l, l->until_next };
}

static inline void note_made(const struct made *m, const void *p, size_t size,
			     const uint64_t *frame)
{
	if (p && disguise(p) != m->local->last_taken &&
	    m->local->until_next == m->until_next)
		note_taken(p, size, frame);
}

/* The stack ends in the wrapper's caller. */
#define MADE(m, p, size) note_made(m, p, size, __builtin_frame_address(0))

void *trace_heap_malloc(size_t size)
{
	one_size_fn *f = (one_size_fn *)next_of(HEAP_MALLOC);
	void *p = f ? f(size) : refuse();

	if (p)
		note_taken(p, size, __builtin_frame_address(0));
	else
		note_failed(trace_local());
	return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
	struct made m = begin();
	two_sizes_fn *f = (two_sizes_fn *)next_of(HEAP_CALLOC);
	void *p;

	p = f ? f(n, size) : refuse();
	MADE(&m, p, n * size); /* did not overflow, or there were no memory */
	return p;
}

void trace_heap_free(void *p)
{
	release_fn *f = (release_fn *)next_of(HEAP_FREE);

	if (!p)
		return;
	note_given(WIRE_TRACER_FREE, p);
	if (f)
		f(p);
}

/* With size 0 the C library's gives the memory back and returns NULL. */
static inline void *resize(void *old, size_t size, const uint64_t *frame)
{
	resize_fn *f = (resize_fn *)next_of(HEAP_REALLOC);
	bool is_known;
	void *p;

	if (!f)
		return refuse();
	is_known = old && note_given(WIRE_TRACER_MOVE, old);
	p = f(old, size);
	if (!p && size && is_known)
		note_kept(old);
	if (p)
		note_taken(p, size, frame);
	else if (size)
		note_failed(trace_local());
	return p;
}

void *trace_heap_realloc(void *old, size_t size)
{
	return resize(old, size, __builtin_frame_address(0));
}

/* As every library's does, for it calls realloc. */
EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return refuse();
	return resize(old, bytes, __builtin_frame_address(0));
}

EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	struct made m = begin();
	aligned_fn *f = (aligned_fn *)next_of(HEAP_POSIX_MEMALIGN);
	int rc;

	rc = f ? f(ret, alignment, size) : ENOMEM;
	if (rc == 0)
		MADE(&m, *ret, size);
	return rc;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	struct made m = begin();
	two_sizes_fn *f = (two_sizes_fn *)next_of(HEAP_ALIGNED_ALLOC);
	void *p;

	p = f ? f(alignment, size) : refuse();
	MADE(&m, p, size);
	return p;
}

EXPORT two_sizes_fn memalign;

EXPORT void *memalign(size_t alignment, size_t size)
{
	struct made m = begin();
	two_sizes_fn *f = (two_sizes_fn *)next_of(HEAP_MEMALIGN);
	void *p;

	p = f ? f(alignment, size) : refuse();
	MADE(&m, p, size);
	return p;
}

EXPORT void *valloc(size_t size)
{
	struct made m = begin();
	one_size_fn *f = (one_size_fn *)next_of(HEAP_VALLOC);
	void *p;

	p = f ? f(size) : refuse();
	MADE(&m, p, size);
	return p;
}

EXPORT one_size_fn pvalloc;

EXPORT void *pvalloc(size_t size)
{
	struct made m = begin();
	one_size_fn *f = (one_size_fn *)next_of(HEAP_PVALLOC);
	void *p;

	p = f ? f(size) : refuse();
	MADE(&m, p, size);
	return p;
}
