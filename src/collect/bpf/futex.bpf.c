/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * futex - waits of threads for each other that go through the kernel, in any language.
 *
 * A thread that waits is THREAD_BLOCKED since then, and its sum is that of the wait.
 * Waits that the program's own tracer observes, which it says by a word of the thread's,
 * are none of ours.
 */
#include "collect/bpf/calls.bpf.h"
#include "collect/bpf/each.bpf.h"
#include "collect/bpf/foreseen.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapped.bpf.h"
#include "collect/bpf/objects.bpf.h"
#include "collect/bpf/results.bpf.h"
#include "collect/bpf/steps.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/futex_record.h"

/* Set before loading: what each call is (enum futex_record_call), as 64-bit programs
 * number them, and as 32-bit ones do; shorter waits are only counted. */
const volatile uint8_t futex_calls[2][FUTEX_RECORD_CALLS_MAX] = { 0 };
const volatile uint64_t threshold_ns = 0;
/* Of the recording, 0: no program knows of it. */
const volatile uint64_t cookie = 0;

/* Whose scratch is which. */
enum { SCRATCH_CALL, SCRATCH_CUT, SCRATCH_WAKE };

/* Of the kernel's: nobody came in time; a signal did, or who traces the thread, and
 * unless a handler runs, it comes back by the same call, or for the rest of its time by
 * another. */
#define RESULT_TIMEOUT (-110)

/* As <linux/futex.h> has them. */
enum {
	OP_WAIT = 0,
	OP_WAKE = 1,
	OP_LOCK_PI = 6,
	OP_WAIT_BITSET = 9,
	OP_WAIT_REQUEUE_PI = 11,
	OP_LOCK_PI2 = 13,
	OP_MASK = 127, /* without what says private, and of which clock */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, IO_RECORD_MORE_MAX);
	__type(key, uint32_t);
	__type(value, struct futex_record_more);
} futex_more SEC(".maps");

/* What goes on when all threads are gone through is not met again. */
bool is_end = false;
/* The collector's: nothing is summed behind it, for the time being. */
bool is_last_cut = false;
uint64_t futex_n_short = 0, futex_short_ns = 0; /* waits below the threshold */
uint64_t futex_n_untimed = 0;			/* waits that had no room in futex_more */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct wait {
	uint64_t first; /* argument of the call */
	uint64_t address;
	uint32_t event; /* enum futex_record_event */
	uint32_t how;	/* enum futex_record_how, 0: it does not wait */
};

static __always_inline struct scratch *scratch_of(uint32_t which)
{
	return bpf_map_lookup_elem(&scratches, &which);
}

static __always_inline uint32_t call_of(int64_t number, bool is_32bit)
{
	uint32_t n = (uint32_t)number & ~CALLS_X32_BIT;

	return n < FUTEX_RECORD_CALLS_MAX ? futex_calls[is_32bit][n] : 0;
}

static __always_inline void wait_by_op(struct wait *w, uint32_t op)
{
	if (op == OP_WAIT || op == OP_WAIT_BITSET) {
		w->how = FUTEX_RECORD_ONE;
	} else if (op == OP_LOCK_PI || op == OP_LOCK_PI2) {
		w->how = FUTEX_RECORD_INHERITS;
		w->event = FUTEX_RECORD_LOCK;
	} else if (op == OP_WAIT_REQUEUE_PI) {
		w->how = FUTEX_RECORD_REQUEUED;
	}
}

/* What a thread is called into the kernel for.  Of several words the address is that of
 * their list, until read_first(). */
static __always_inline void wait_of(struct wait *w, uint32_t call,
				    const struct registers *r, bool is_32bit)
{
	w->address = w->first = registers_first_argument(r, is_32bit);
	w->event = FUTEX_RECORD_WAIT;
	w->how = FUTEX_RECORD_NO_HOW;
	if (call == FUTEX_RECORD_FUTEX) {
		wait_by_op(w, registers_argument(r, 1, is_32bit) & OP_MASK);
	} else if (call == FUTEX_RECORD_WAITS) {
		w->how = FUTEX_RECORD_ONE;
	} else if (call == FUTEX_RECORD_WAITS_MANY) {
		w->how = FUTEX_RECORD_OF_MANY;
	}
}

/* Of several words that the current thread waits for; of another one's list nothing can
 * be read. */
static __always_inline void read_first(struct wait *w)
{
	const uint64_t *first = (const void *)w->address;

	/* The value that it has, and then where it is. */
	if (w->how == FUTEX_RECORD_OF_MANY &&
	    bpf_probe_read_user(&w->address, sizeof(w->address), first + 1))
		w->address = 0;
}

/* The thread tells where it says that it waits, in this recording. */
static __always_inline bool is_told(const struct registers *r, bool is_32bit)
{
	return cookie && (registers_argument(r, 1, is_32bit) & OP_MASK) == OP_WAKE &&
	       !(uint32_t)registers_argument(r, 2, is_32bit) &&
	       registers_argument(r, 3, is_32bit) == futex_record_told_fourth(cookie) &&
	       registers_argument(r, 4, is_32bit) == futex_record_told_fifth(cookie);
}

/* What its tracer observes.  A frame that is further in than the thread is now was left
 * without an end. */
static __always_inline bool is_within(const struct thread *t, const struct registers *r,
				      bool is_32bit)
{
	const void *at = (const void *)t->within_at;
	uint64_t frame = 0;

	if (!at || bpf_probe_read_user(&frame, is_32bit ? 4 : 8, at))
		return false;
	return frame && registers_sp(r) <= frame;
}

/* The sum of such a wait in the stack in which the current thread is.  Not static:
 * verified by itself, once. */
__noinline uint32_t futex_sum(uint32_t event, uint32_t how, uint64_t address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_of(SCRATCH_CALL);
	struct thread *t = thread_find(task);

	if (!s || !t)
		return 0;
	return calls_find_for(s, task, t, registers_kept(task), event, how,
			      objects_find(s, task, address, NULL));
}

static __always_inline void charge_time(uint32_t sum, uint64_t ns)
{
	uint32_t slot = io_record_more_slot(sum);
	struct futex_record_more *more = bpf_map_lookup_elem(&futex_more, &slot);

	if (more)
		steps_charge(more->times, IO_RECORD_TIMES, ns >> IO_RECORD_TIME_SHIFT);
	else
		__sync_fetch_and_add(&futex_n_untimed, 1);
}

static __always_inline void charge_waker(struct scratch *s, uint32_t sum, uint32_t waker,
					 uint64_t ns)
{
	uint64_t key = taking_mix((uint64_t)sum << 32 | waker, STACK_RECORD_PAIR);
	uint32_t number = sums_known(key);

	if (!number)
		number = sums_add_pair(s, sum, waker, key);
	sums_charge_part(number, ns, true);
}

/* A wait of the current thread was over at that time; ns of it are not charged yet.  Who
 * has not left its CPU has not waited: the word was another already, or the lock was
 * free.  Not static: verified by itself, once. */
__noinline int futex_charge(uint64_t ns, uint64_t whole_ns, int64_t result, uint64_t at)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_find(task);
	struct scratch *s = scratch_of(SCRATCH_CALL);

	if (!s || !t || !t->sum || t->n_left == task->nvcsw)
		return 0;
	if (whole_ns < threshold_ns) {
		__sync_fetch_and_add(&futex_n_short, 1);
		__sync_fetch_and_add(&futex_short_ns, whole_ns);
		return 0;
	}
	/* Before the sum: who finds that there is more finds all that is beside it. */
	charge_time(t->sum, whole_ns);
	if (t->waker && result != RESULT_TIMEOUT)
		charge_waker(s, t->sum, t->waker, ns);
	sums_charge_part(t->sum, ns, true);
	each_tell(&t->sum, whole_ns, at);
	return 0;
}

/* The wait of the current thread is over at that time. */
static __always_inline void charge_end(struct thread *t, uint64_t at, int64_t result)
{
	uint64_t from = from_ns, ns = thread_lap(t, at);

	if (from && at > from) /* what was before is not known */
		futex_charge(ns, at - (t->began_ns > from ? t->began_ns : from), result,
			     at);
}

/* What is broken off is made again as it was. */
static __always_inline void keep_call(struct thread *t, const struct wait *w,
				      const struct registers *r)
{
	t->call_sp = registers_sp(r);
	t->call_first = w->first;
	t->call_how = w->how;
}

/* Does the wait that was broken off go on by this call?  A handler's own is further in,
 * or on another stack. */
static __always_inline bool is_same_call(const struct thread *t, uint32_t call,
					 const struct wait *w, const struct registers *r)
{
	if (registers_sp(r) != t->call_sp)
		return false;
	return call == FUTEX_RECORD_RESTARTS ||
	       (w->how && w->how == t->call_how && w->first == t->call_first);
}

/* What a signal came in between of: whether the thread waits on.  Then, as if the time
 * since had not been: it was stopped, or its signal was of no effect. */
static __always_inline bool go_on(struct thread *t, bool restarts)
{
	uint64_t broke_ns = t->broke_ns, gap_ns;

	t->broke_ns = 0;
	if (!restarts) {
		charge_end(t, broke_ns, RESULTS_RESTART);
		return false;
	}
	gap_ns = bpf_ktime_get_ns() - broke_ns;
	t->began_ns += gap_ns;
	__sync_fetch_and_add(&t->since_ns, gap_ns);
	__sync_lock_test_and_set(&t->where, THREAD_BLOCKED);
	return true;
}

/* (registers, number): what is done here is not in the wait's time. */
SEC("tp_btf/sys_enter")
int entered(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_get(task);
	const struct registers *r = (const void *)ctx[0];
	bool is_32bit = registers_call_is_32bit(task);
	uint32_t call = call_of((int64_t)ctx[1], is_32bit);
	struct wait w;

	if (!t)
		return 0;
	t->where = THREAD_RUNS;
	wait_of(&w, call, r, is_32bit);
	if (t->broke_ns && go_on(t, is_same_call(t, call, &w, r)))
		return 0;
	if (!call)
		return 0;
	read_first(&w);
	if (!w.how && call == FUTEX_RECORD_FUTEX && is_told(r, is_32bit)) {
		t->within_at = w.address;
	} else if (!w.how) {
		t->may_wake = 1;
	} else if (!is_within(t, r, is_32bit)) {
		t->sum = futex_sum(w.event, w.how, w.address);
		t->waker = 0;
		t->n_left = task->nvcsw;
		t->is_old = 0;
		keep_call(t, &w, r);
		thread_block(t, bpf_ktime_get_ns());
	}
	return 0;
}

/* (registers, result) */
SEC("tp_btf/sys_exit")
int left(uint64_t *ctx)
{
	uint64_t now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_get(task);
	const struct registers *r = (const void *)ctx[0];
	bool is_32bit = registers_call_is_32bit(task);
	struct wait w;

	if (!t)
		return 0;
	mapped_returned(r, (int64_t)ctx[1]);
	t->may_wake = 0;
	if (t->where == THREAD_UNKNOWN) { /* it has waited since before the recording */
		wait_of(&w, call_of(registers_call(r), is_32bit), r, is_32bit);
		w.address = w.first = registers_first_argument_was(r, is_32bit);
		read_first(&w);
		keep_call(t, &w, r);
		t->where = w.how ? THREAD_BLOCKED : THREAD_RUNS;
		t->began_ns = t->since_ns;
		t->is_old = t->since_ns <= from_ns;
		t->n_left = 0;
		t->sum = w.how ? futex_sum(w.event, w.how, w.address) : 0;
	}
	if (t->where != THREAD_BLOCKED)
		return 0;
	t->where = THREAD_RUNS;
	if (results_is_broken_off((int64_t)ctx[1]))
		t->broke_ns = now;
	else
		charge_end(t, now, (int64_t)ctx[1]);
	return 0;
}

/* (task): it is another that wakes it, which is in a call to do so. */
SEC("tp_btf/sched_waking")
int woken(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0], *by;
	struct thread *t = thread_find(task), *waker;
	struct scratch *s = scratch_of(SCRATCH_WAKE);

	if (!t || !s || t->where != THREAD_BLOCKED)
		return 0;
	by = bpf_get_current_task_btf();
	waker = thread_find(by);
	if (waker && waker->may_wake && by != task)
		t->waker = calls_find(s, by, waker, registers_kept(by),
				      FUTEX_RECORD_WAKER, 0);
	return 0;
}

/* What goes on, or may go on. */
static __always_inline void charge_until(struct thread *t, uint64_t now)
{
	if (t->broke_ns)
		now = t->broke_ns;
	else if (t->where != THREAD_BLOCKED)
		return;
	if (!t->sum || now - t->began_ns < threshold_ns)
		return;
	sums_charge_part(t->sum, thread_lap(t, now), false);
	/* What comes behind a pause is told by itself. */
	if (is_last_cut && !is_end && from_ns)
		each_tell(&t->sum, thread_observed(t->began_ns, now), now);
}

/* Does the thread wait, be it that a signal came in between and no handler has run? */
static __always_inline bool
is_waiting(const struct thread *t, const struct registers *kept __attribute__((unused)))
{
	int64_t result = t->broke_ns ? REGISTERS_RESULT(kept) : 0;

	return t->sum && (t->broke_ns ? !result || results_is_broken_off(result)
				      : t->where == THREAD_BLOCKED);
}

/* It will not be seen to end: how long it has taken is told once.  Where sums are of
 * classes, somebody is always waiting for the next thing to do. */
static __always_inline void charge_unfinished(const struct thread *t, uint64_t now)
{
	uint64_t end_ns = t->broke_ns ? t->broke_ns : now;
	uint64_t ns = thread_observed(t->began_ns, end_ns);
	uint32_t slot = io_record_more_slot(t->sum);
	struct futex_record_more *more = bpf_map_lookup_elem(&futex_more, &slot);

	if (!more || !from_ns || !has_addresses || !ns || ns < threshold_ns)
		return;
	each_tell(&t->sum, ns, end_ns);
	if (t->is_old)
		__sync_fetch_and_add(&more->n_begun_before, 1);
	__sync_fetch_and_add(&more->n_unfinished, 1);
	__sync_fetch_and_add(&more->unfinished_ns, ns);
}

/* (task): it ends in a wait, which is not over. */
SEC("tp_btf/sched_process_exit")
int ended(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_find(task);
	uint64_t now = bpf_ktime_get_ns();

	if (!t)
		return 0;
	/* Before the sum. */
	if (is_waiting(t, registers_kept(task)))
		charge_unfinished(t, now);
	charge_until(t, now);
	t->where = THREAD_ENDED;
	t->broke_ns = 0;
	return 0;
}

/* Every thread that exists when the recording begins. */
SEC("iter/task")
int begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && thread_is_told(task) && !thread_find(task))
		thread_add(task);
	return 0;
}

/* It waits since before the recording, and nobody has interrupted it: its stack is that
 * of another thread, and cannot be taken here. */
static __always_inline void find_wait(struct scratch *s, struct task_struct *task,
				      struct thread *t)
{
	const struct registers *r = registers_kept(task);
	bool is_32bit = registers_call_is_32bit(task);
	struct mapping own; /* an iterator may be preempted */
	struct wait w;

	if (!kernel_task(task)->mm || task->on_cpu)
		return;
	wait_of(&w, call_of(registers_call(r), is_32bit), r, is_32bit);
	if (!w.how)
		return;
	if (w.how == FUTEX_RECORD_OF_MANY) /* the list is in that thread's memory */
		w.address = 0;
	t->began_ns = t->since_ns;
	t->is_old = 1;
	t->n_left = 0;
	keep_call(t, &w, r);
	t->sum = calls_walk_for(s, task, t, NULL, w.event, w.how,
				objects_find(s, task, w.address, &own));
	__sync_val_compare_and_swap(&t->where, THREAD_UNKNOWN, THREAD_BLOCKED);
}

/* What is under way is charged up to now, and is not over; its numbers are of this
 * generation from now on. */
SEC("iter/task")
int cut(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = scratch_of(SCRATCH_CUT);
	struct thread *t;

	if (!task || !s)
		return 0;
	t = thread_find(task);
	if (!t)
		return 0;
	thread_name(task, t);
	if (t->where == THREAD_UNKNOWN)
		find_wait(s, task, t);
	sums_renew(s, &t->sum);
	sums_renew(s, &t->waker);
	if (is_end && is_waiting(t, registers_kept(task)))
		charge_unfinished(t, bpf_ktime_get_ns());
	charge_until(t, bpf_ktime_get_ns());
	return 0;
}
