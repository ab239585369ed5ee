/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "bare/sys.h"
#include "inject/next.h"
#include "inject/region_tell.h"
#include "inject/sandbox.h"
#include "inject/trace_local.h"
#include "wire/tracer.h"

/* The C library calls us at the end of a thread that has a value of the key.  Storing one
 * takes no memory for the first keys of a program, and no others are used. */
__attribute__((weak)) extern __typeof__(pthread_key_create) pthread_key_create;
__attribute__((weak)) extern __typeof__(pthread_key_delete) pthread_key_delete;
__attribute__((weak)) extern __typeof__(pthread_setspecific) pthread_setspecific;

#define KEYS_WITHOUT_MEMORY 32

/* Changes are told so often; sooner when the thread has left all regions; and at first
 * when that much has passed of a clock whose unit is not known yet. */
#define TELL_NS	    20000000
#define IDLE_NS	    1000000
#define FIRST_UNITS 1000000
/* Callstacks of a history that were due meanwhile: at most so many at once. */
#define SLICES_AT_ONCE 1000

static struct thread_chain chain; /* of all that were ever made */
static uint32_t n_serials;
static uint32_t n_tellers; /* threads that tell of all others, as the process ends */
static pthread_key_t end_key;
static bool has_end_key;

_Static_assert(offsetof(struct region_thread, link) == 0, "one is the other");

static struct region_thread *of_link(struct thread_link *link)
{
	return (struct region_thread *)link;
}

/* The one that was made before. */
static struct region_thread *before(const struct region_thread *t)
{
	return of_link(t->link.next);
}

static uint64_t units(uint64_t ns)
{
	return region_rate_units(region_clock_rate(), ns) + 1;
}

static void plan_due(struct region_thread *t)
{
	t->due = t->due_tell < t->due_slice ? t->due_tell : t->due_slice;
}

static uint64_t first_units(void)
{
	return region_clock.kind == REGION_CLOCK_TICKS ? region_clock.ticks
						       : region_clock.ns;
}

/* All threads' callstacks are told at the same times: multiples of the interval since the
 * process began. */
static void plan_next_slice(struct region_thread *t)
{
	t->n_slice++;
	t->due_slice =
		first_units() + units(t->n_slice * trace_regions_control()->slice_ns);
}

/* The first one behind that time. */
static void plan_slice(struct region_thread *t, uint64_t wall)
{
	uint64_t every_ns = trace_regions_control()->slice_ns;

	t->due_slice = UINT64_MAX;
	if (!every_ns)
		return;
	t->n_slice = region_rate_ns(region_clock_rate(), wall - first_units()) / every_ns;
	plan_next_slice(t);
}

/* passed: of the quantity, since that was due. */
static void tell_slice(struct region_thread *t, uint64_t now, uint64_t passed)
{
	region_tree_pass(&t->tree, now - passed);
	region_tell_changes(t, false); /* what is active has been told of */
	region_tell_slices(t, passed);
}

static void tell_slices(struct region_thread *t, uint64_t now, uint64_t wall)
{
	bool is_time = wall == now;

	for (int n = 0; t->due_slice <= wall; n++) {
		if (n == SLICES_AT_ONCE) {
			plan_slice(t, wall);
			break;
		}
		if (is_time || n == 0)
			tell_slice(t, now, is_time ? now - t->due_slice : 0);
		plan_next_slice(t);
	}
}

static void tell_asked(struct region_thread *t, uint64_t now)
{
	const struct wire_regions_control *c = trace_regions_control();
	uint64_t ago_ns = vdso_now_ns() - c->asked_ns;

	if (t->n_asked == c->n_asked)
		return;
	t->n_asked = c->n_asked;
	tell_slice(t, now, region_clock.kind <= REGION_CLOCK_NS ? units(ago_ns) : 0);
}

void region_thread_tell_due(struct region_thread *t, uint64_t now, uint64_t wall)
{
	tell_asked(t, now);
	tell_slices(t, now, wall);
	if (wall >= t->due_tell) {
		wall = region_thread_wall(now);
		region_tree_pass(&t->tree, now);
		region_tell_changes(t, false);
		t->due_tell = wall + units(TELL_NS);
		t->due_idle = wall + units(IDLE_NS);
	}
	plan_due(t);
}

/* Threads. */

static void begin(struct region_thread *t, int tid)
{
	uint64_t now, wall;

	region_clock_open(&t->counter);
	t->n_asked = trace_regions_control()->n_asked;
	now = region_clock_now(&t->counter);
	wall = region_thread_wall(now);
	region_tree_init(&t->tree, now);
	t->due_tell = t->due_idle = wall + FIRST_UNITS;
	plan_slice(t, wall);
	plan_due(t);
	t->tid = tid;
	t->busy = 0;
	__atomic_store_n(&t->serial, __atomic_add_fetch(&n_serials, 1, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&t->owner, tid, __ATOMIC_RELEASE);
}

static struct region_thread *make(int tid)
{
	struct region_thread *t =
		sys_map(sizeof(*t), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!t)
		return NULL;
	begin(t, tid);
	thread_chain_add(&chain, &t->link);
	return t;
}

/* Who cannot be asked for is there. */
static bool is_gone(int tid)
{
	if (tid <= 0 || sandbox_is_on())
		return !tid;
	return sys_call(SYS_tgkill, trace_runtime.pid, tid, 0, 0, 0, 0) == -ESRCH;
}

/* By the only one who has it, once its owner says so: all that is active ends.  Another
 * who tells of all threads may have begun with this one before that.  As the recorder is
 * to hear nothing of a tree after its end, it is not told of that then. */
static void end(struct region_thread *t, uint32_t n_own_tellers)
{
	if (t->serial)
		region_tell_changes(t, __atomic_load_n(&n_tellers, __ATOMIC_SEQ_CST) ==
					       n_own_tellers);
	__atomic_store_n(&t->serial, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* before the tree is another's */
	region_clock_close(&t->counter);
}

/* The calling thread's, which is not busy with it. */
static void end_mine(uint32_t n_own_tellers)
{
	struct region_thread *t = trace_local()->regions;

	t->busy = (uintptr_t)__builtin_frame_address(0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	region_tree_pass(&t->tree, region_thread_now(t));
	__atomic_store_n(&t->owner, -1, __ATOMIC_SEQ_CST);
	end(t, n_own_tellers);
	trace_local()->regions = NULL;
	__atomic_store_n(&t->owner, 0, __ATOMIC_RELEASE);
}

/* Others' destructors may still have regions: these are another tree's. */
static void thread_ends(void *p)
{
	struct region_thread *t = p;

	if (trace_runtime_traces(WIRE_TRACER_REGIONS) && t == trace_local()->regions &&
	    !t->busy)
		end_mine(0);
}

/* Not in a process that ran already, of which no function is called. */
void region_thread_init(void)
{
	if (next_is_told() || !pthread_key_create || !pthread_key_delete ||
	    !pthread_setspecific || pthread_key_create(&end_key, thread_ends) != 0)
		return;
	has_end_key = end_key < KEYS_WITHOUT_MEMORY;
	if (!has_end_key)
		pthread_key_delete(end_key);
}

/* Its pages are the kernel's again, so that all of the tree is zero. */
static void clear(struct region_thread *t)
{
	uintptr_t from = ((uintptr_t)&t->tree + 4095) & ~(uintptr_t)4095;
	uintptr_t to = (uintptr_t)(t + 1) & ~(uintptr_t)4095;

	for (char *at = (char *)&t->tree; at < (char *)from; at++)
		*at = 0;
	sys_call(SYS_madvise, from, to - from, MADV_DONTNEED, 0, 0, 0);
	for (char *at = (char *)to; at < (char *)(t + 1); at++)
		*at = 0;
}

/* Of those who find the same one gone one may have it. */
static bool take_over(struct region_thread *t, int owner)
{
	return __atomic_compare_exchange_n(&t->owner, &owner, -1, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static bool take_from_gone(struct thread_link *link, int tid)
{
	struct region_thread *t = of_link(link);
	int owner = __atomic_load_n(&t->owner, __ATOMIC_ACQUIRE);

	(void)tid; /* it is its own once what was there has ended */
	return is_gone(owner) && take_over(t, owner);
}

static struct region_thread *reuse(int tid)
{
	struct region_thread *t =
		of_link(thread_chain_reuse(&chain, tid, take_from_gone));

	if (!t)
		return NULL;
	end(t, 0);
	clear(t);
	begin(t, tid);
	return t;
}

static __attribute__((noinline)) struct region_thread *find(void)
{
	struct trace_local *local = trace_local();
	struct region_thread *t;
	int tid;

	/* What a child of vfork took were its parent's, and nobody's once it is gone. */
	if (sandbox_is_on() || trace_local_is_shared(local) || trace_runtime_is_vforked())
		return NULL;
	tid = sys_gettid();
	t = reuse(tid);
	if (!t)
		t = make(tid);
	local->regions = t;
	if (!t)
		return NULL;
	trace_runtime_tell_thread(tid);
	if (has_end_key)
		pthread_setspecific(end_key, t);
	return t;
}

/* Is who was busy no more, as a longjmp cut that short?  Then this call is further out,
 * unless a handler is on an alternate stack, which may be anywhere. */
static __attribute__((noinline)) bool is_cut(uintptr_t busy, uintptr_t here)
{
	stack_t s;
	bool was_alternate, is_alternate;

	if (!trace_runtime_may_ask() ||
	    sys_call(SYS_sigaltstack, NULL, &s, 0, 0, 0, 0) < 0)
		return here >= busy;
	was_alternate = busy - (uintptr_t)s.ss_sp < s.ss_size;
	is_alternate = s.ss_flags & SS_ONSTACK;
	return was_alternate == is_alternate ? here >= busy : was_alternate;
}

struct region_thread *region_thread_enter(uintptr_t here)
{
	struct region_thread *t = trace_local()->regions;

	if (__builtin_expect(!t, 0))
		t = find();
	if (!t || (__builtin_expect(t->busy != 0, 0) && !is_cut(t->busy, here)))
		return NULL;
	t->busy = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return t;
}

void region_thread_after_fork(void)
{
	struct region_thread *mine = trace_local()->regions;

	for (struct region_thread *t = of_link(chain.newest); t; t = before(t)) {
		t->owner = 0;
		t->serial = 0;
	}
	chain.hand = NULL;
	n_tellers = 0;
	if (!mine)
		return;
	mine->owner = mine->tid = sys_gettid();
	mine->serial = __atomic_add_fetch(&n_serials, 1, __ATOMIC_RELAXED);
	mine->busy = 0;
	region_clock_close(&mine->counter);
	region_clock_open(&mine->counter);
	region_tree_restart(&mine->tree, region_clock_now(&mine->counter));
}

/* One that another thread has, or had. */
static void tell_other(struct region_thread *t)
{
	int owner = __atomic_load_n(&t->owner, __ATOMIC_SEQ_CST);

	if (owner <= 0)
		return;
	if (!is_gone(owner)) {
		region_tell_all(t);
	} else if (take_over(t, owner)) {
		end(t, 1);
		__atomic_store_n(&t->owner, 0, __ATOMIC_RELEASE);
	}
}

static void tell_mine(struct region_thread *t)
{
	region_tree_pass(&t->tree, region_thread_now(t));
	region_tell_changes(t, false);
}

void region_thread_tell_all(bool is_over)
{
	const struct region_thread *mine = trace_local()->regions;
	struct region_thread *t = of_link(thread_chain_newest(&chain));

	__atomic_add_fetch(&n_tellers, 1, __ATOMIC_SEQ_CST);
	for (; t; t = before(t))
		if (t != mine || t->busy)
			tell_other(t);
		else if (is_over)
			end_mine(1);
		else
			tell_mine(t);
	if (!is_over)
		__atomic_sub_fetch(&n_tellers, 1, __ATOMIC_SEQ_CST);
}

void region_thread_unmap(void)
{
	struct region_thread *t = of_link(chain.newest);

	chain = (struct thread_chain){ 0 };
	while (t) {
		struct region_thread *next = before(t);

		region_clock_close(&t->counter);
		sys_unmap(t, sizeof(*t));
		t = next;
	}
}
