/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_maps - what the tracer wraps to observe memory that a program maps itself: what
 * the C library maps for its own ends does not come by here.
 *
 * As with blocks, an event is written as long as the memory is the caller's.
 */
#include <errno.h>
#include <stdint.h>

#include "bare/sys.h"
#include "inject/next.h"
#include "inject/trace_runtime.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/tracer.h"

/* Headers give some of them other names. */
#define WRAPPER(name) __asm__(#name) __attribute__((visibility("default")))

#define REMAP_DONT_UNMAP 4

__attribute__((weak)) extern int *__errno_location(void);

enum map_call {
	MAP_MMAP,
	MAP_MUNMAP,
	MAP_MREMAP,
	MAP_BRK,
	MAP_SBRK,
	MAP_N_CALLS,
};

static const char *const names[MAP_N_CALLS] = {
	[MAP_MMAP] = "mmap", [MAP_MUNMAP] = "munmap", [MAP_MREMAP] = "mremap",
	[MAP_BRK] = "brk",   [MAP_SBRK] = "sbrk",
};

static void *next[MAP_N_CALLS];

/* Every C library that has the caller's has all of them. */
static void *next_of(enum map_call call)
{
	void *p = __atomic_load_n(&next[call], __ATOMIC_RELAXED);

	if (__builtin_expect(!p, 0)) {
		p = next_symbol(names[call]);
		__atomic_store_n(&next[call], p, __ATOMIC_RELAXED);
	}
	return p;
}

static intptr_t refuse(void)
{
	if (__errno_location)
		*__errno_location() = ENOSYS;
	return -1;
}

typedef void *mmap_fn(void *at, size_t size, int protection, int flags, int fd,
		      int64_t off);
typedef int munmap_fn(void *at, size_t size);
typedef void *mremap_fn(void *old, size_t old_size, size_t size, int flags, void *to);
typedef int brk_fn(void *end);
typedef void *sbrk_fn(intptr_t by);

static size_t whole_pages(size_t size)
{
	size_t mask = trace_runtime.page_bytes - 1;

	return (size + mask) & ~mask;
}

static void note_mapped(const void *at, size_t size, const uint64_t *frame)
{
	struct wire_tracer_alloc r = { .address = (uintptr_t)at, .size_bytes = size };

	if (!size || trace_runtime_is_paused())
		return;
	r.stack = trace_thread_stack(frame);
	r.time_ns = vdso_now_ns();
	trace_runtime_write(WIRE_TRACER_MAP, &r, sizeof(r), NULL, 0);
}

static void note_unmapped(enum wire_tracer_kind kind, const void *at, size_t size)
{
	struct wire_tracer_unmap r = { .address = (uintptr_t)at, .size_bytes = size };

	if (!size)
		return;
	r.time_ns = vdso_now_ns();
	trace_runtime_write(kind, &r, sizeof(r), NULL, 0);
}

static inline void *map(void *at, size_t size, int protection, int flags, int fd,
			int64_t off, const uint64_t *frame)
{
	mmap_fn *f = (mmap_fn *)next_of(MAP_MMAP);
	void *p = f ? f(at, size, protection, flags, fd, off) : (void *)refuse();

	if (p != MAP_FAILED && trace_runtime_traces(WIRE_TRACER_HEAP))
		note_mapped(p, whole_pages(size), frame);
	return p;
}

mmap_fn trace_mmap WRAPPER(mmap);
mmap_fn trace_mmap64 WRAPPER(mmap64);
munmap_fn trace_munmap WRAPPER(munmap);
mremap_fn trace_mremap WRAPPER(mremap);
brk_fn trace_brk WRAPPER(brk);
sbrk_fn trace_sbrk WRAPPER(sbrk);

void *trace_mmap(void *at, size_t size, int protection, int flags, int fd, int64_t off)
{
	return map(at, size, protection, flags, fd, off, __builtin_frame_address(0));
}

void *trace_mmap64(void *at, size_t size, int protection, int flags, int fd, int64_t off)
{
	return map(at, size, protection, flags, fd, off, __builtin_frame_address(0));
}

/* Does the kernel accept it?  Whole pages from a page on. */
static bool is_range(const void *at, size_t size)
{
	return size && !((uintptr_t)at & (trace_runtime.page_bytes - 1));
}

int trace_munmap(void *at, size_t size)
{
	munmap_fn *f = (munmap_fn *)next_of(MAP_MUNMAP);
	bool is_traced = trace_runtime_traces(WIRE_TRACER_HEAP) && is_range(at, size);
	int rc;

	if (is_traced)
		note_unmapped(WIRE_TRACER_MAP_MOVE, at, whole_pages(size));
	rc = f ? f(at, size) : (int)refuse();
	if (rc != 0 && is_traced)
		note_unmapped(WIRE_TRACER_MAP_STAYS, at, whole_pages(size));
	return rc;
}

/* Its last parameter is there only where flags say so; a register is read all the same.
 */
void *trace_mremap(void *old, size_t old_size, size_t size, int flags, void *to)
{
	mremap_fn *f = (mremap_fn *)next_of(MAP_MREMAP);
	bool is_traced = trace_runtime_traces(WIRE_TRACER_HEAP) && is_range(old, size);
	size_t gone =
		is_traced && !(flags & REMAP_DONT_UNMAP) ? whole_pages(old_size) : 0;
	void *p;

	note_unmapped(WIRE_TRACER_MAP_MOVE, old, gone);
	p = f ? f(old, old_size, size, flags, to) : (void *)refuse();
	if (p == MAP_FAILED)
		note_unmapped(WIRE_TRACER_MAP_STAYS, old, gone);
	else if (is_traced)
		note_mapped(p, whole_pages(size), __builtin_frame_address(0));
	return p;
}

static char *break_now(void)
{
	return (char *)sys_call(SYS_brk, 0, 0, 0, 0, 0, 0);
}

/* Behind the call, as nobody else is given what lies at the break; where it is now is
 * what the kernel says: a call that does nothing may say that all is well. */
static void note_break(const char *was, const uint64_t *frame)
{
	const char *now = break_now();

	if (now < was)
		note_unmapped(WIRE_TRACER_UNMAP, now, (size_t)(was - now));
	else if (now > was)
		note_mapped(was, (size_t)(now - was), frame);
}

int trace_brk(void *end)
{
	brk_fn *f = (brk_fn *)next_of(MAP_BRK);
	char *was = trace_runtime_traces(WIRE_TRACER_HEAP) ? break_now() : NULL;
	int rc = f ? f(end) : (int)refuse();

	if (was)
		note_break(was, __builtin_frame_address(0));
	return rc;
}

void *trace_sbrk(intptr_t by)
{
	sbrk_fn *f = (sbrk_fn *)next_of(MAP_SBRK);
	char *was = by && trace_runtime_traces(WIRE_TRACER_HEAP) ? break_now() : NULL;
	void *p = f ? f(by) : (void *)refuse();

	if (was)
		note_break(was, __builtin_frame_address(0));
	return p;
}
