/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "bare/sys.h"
#include "inject/arch.h"
#include "inject/modules.h"
#include "inject/sandbox.h"
#include "inject/stack_delta.h"
#include "inject/thread_chain.h"
#include "inject/trace_fpe.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"
#include "inject/trace_watched.h"
#include "inject/vdso.h"
#include "unwind/local.h"
#include "unwind/local_guard.h"
#include "wire/tracer.h"

struct trace_thread {
	struct thread_link link;
	int tid; /* whose it is; 0: nobody's */
	struct wait_place place;
	uintptr_t busy; /* frame of who walks the stack, 0: nobody */
	uintptr_t stack_lo, stack_hi;
	stack_t handlers;	 /* where signals' run that ask for it */
	uint32_t handlers_at;	 /* handlers_moved then; else it is not known */
	uint32_t handlers_moved; /* so often, and one */
	struct unwind_local_cache *cache;
	/* Two stacks in turn, and of the current one the hash of every outer part. */
	unsigned current;
	struct stack_delta_frames frames[2];
	uint64_t hashes[WIRE_SAMPLER_DEPTH_MAX + 1]; /* [n]: of the n outermost frames */
	uint8_t encoded[WIRE_SAMPLER_DEPTH_MAX * 10];
	struct trace_fpe_event fpe;
	uint8_t handler_stack[16 << 10] __attribute__((aligned(16)));
};

static struct thread_chain chain; /* of all that were ever made */

/* The ids that the recorder was told, each where it would be looked for. */
#define TOLD_BITS 16
static uint64_t told[1 << TOLD_BITS];

/* The main thread's stack may grow down to here whatever its limit becomes. */
#define MAIN_STACK_BYTES (UINT64_C(64) << 20)
/* So much of a thread's stack is looked at, above its first event and below. */
#define LOOKED_AT_ABOVE (UINT64_C(4) << 20)
#define LOOKED_AT_BELOW (64 << 10)

_Static_assert(offsetof(struct trace_thread, link) == 0, "one is the other");

static struct trace_thread *of_link(struct thread_link *link)
{
	return (struct trace_thread *)link;
}

/* The one that was made before. */
static struct trace_thread *before(const struct trace_thread *t)
{
	return of_link(t->link.next);
}

static bool is_readable(uintptr_t page)
{
	struct local_guard guard = { 0 };
	uint64_t word;

	return local_guard_word(&guard, page, &word);
}

/* The C libraries keep a thread's own data, which the thread pointer points to, above its
 * stack, in the same mapping.  A first event on a stack of another kind shows by the hole
 * between that and the pointer; where nothing is known every read is guarded. */
static void find_thread_stack(struct trace_thread *t, uintptr_t here, uintptr_t tp)
{
	uintptr_t bytes = trace_runtime.page_bytes, lo = here & ~(bytes - 1);

	if (tp - here > LOOKED_AT_ABOVE)
		return;
	for (uintptr_t page = lo; page < tp; page += bytes)
		if (!is_readable(page))
			return;
	while (here - lo < LOOKED_AT_BELOW && is_readable(lo - bytes))
		lo -= bytes;
	t->stack_lo = lo;
	t->stack_hi = tp;
}

static void find_stack(struct trace_thread *t, uintptr_t here)
{
	uintptr_t tp = arch_thread_pointer(), main_hi = trace_runtime.main_stack_hi;

	t->stack_lo = t->stack_hi = 0;
	if (t->tid == trace_runtime.pid && main_hi) {
		t->stack_hi = main_hi;
		t->stack_lo = main_hi - MAIN_STACK_BYTES;
	} else if (t->tid != trace_runtime.pid && tp > here) {
		find_thread_stack(t, here, tp);
	}
}

/* Behind the rest of a thread. */
static size_t cache_at(void)
{
	return (sizeof(struct trace_thread) + 63) & ~(size_t)63;
}

static size_t thread_bytes(void)
{
	return cache_at() + unwind_local_cache_bytes();
}

static struct trace_thread *make(int tid)
{
	struct trace_thread *t = sys_map(thread_bytes(), MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!t)
		return NULL;
	t->cache = (void *)((char *)t + cache_at());
	t->tid = tid;
	t->place.at = thread_chain_add(&chain, &t->link);
	return t;
}

void trace_thread_unmap(void)
{
	struct thread_link *t = chain.newest;

	chain = (struct thread_chain){ 0 };
	while (t) {
		struct thread_link *next = t->next;

		sys_unmap(t, thread_bytes());
		t = next;
	}
}

static bool is_gone(int tid)
{
	return !tid || sys_call(SYS_tgkill, trace_runtime.pid, tid, 0, 0, 0, 0) == -ESRCH;
}

static bool take_over(struct thread_link *link, int tid)
{
	struct trace_thread *t = of_link(link);
	int owner = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);

	return is_gone(owner) &&
	       __atomic_compare_exchange_n(&t->tid, &owner, tid, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static __attribute__((noinline)) struct trace_thread *enter(uintptr_t here)
{
	struct trace_local *l = trace_local();
	struct trace_thread *t;
	int tid;

	/* What a child of vfork takes were its parent's, by whose thread pointer it goes:
	 * as nobody's, once the child is gone. */
	if (sandbox_is_on() || trace_local_is_shared(l) || trace_runtime_is_vforked())
		return NULL;
	tid = sys_gettid();
	t = of_link(thread_chain_reuse(&chain, tid, take_over));
	if (!t)
		t = make(tid);
	if (!t)
		return NULL;
	t->busy = 0;
	t->handlers_moved = 1;
	t->handlers_at = 0;
	trace_fpe_settle(&t->fpe);
	t->fpe = (struct trace_fpe_event){ 0 };
	find_stack(t, here);
	l->thread = t;
	trace_runtime_tell_thread(tid);
	return t;
}

void trace_thread_after_fork(void)
{
	struct trace_thread *mine = trace_local()->thread;

	for (struct trace_thread *t = of_link(chain.newest); t; t = before(t)) {
		t->tid = 0;
		t->place.is_taken = false;
		t->fpe.likely = 0; /* what is open there is the parent's to settle */
	}
	chain.hand = NULL;
	if (!mine)
		return;
	mine->tid = sys_gettid();
	mine->busy = 0;
}

static bool is_within(const stack_t *s, uintptr_t here)
{
	return here - (uintptr_t)s->ss_sp < s->ss_size;
}

/* A handler may be in between, and a child of vfork has one of its own. */
static void keep_handlers(struct trace_thread *t, const stack_t *s, uint32_t moved)
{
	if (!trace_watched || trace_runtime_is_vforked())
		return;
	t->handlers_at = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->handlers = *s;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->handlers_at = moved;
}

/* The handlers' stack may be within a thread's, as an array of a function's.  Where it is
 * is asked for until it is known, and again when it was seen to move. */
static bool is_handlers(struct trace_thread *t, uintptr_t here)
{
	uint32_t moved = t->handlers_moved;
	stack_t s = { 0 };

	if (t->handlers_at == moved)
		return is_within(&t->handlers, here);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (sys_call(SYS_sigaltstack, NULL, &s, 0, 0, 0, 0) == 0)
		keep_handlers(t, &s, moved);
	return is_within(&s, here);
}

void trace_thread_set_handlers(const stack_t *stack)
{
	struct trace_thread *t = trace_local()->thread;
	stack_t none = { 0 };

	if (!t)
		return;
	t->handlers_moved++;
	if (stack)
		keep_handlers(t, stack->ss_flags & SS_DISABLE ? &none : stack,
			      t->handlers_moved);
}

/* Has a signal interrupted the walk under way?  One that a longjmp left is further in.
 * The handlers' stack may be among the thread's own data, as if it were the thread's. */
static bool is_busy(struct trace_thread *t, uintptr_t here)
{
	bool is_in_handler;

	if (!t->busy)
		return false;
	if (here < t->stack_lo || here >= t->stack_hi)
		return true;
	if (!trace_runtime_may_ask())
		return here < t->busy;
	is_in_handler = is_handlers(t, here);
	if (is_in_handler != is_handlers(t, t->busy))
		return is_in_handler;
	return here < t->busy;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static bool tell(struct trace_thread *t, uint64_t id, enum unwind_stop stop)
{
	const struct stack_delta_frames *f = &t->frames[t->current];
	struct wire_tracer_stack r = {
		.id = id,
		.time_ns = vdso_now_ns(),
		.tid = (uint32_t)t->tid,
		.n_frames = (uint16_t)f->n,
		.stop = (uint16_t)stop,
	};

	return modules_tell(&trace_runtime.ring, f->pcs, f->n) &&
	       trace_runtime_write(WIRE_TRACER_STACK, &r, sizeof(r), t->encoded,
				   stack_delta_encode(f, 0, t->encoded));
}

static uint64_t hash_stack(struct trace_thread *t)
{
	const struct stack_delta_frames *f = &t->frames[t->current];
	uint32_t n = stack_delta_shared(f, &t->frames[!t->current]);

	for (; n < f->n; n++)
		t->hashes[n + 1] = mix(t->hashes[n], f->pcs[f->n - 1 - n]);
	return mix(t->hashes[n], (uint64_t)t->tid) | 1;
}

static uint64_t name_stack(struct trace_thread *t, enum unwind_stop stop)
{
	uint64_t id = hash_stack(t);
	uint64_t *place = &told[id >> (64 - TOLD_BITS)];

	if (__atomic_load_n(place, __ATOMIC_RELAXED) == id + trace_runtime.epoch)
		return id;
	if (!tell(t, id, stop))
		return WIRE_TRACER_NO_STACK;
	__atomic_store_n(place, id + trace_runtime.epoch, __ATOMIC_RELEASE);
	return id;
}

/* Names of stacks are of one thread, and known to the recorder of one ring. */
static uint64_t whose(const struct trace_thread *t)
{
	return (uint64_t)(uint32_t)t->tid << 32 | (uint32_t)trace_runtime.epoch;
}

static __attribute__((noinline)) uint64_t walk(struct trace_thread *t,
					       const uint64_t *frame)
{
	struct stack_delta_frames *f;
	enum unwind_stop stop = UNWIND_END;
	uint64_t id;

	t->current = !t->current;
	f = &t->frames[t->current];
	f->n = (uint32_t)unwind_local_from(t->cache, frame, t->stack_lo, t->stack_hi,
					   f->pcs, f->exact, WIRE_SAMPLER_DEPTH_MAX,
					   &stop);
	if (f->n && (trace_runtime.has_frames_within ||
		     f->pcs[0] - trace_runtime.text_lo <
			     trace_runtime.text_hi - trace_runtime.text_lo))
		stack_delta_drop(f, trace_runtime.text_lo, trace_runtime.text_hi);
	id = name_stack(t, stop);
	if (id != WIRE_TRACER_NO_STACK)
		unwind_local_keep(t->cache, frame, t->stack_hi, whose(t), id);
	return id;
}

static uint64_t walk_at(struct trace_thread *t, const ucontext_t *context)
{
	struct stack_delta_frames *f;
	enum unwind_stop stop = UNWIND_END;

	t->current = !t->current;
	f = &t->frames[t->current];
	f->n = (uint32_t)unwind_local(t->cache, context, t->stack_lo, t->stack_hi, f->pcs,
				      f->exact, WIRE_SAMPLER_DEPTH_MAX, &stop);
	stack_delta_drop(f, trace_runtime.text_lo, trace_runtime.text_hi);
	return name_stack(t, stop);
}

static struct trace_thread *own(uintptr_t here)
{
	struct trace_thread *mine = trace_local()->thread;

	return __builtin_expect(mine != NULL, 1) ? mine : enter(here);
}

/* One walk of a thread at a time. */
static bool begin(struct trace_thread *t, uintptr_t here)
{
	if (!t || is_busy(t, here))
		return false;
	t->busy = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static void end(struct trace_thread *t)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = 0;
}

/* So much at least, where it is known to be a thread's: without tables a walk takes most
 * of it. */
#define ROOM_BYTES (16 << 10)

/* Is that on the thread's own stack, with so much below?  Whoever cannot ask whether it
 * is a handler's does not know. */
static bool has_room(struct trace_thread *t, uintptr_t here)
{
	return here >= t->stack_lo + ROOM_BYTES && here < t->stack_hi &&
	       trace_runtime_may_ask() && !is_handlers(t, here);
}

static void *handler_stack_hi(struct trace_thread *t)
{
	return t->handler_stack + sizeof(t->handler_stack);
}

/* Another stack for a walk from here, its upper end; NULL: this one will do, or may be
 * it.  In a sandbox signals cannot be blocked meanwhile. */
static void *stack_for_walk(struct trace_thread *t)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	bool is_there = here - (uintptr_t)t->handler_stack < sizeof(t->handler_stack);

	return is_there || sandbox_is_on() || has_room(t, here) ? NULL
								: handler_stack_hi(t);
}

struct walking {
	struct trace_thread *thread;
	const uint64_t *frame;
	uint64_t id;
};

static void walk_there(void *p)
{
	struct walking *w = p;

	w->id = walk(w->thread, w->frame);
}

static __attribute__((noinline)) uint64_t walk_with_room(struct trace_thread *t,
							 const uint64_t *frame)
{
	struct walking w = { .thread = t, .frame = frame };

	trace_thread_call(stack_for_walk(t), walk_there, &w);
	return w.id;
}

uint64_t trace_thread_stack(const uint64_t *frame)
{
	struct trace_thread *t = own((uintptr_t)frame);
	uint64_t id;

	if (!begin(t, (uintptr_t)frame))
		return WIRE_TRACER_NO_STACK;
	id = unwind_local_known(t->cache, frame, whose(t));
	if (!id)
		id = walk_with_room(t, frame);
	end(t);
	return id;
}

uint64_t trace_thread_stack_at(const ucontext_t *context)
{
	struct trace_thread *t = own(arch_sp(context));
	uint64_t id;

	if (!begin(t, arch_sp(context)))
		return WIRE_TRACER_NO_STACK;
	id = walk_at(t, context);
	end(t);
	return id;
}

void *trace_thread_handler_stack(void)
{
	struct trace_thread *t = own((uintptr_t)__builtin_frame_address(0));

	return t ? handler_stack_hi(t) : NULL;
}

struct wait_place *trace_thread_wait_place(void)
{
	struct trace_thread *t = trace_local()->thread;

	return t ? &t->place : NULL;
}

int trace_thread_tid(void)
{
	const struct trace_thread *t = trace_local()->thread;

	return t ? t->tid : 0;
}

bool trace_thread_room(const uint64_t *frame, void **ret)
{
	struct trace_thread *t = own((uintptr_t)frame);

	*ret = t && !has_room(t, (uintptr_t)frame) ? handler_stack_hi(t) : NULL;
	return t != NULL;
}

void trace_thread_call(void *stack, void (*f)(void *), void *arg)
{
	uint64_t all = ~UINT64_C(0), mask = 0;

	if (!stack) {
		f(arg);
		return;
	}
	sys_signal_mask(SIG_BLOCK, &all, &mask);
	arch_call_on(stack, f, arg);
	sys_signal_mask(SIG_SETMASK, &mask, NULL);
}

struct trace_fpe_event *trace_thread_fpe(void)
{
	struct trace_thread *t = own((uintptr_t)__builtin_frame_address(0));

	return t ? &t->fpe : NULL;
}

void trace_thread_each_fpe(void (*fn)(struct trace_fpe_event *event))
{
	for (struct trace_thread *t = of_link(thread_chain_newest(&chain)); t;
	     t = before(t))
		fn(&t->fpe);
}

void trace_thread_each_memory(void (*fn)(const void *at, size_t bytes))
{
	for (struct trace_thread *t = of_link(thread_chain_newest(&chain)); t;
	     t = before(t))
		fn(t, cache_at() + unwind_local_cache_bytes());
}
