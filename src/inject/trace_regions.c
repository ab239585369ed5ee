/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_regions.h"

#include <dwell.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare/sys.h"
#include "inject/next.h"
#include "inject/region_callstack.h"
#include "inject/region_names.h"
#include "inject/region_thread.h"
#include "inject/sandbox.h"
#include "inject/trace_cells.h"
#include "inject/trace_fpe.h"
#include "inject/trace_heap_end.h"
#include "wire/tracer.h"

#define EXPORT	  __attribute__((visibility("default")))
#define HERE	  ((uintptr_t)__builtin_frame_address(0))
#define BACK	  ((uintptr_t)__builtin_return_address(0))
#define FUNCTIONS "functions"

/* Threads that the program has paused itself. */
static uint32_t is_paused_here;
static struct region_group *functions;

static inline bool begins(const struct region_group *group)
{
	return group->is_on && !trace_runtime_is_paused() && !is_paused_here;
}

/* NULL: nothing is to be done. */
static inline struct region_thread *enter(uintptr_t here)
{
	return trace_runtime_traces(WIRE_TRACER_REGIONS) ? region_thread_enter(here)
							 : NULL;
}

static __attribute__((noinline)) const struct region_name *
look_up(struct dwell_region *region)
{
	const struct region_name *n = region_names_find(region->group, region->name);

	__atomic_store_n(&region->state, (void *)region_names_handle(n),
			 __ATOMIC_RELEASE);
	return n;
}

static inline const struct region_name *name_of(struct dwell_region *region)
{
	const struct region_name *n = region_names_of(
		(uintptr_t)__atomic_load_n(&region->state, __ATOMIC_ACQUIRE));

	return __builtin_expect(n != NULL, 1) ? n : look_up(region);
}

static void begin(struct dwell_region *region)
{
	struct region_thread *t = enter(HERE);
	const struct region_name *n;

	if (!t)
		return;
	n = name_of(region);
	if (__builtin_expect(begins(n->group), 1))
		region_tree_begin(&t->tree, n->number, region_thread_now(t), NULL);
	else
		region_tree_begin_muted(&t->tree, n->number, NULL);
	region_thread_leave(t);
}

static void end(struct dwell_region *region)
{
	struct region_thread *t = enter(HERE);
	const struct region_name *n;
	uint64_t now;

	if (!t)
		return;
	n = name_of(region);
	now = region_tree_ends_muted(&t->tree, n->number, 0) ? t->tree.last
							     : region_thread_now(t);
	region_tree_end(&t->tree, n->number, now);
	if (t->tree.depth == 1)
		region_thread_rest(t, now);
	region_thread_leave(t);
}

static void count(struct dwell_region *counter, uint64_t n)
{
	struct region_thread *t = enter(HERE);
	const struct region_name *name;

	if (!t)
		return;
	name = name_of(counter);
	if (begins(name->group))
		region_tree_count(&t->tree, name->number | WIRE_REGIONS_COUNTER, n);
	region_thread_leave(t);
}

static void switch_group(const char *name, int is_on)
{
	struct region_group *group = region_names_group(name);

	if (group)
		__atomic_store_n(&group->is_on, is_on != 0, __ATOMIC_RELAXED);
}

/* Functions. */

EXPORT void __cyg_profile_func_enter(void *function, void *site);
EXPORT void __cyg_profile_func_exit(void *function, void *site);

EXPORT void __cyg_profile_func_enter(void *function, void *site)
{
	struct region_thread *t = enter(HERE);
	struct region_frame frame = { HERE, (uintptr_t)site, BACK };
	uint32_t number;

	if (!t)
		return;
	number = region_names_function(function);
	if (number && begins(functions)) {
		uint64_t now = region_thread_now(t);

		region_tree_unwind(&t->tree, &frame, now);
		region_tree_begin(&t->tree, number, now, &frame);
	} else if (number) {
		region_tree_begin_muted(&t->tree, number, &frame);
	}
	region_thread_leave(t);
}

EXPORT void __cyg_profile_func_exit(void *function, void *site)
{
	struct region_thread *t = enter(HERE);
	uint32_t number;
	uint64_t now;

	if (!t)
		return;
	number = region_names_function(function);
	if (number) {
		uintptr_t back = (uintptr_t)site;

		now = region_tree_ends_muted(&t->tree, number, back)
			      ? t->tree.last
			      : region_thread_now(t);
		region_tree_return(&t->tree, number, back, now);
		if (t->tree.depth == 1)
			region_thread_rest(t, now);
	}
	region_thread_leave(t);
}

/* The rest of the interface. */

static size_t callstack(struct dwell_block *ret, size_t max)
{
	struct region_thread *t = enter(HERE);
	size_t n = 0;

	if (!t)
		return 0;
	region_tree_pass(&t->tree, region_thread_now(t));
	n = region_callstack_fetch(&t->tree, ret, max);
	region_thread_leave(t);
	return n;
}

static void print_callstack(int fd)
{
	struct region_thread *t = enter(HERE);

	if (!t)
		return;
	region_tree_pass(&t->tree, region_thread_now(t));
	region_callstack_print(&t->tree, fd);
	region_thread_leave(t);
}

static void tell_text(enum wire_regions_kind kind, const char *text)
{
	struct wire_regions_text r = { .time_ns = vdso_now_ns(),
				       .tid = (uint32_t)sys_gettid() };
	size_t n = text ? strlen(text) : 0;

	trace_runtime_write((uint16_t)kind, &r, sizeof(r), text,
			    n < WIRE_REGIONS_TEXT_MAX ? n : WIRE_REGIONS_TEXT_MAX);
}

static void name_thread(const char *name)
{
	if (trace_runtime_traces(WIRE_TRACER_MARKS))
		tell_text(WIRE_REGIONS_THREAD, name);
}

/* What this thread did until then belongs to the interval that ends. */
static void mark(const char *name)
{
	struct region_thread *t = enter(HERE);

	if (t) {
		uint64_t now = region_clock_now(&t->counter);

		t->due_tell = 0;
		region_thread_tell_due(t, now, region_thread_wall(now));
		region_thread_leave(t);
	}
	if (trace_runtime_traces(WIRE_TRACER_MARKS))
		tell_text(WIRE_REGIONS_MARK, name);
}

static void pause_here(int is_paused)
{
	__atomic_store_n(&is_paused_here, is_paused != 0, __ATOMIC_RELAXED);
}

static const struct dwell_hooks hooks = {
	.version = 1,
	.begin = begin,
	.end = end,
	.count = count,
	.switch_group = switch_group,
	.callstack = callstack,
	.print_callstack = print_callstack,
	.name_thread = name_thread,
	.mark = mark,
	.pause = pause_here,
};

EXPORT void dwell_join(const struct dwell_hooks **cell);

EXPORT void dwell_join(const struct dwell_hooks **cell)
{
	if (trace_runtime_traces(WIRE_TRACER_MARKS))
		*cell = &hooks;
}

/* Life. */

typedef void exit_fn(int status);

static struct way_out {
	const char *name;
	exit_fn *next; /* NULL: it can be looked up when it is wanted */
} ways_out[] = { { .name = "_exit" }, { .name = "_Exit" } };

static void find_ways_out(void)
{
	for (size_t i = 0; i < sizeof(ways_out) / sizeof(ways_out[0]); i++)
		ways_out[i].next = (exit_fn *)next_symbol(ways_out[i].name);
}

void trace_regions_after_fork(void)
{
	if (trace_runtime.traces & WIRE_TRACER_REGIONS)
		region_thread_after_fork();
}

static void begin_regions(void)
{
	region_names_begin();
	region_clock_init();
	region_thread_init();
	functions = region_names_group(FUNCTIONS);
	if (!functions)
		trace_runtime.traces &= ~(uint32_t)WIRE_TRACER_REGIONS;
}

void trace_regions_init(void)
{
	if (next_needs_lock())
		find_ways_out();
	if (trace_runtime.traces & WIRE_TRACER_REGIONS)
		begin_regions();
	if (trace_runtime.traces & WIRE_TRACER_MARKS)
		trace_cells_set(&hooks);
}

__attribute__((destructor)) static void finish(void)
{
	if (trace_runtime_traces(WIRE_TRACER_REGIONS))
		region_thread_tell_all(true);
}

void trace_regions_tell(void)
{
	if (trace_runtime_traces(WIRE_TRACER_REGIONS))
		region_thread_tell_all(false);
}

/* The recorder has switched us off before. */
void trace_regions_end(void)
{
	bool is_first = functions && *trace_runtime.is_same_process;

	functions = NULL;
	if (is_first)
		region_thread_tell_all(false);
}

void trace_regions_unmap(void)
{
	region_thread_unmap();
	region_names_unmap();
}

/* Who leaves by the shortest way runs no destructors; the child of a vfork leaves nothing
 * but its parent's memory. */
static _Noreturn void leave(const struct way_out *way, int status)
{
	exit_fn *next = way->next ? way->next : (exit_fn *)next_symbol(way->name);

	if (trace_runtime.is_on && !sandbox_is_on() &&
	    sys_getpid() == trace_runtime.pid) {
		finish();
		trace_heap_end();
		trace_fpe_end();
	}
	if (next)
		next(status);
	for (;;)
		sys_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT _Noreturn void _exit(int status)
{
	leave(&ways_out[0], status);
}

EXPORT _Noreturn void _Exit(int status)
{
	leave(&ways_out[1], status);
}
