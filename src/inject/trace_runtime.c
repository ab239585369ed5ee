/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_runtime.h"

#include <string.h>
#include <sys/auxv.h>

#include "bare/sys.h"
#include "inject/call_filters.h"
#include "inject/environment.h"
#include "inject/loaded.h"
#include "inject/modules.h"
#include "inject/next.h"
#include "inject/sandbox.h"
#include "inject/trace_exec.h"
#include "inject/trace_fpe.h"
#include "inject/trace_io.h"
#include "inject/trace_local.h"
#include "inject/trace_regions.h"
#include "inject/trace_sync.h"
#include "inject/trace_thread.h"
#include "inject/trace_watched.h"
#include "inject/vdso.h"
#include "unwind/local.h"
#include "wire/tracer.h"

/* What the C library may or may not have. */
__attribute__((weak)) extern char **__environ;
__attribute__((weak)) extern const char *gnu_get_libc_version(void);
__attribute__((weak)) extern __typeof__(getauxval) getauxval;

struct trace_runtime trace_runtime = { .traces = UINT32_MAX };

#define PAGE_BYTES	  4096
#define MADV_WIPE_ON_FORK 18 /* since Linux 4.14 */
#define MADV_KEEP_ON_FORK 19
/* So long no progress of the recorder's is waited for: while it is looked at, which on a
 * busy machine is seldom for who waits as for the recorder; and in all. */
#define PATIENCE_NS	   UINT64_C(200000000)
#define PATIENCE_IN_ALL_NS UINT64_C(2000000000)
/* Whoever sleeps on a busy machine waits long to be woken: at first it does not. */
#define SPIN_NS	 100000
#define PAUSE_NS 50000
/* Of the time between two looks so much counts at most. */
#define LOOK_NS_MAX (4 * PAUSE_NS)

enum state {
	STATE_NEW,
	STATE_STARTING, /* by some thread: the others' calls pass meanwhile */
	STATE_SETTLED,	/* for good, be it on or off */
};

static uint32_t state;
/* The tail at which waiting was given up: no more of it until that moves. */
static uint64_t given_up_at = UINT64_MAX;

static uintptr_t auxiliary(unsigned long type)
{
	return getauxval ? getauxval(type) : 0;
}

static void find_own_text(void)
{
	struct loaded m = loaded_at(__ehdr_start);

	for (size_t i = 0; i < m.n_phdrs; i++) {
		if (m.phdrs[i].p_type != PT_LOAD || !(m.phdrs[i].p_flags & PF_X))
			continue;
		trace_runtime.text_lo = m.bias + m.phdrs[i].p_vaddr;
		trace_runtime.text_hi = trace_runtime.text_lo + m.phdrs[i].p_memsz;
	}
}

/* What the kernel clears in a forked child, where there is such memory. */
struct cleared {
	uint32_t is_same_process;
	const char *passing; /* trace_sync_let_pass() */
};

static struct cleared nowhere = { .is_same_process = 1 }, *cleared = &nowhere;

#ifdef DWELL_INJECTED

/* Who comes and goes has it in memory that stays: some thread may be about to look at it
 * when nothing leads here any more. */
static struct cleared *map_cleared(void)
{
	static __attribute__((aligned(PAGE_BYTES))) char page[PAGE_BYTES];

	return (struct cleared *)(void *)page;
}

static void unmap_cleared(struct cleared *page)
{
	sys_call(SYS_madvise, page, PAGE_BYTES, MADV_KEEP_ON_FORK, 0, 0, 0);
}

#else

static struct cleared *map_cleared(void)
{
	return sys_map(PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void unmap_cleared(struct cleared *page)
{
	sys_unmap(page, PAGE_BYTES);
}

#endif

static bool mark_process(void)
{
	struct cleared *page = map_cleared();

	if (!page)
		return false;
	if (sys_call(SYS_madvise, page, PAGE_BYTES, MADV_WIPE_ON_FORK, 0, 0, 0) < 0) {
		unmap_cleared(page);
		return false;
	}
	cleared = page;
	cleared->is_same_process = 1;
	trace_runtime.is_same_process = &cleared->is_same_process;
	return true;
}

/* Pointers to wrappers that the program has kept may still lead here. */
static void unmark_process(void)
{
	struct cleared *page = cleared;

	cleared = &nowhere;
	trace_runtime.is_same_process = &cleared->is_same_process;
	trace_sync_let_pass(&cleared->passing);
	if (page != &nowhere)
		unmap_cleared(page);
}

static bool open_ring(enum wire_sampler_origin origin, int control_fd)
{
	const void *vdso = (const void *)auxiliary(AT_SYSINFO_EHDR);
	struct loaded program =
		loaded_by_phdrs((const void *)auxiliary(AT_PHDR), auxiliary(AT_PHNUM));
	struct wire_sampler_start start = { .origin = origin };

	trace_runtime.pid = sys_getpid();
	start.pid = (uint32_t)trace_runtime.pid;
	if (!meeting_ring(&trace_runtime.meeting, control_fd, &start,
			  &trace_runtime.ring))
		return false;
	trace_runtime.epoch += 2; /* nothing counts as told any more */
	/* A child's modules are its parent's. */
	if (origin != WIRE_SAMPLER_FORK &&
	    modules_begin(&trace_runtime.ring, &program, vdso))
		modules_list(&trace_runtime.ring);
	return true;
}

static bool begin(const char *directory, enum wire_sampler_origin origin)
{
	int control_fd = meeting_open(&trace_runtime.meeting, directory);

	if (control_fd < 0)
		return false;
	trace_runtime.epoch = 1;
	trace_runtime.sample_bytes = trace_runtime.meeting.control->sample_bytes;
	trace_runtime.page_bytes = auxiliary(AT_PAGESZ);
	if (!trace_runtime.page_bytes)
		trace_runtime.page_bytes = PAGE_BYTES;
	trace_runtime.main_stack_hi = auxiliary(AT_RANDOM);
	find_own_text();
	vdso_init((const void *)auxiliary(AT_SYSINFO_EHDR));
	sandbox_init();
	if (next_needs_lock())
		unwind_local_refresh();
	trace_runtime.has_filters =
		call_filters_own() > trace_runtime.meeting.control->n_call_filters;
	if (mark_process())
		return open_ring(origin, control_fd);
	sys_close(control_fd);
	return false;
}

static void start(bool is_on)
{
	trace_runtime.traces = is_on ? trace_runtime.meeting.control->traces : 0;
	trace_sync_let_pass(&cleared->passing);
	trace_regions_init();
	if (next_needs_lock()) { /* some may be first called by a handler */
		trace_exec_look_up();
		trace_sync_look_up();
		trace_io_look_up();
		trace_watched_look_up();
	}
	__atomic_store_n(&trace_runtime.is_on, is_on, __ATOMIC_RELEASE);
	__atomic_store_n(&state, STATE_SETTLED, __ATOMIC_RELEASE);
	if (trace_runtime_traces(WIRE_TRACER_FPE))
		trace_fpe_begin();
}

/* In the child of a fork, by its only thread. */
static void forked(void)
{
	const struct wire_sampler_control *control = trace_runtime.meeting.control;

	trace_runtime.is_on = false;
	ring_unmap(&trace_runtime.ring);
	if (sandbox_is_on() || !(control->flags & WIRE_SAMPLER_FOLLOW) ||
	    control->is_stopped)
		return;
	trace_thread_after_fork();
	trace_regions_after_fork();
	trace_sync_after_fork();
	cleared->is_same_process = 1;
	trace_sync_let_pass(&cleared->passing);
	given_up_at = UINT64_MAX;
	trace_runtime.is_fork = true;
	trace_runtime.is_on = open_ring(WIRE_SAMPLER_FORK, -1);
}

bool trace_runtime_settle(void)
{
	char directory[WIRE_SAMPLER_DIRECTORY_MAX];
	uint32_t was = STATE_NEW;

	if (trace_runtime.is_on) {
		forked();
		return trace_runtime.is_on;
	}
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != STATE_NEW)
		return false;
	if (!__atomic_compare_exchange_n(&state, &was, STATE_STARTING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	start(environment_initial(WIRE_TRACER_ENV, directory, sizeof(directory)) &&
	      begin(directory, WIRE_SAMPLER_EXEC));
	return trace_runtime.is_on;
}

bool trace_runtime_begin(const char *directory)
{
	start(begin(directory, WIRE_SAMPLER_ATTACH));
	return trace_runtime.is_on;
}

static void pass_all(void)
{
	trace_runtime.is_on = false;
	trace_runtime.traces = 0;
}

void trace_runtime_end(bool is_empty)
{
	struct wire_sampler_control *control = trace_runtime.meeting.control;

	trace_regions_end();
	pass_all();
	if (!is_empty || !control)
		return;
	trace_regions_unmap();
	trace_runtime.meeting.control = NULL;
	sys_unmap(control, WIRE_SAMPLER_CONTROL_BYTES);
	ring_unmap(&trace_runtime.ring);
	trace_thread_unmap();
	trace_fpe_unmap();
	unmark_process();
}

bool trace_runtime_may_ask(void)
{
	return !sandbox_is_on() && !trace_runtime.has_filters;
}

bool trace_runtime_is_vforked(void)
{
	return *trace_runtime.is_same_process && sys_getpid() != trace_runtime.pid;
}

/* Children get the library by other means, or not at all. */
static bool is_for_us_alone(void)
{
	const struct wire_sampler_control *c = trace_runtime.meeting.control;

	if (!c || c->magic != WIRE_SAMPLER_MAGIC || c->version != WIRE_SAMPLER_VERSION)
		return false;
	return c->flags & WIRE_SAMPLER_BRING || !(c->flags & WIRE_SAMPLER_FOLLOW);
}

/* A program that traces nothing is told of, too; and one that comes when the recorder is
 * about to go has nothing left of it.  glibc passes the environment to constructors, musl
 * does not. */
__attribute__((constructor)) static void construct(int argc, char **argv, char **env)
{
	(void)argc;
	(void)argv;
	if (!gnu_get_libc_version)
		env = &__environ ? __environ : NULL;
	trace_runtime_is_on();
	if (env && is_for_us_alone())
		environment_forget(env, WIRE_TRACER_ENV, trace_runtime.meeting.directory);
}

static void pause_shortly(void)
{
	struct timespec t = { .tv_nsec = PAUSE_NS };

	sys_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL, 0, 0);
}

/* For the recorder, which has read up to tail since. */
struct waiting {
	uint64_t tail, since_ns, last_ns, looked_ns;
};

static void look_at_tail(struct waiting *w)
{
	uint64_t now = vdso_now_ns(), step = now - w->last_ns;
	uint64_t at = __atomic_load_n(&trace_runtime.ring.header->tail, __ATOMIC_ACQUIRE);

	if (at != w->tail || !w->since_ns) {
		*w = (struct waiting){ .tail = at, .since_ns = now };
		step = 0;
	}
	w->looked_ns += step < LOOK_NS_MAX ? step : LOOK_NS_MAX;
	w->last_ns = now;
}

/* False when the recorder made no room for long. */
static bool wait_for_room(struct waiting *w)
{
	look_at_tail(w);
	if (w->tail == __atomic_load_n(&given_up_at, __ATOMIC_RELAXED))
		return false;
	if (sandbox_is_on() || w->looked_ns > PATIENCE_NS ||
	    w->last_ns - w->since_ns > PATIENCE_IN_ALL_NS) {
		__atomic_store_n(&given_up_at, w->tail, __ATOMIC_RELAXED);
		if (!sandbox_is_on() && meeting_is_deserted(&trace_runtime.meeting))
			pass_all();
		return false;
	}
	if (w->last_ns - w->since_ns > SPIN_NS)
		pause_shortly();
	return true;
}

static __attribute__((noinline)) bool write_later(uint16_t kind, const void *head,
						  size_t head_size, const void *tail,
						  size_t tail_size)
{
	struct ring *ring = &trace_runtime.ring;
	struct waiting w = { 0 };

	/* What comes after the end nobody misses; who was visited is left by others. */
	if (!next_is_told() && trace_runtime.meeting.control->is_stopped) {
		pass_all();
		return true;
	}
	while (ring_is_ours(ring) && wait_for_room(&w))
		if (ring_write(ring, kind, head, head_size, tail, tail_size))
			return true;
	if (ring->header)
		ring_count(&ring->header->n_dropped, 1);
	return false;
}

bool trace_runtime_write(uint16_t kind, const void *head, size_t head_size,
			 const void *tail, size_t tail_size)
{
	return ring_write(&trace_runtime.ring, kind, head, head_size, tail, tail_size) ||
	       write_later(kind, head, head_size, tail, tail_size);
}

void trace_runtime_tell_thread(int tid)
{
	struct wire_sampler_thread r = { .time_ns = vdso_now_ns(), .tid = (uint32_t)tid };

	if (tid == trace_runtime.pid) /* as the process is */
		return;
	meeting_comm(r.comm);
	trace_runtime_write(WIRE_SAMPLER_THREAD, &r, sizeof(r), NULL, 0);
}

/* Strict mode forbids the clock, too. */
void *sandbox_before(bool is_strict)
{
	bool stops = is_strict && trace_runtime.is_on;

	trace_fpe_leave();
	if (stops)
		trace_runtime.is_on = false;
	return stops ? &trace_runtime : NULL;
}

void sandbox_after(void *stopped, bool has_failed)
{
	if (stopped && has_failed)
		trace_runtime.is_on = true;
	else if (stopped)
		ring_count(&trace_runtime.ring.header->n_threads_refused, 1);
}

void sandbox_note(long nr, const long *arguments)
{
	trace_watched_note(nr, arguments);
}
