/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_sync.h"

#include <linux/futex.h>
#include <stddef.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/modules.h"
#include "inject/next.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/futex_record.h"
#include "wire/tracer.h"

uint32_t trace_sync_waiting[1 << TRACE_SYNC_BITS];

/* What is shorter is no wait: so many times a call that need not wait. */
#define THRESHOLD_CALLS 6
#define N_ROUNDS	8
#define ROUND_CALLS	32
/* Of every C library here: enough, and unlocked where it is 0. */
#define MUTEX_BYTES 128

/* Set once, with the first wait; UINT64_MAX: not yet. */
static uint64_t threshold_ns = UINT64_MAX;

/* The addresses that the recorder was told the place of, each where it would be looked
 * for. */
#define TOLD_BITS 10
static uintptr_t told[1 << TOLD_BITS];
static uint64_t told_epoch;

typedef int mutex_fn(void *mutex);

/* The mean of a call that need not wait, clock included, when nothing disturbs. */
static uint64_t measure(void)
{
	mutex_fn *try = (mutex_fn *)next_symbol("pthread_mutex_trylock");
	mutex_fn *unlock = (mutex_fn *)next_symbol("pthread_mutex_unlock");
	uint64_t mutex[MUTEX_BYTES / 8] = { 0 }, least = UINT64_MAX;

	for (int i = 0; try && unlock && i < N_ROUNDS; i++) {
		uint64_t since_ns = vdso_now_ns(), took_ns = 0;

		for (int k = 0; k < ROUND_CALLS; k++) {
			try(mutex);
			took_ns = vdso_now_ns() - since_ns;
			unlock(mutex);
		}
		if (took_ns / ROUND_CALLS < least)
			least = took_ns / ROUND_CALLS;
	}
	return least == UINT64_MAX ? 0 : least;
}

static __attribute__((noinline)) void settle(void)
{
	struct wire_tracer_sync_start r = {
		.threshold_ns = trace_runtime.meeting.control->wait_threshold_ns
	};

	if (r.threshold_ns == WIRE_TRACER_CALIBRATE) {
		r.call_ns = measure();
		r.threshold_ns = THRESHOLD_CALLS * r.call_ns;
	}
	__atomic_store_n(&threshold_ns, r.threshold_ns, __ATOMIC_RELAXED);
	trace_runtime_write(WIRE_TRACER_SYNC_START, &r, sizeof(r), NULL, 0);
}

/* What this thread waits for from now on in a wrapper is not to be told by the kernel's
 * side as well.  It wakes nobody, as nobody waits for that word, nor is anybody asked
 * for. */
static __attribute__((noinline)) void tell_within(struct trace_local *l)
{
	uint64_t cookie = trace_runtime.meeting.control->waits_cookie;

	l->has_told_within = true;
	if (cookie)
		sys_call(SYS_futex, &l->within, FUTEX_WAKE_PRIVATE, 0,
			 futex_record_told_fourth(cookie),
			 futex_record_told_fifth(cookie), 0);
}

static void tell_place(uintptr_t address)
{
	struct wire_tracer_place r = { .address = address };
	uintptr_t *place =
		&told[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TOLD_BITS)];

	if (__atomic_load_n(&told_epoch, __ATOMIC_RELAXED) != trace_runtime.epoch) {
		memset(told, 0, sizeof(told));
		__atomic_store_n(&told_epoch, trace_runtime.epoch, __ATOMIC_RELAXED);
	}
	if (!address || __atomic_load_n(place, __ATOMIC_RELAXED) == address)
		return;
	if (modules_place(address, &r.code, &r.linked) &&
	    modules_tell(&trace_runtime.ring, &address, 1))
		trace_runtime_write(WIRE_TRACER_PLACE, &r, sizeof(r), NULL, 0);
	__atomic_store_n(place, address, __ATOMIC_RELAXED);
}

static struct wire_tracer_waiting *waiting_at(uint32_t i)
{
	char *header = (char *)trace_runtime.ring.header;

	return (struct wire_tracer_waiting *)(header + WIRE_SAMPLER_PAGE) + i;
}

/* This thread's place; NULL: so many others wait that there is none. */
static struct wire_tracer_waiting *take_place(void)
{
	struct wire_sampler_ring *header = trace_runtime.ring.header;
	struct wait_place *place = trace_thread_wait_place();
	uint32_t n;

	if (!header || !place || !wait_place_take(place))
		return NULL;
	n = __atomic_load_n(&header->n_waiting, __ATOMIC_RELAXED);
	while (n <= place->at &&
	       !__atomic_compare_exchange_n(&header->n_waiting, &n, place->at + 1, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return waiting_at(place->at);
}

/* In case it never ends, which nobody will tell. */
static void begin_waiting(const struct trace_wait *w)
{
	struct wire_tracer_waiting *at = take_place();

	if (!at)
		return;
	__atomic_store_n(&at->since_ns, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	at->ring_ns = trace_runtime.ring.start_ns;
	at->observed_ns = wire_sampler_observed(&trace_runtime.meeting.control->pauses,
						w->since_ns);
	at->address = w->address;
	at->stack = w->stack;
	at->tid = (uint32_t)trace_thread_tid();
	at->what = w->what;
	at->holder = w->holder;
	__atomic_store_n(&at->since_ns, w->since_ns, __ATOMIC_RELEASE);
}

static void end_waiting(void)
{
	struct wait_place *place = trace_thread_wait_place();

	if (!trace_runtime.ring.header || !place || !place->is_taken)
		return;
	__atomic_store_n(&waiting_at(place->at)->since_ns, 0, __ATOMIC_RELAXED);
	wait_place_give(place);
}

bool trace_sync_begin(struct trace_wait *w)
{
	struct trace_local *l = trace_local();

	if (!trace_runtime_traces(WIRE_TRACER_SYNC) || trace_runtime_is_paused() ||
	    trace_local_is_shared(l))
		return false;
	if (l->within && w->frame < l->within)
		return false;
	if (__atomic_load_n(&threshold_ns, __ATOMIC_RELAXED) == UINT64_MAX)
		settle();
	if (!l->has_told_within)
		tell_within(l);
	w->before = l->within;
	l->within = w->frame;
	if (w->address)
		__atomic_fetch_add(trace_sync_place(w->address), 1, __ATOMIC_SEQ_CST);
	tell_place(w->address);
	w->stack = trace_thread_stack(w->frame);
	w->since_ns = vdso_now_ns();
	begin_waiting(w);
	return true;
}

void trace_sync_end(const struct trace_wait *w)
{
	struct wire_tracer_wait r = { .time_ns = vdso_now_ns(),
				      .address = w->address,
				      .what = w->what };

	trace_local()->within = w->before;
	if (w->address)
		__atomic_fetch_sub(trace_sync_place(w->address), 1, __ATOMIC_RELAXED);
	r.waited_ns = r.time_ns - w->since_ns;
	if (!trace_runtime_is_on())
		return;
	end_waiting();
	if (r.waited_ns < __atomic_load_n(&threshold_ns, __ATOMIC_RELAXED)) {
		ring_count(&trace_runtime.ring.header->n_short_waits, 1);
		ring_count(&trace_runtime.ring.header->short_wait_ns, r.waited_ns);
		return;
	}
	r.stack = w->stack;
	trace_runtime_write(WIRE_TRACER_WAIT, &r, sizeof(r), NULL, 0);
}

void trace_sync_release(uintptr_t address, const uint64_t *frame)
{
	struct wire_tracer_release r = { .address = address };

	if (!trace_runtime_traces(WIRE_TRACER_SYNC) || !trace_sync_is_waited_for(address))
		return;
	r.stack = trace_thread_stack(frame);
	r.time_ns = vdso_now_ns();
	trace_runtime_write(WIRE_TRACER_RELEASE, &r, sizeof(r), NULL, 0);
}

void trace_sync_after_fork(void)
{
	memset(trace_sync_waiting, 0, sizeof(trace_sync_waiting));
	threshold_ns = UINT64_MAX;
	wait_place_reset();
	trace_local()->within = NULL;
}
