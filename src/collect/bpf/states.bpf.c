/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * states - in which state every thread is at every moment, and in which stack.
 *
 * A switch ends what the threads on both its sides did.  CPU time is exact; whether it
 * was user's or system's is told by samples, each of which stands for all CPU time of the
 * thread since its last one.  All programs but those over all threads run with interrupts
 * off.
 */
#define TAKING_HAS_PLACES

#include "collect/bpf/again.bpf.h"
#include "collect/bpf/blocking.bpf.h"
#include "collect/bpf/charging.bpf.h"
#include "collect/bpf/foreseen.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapped.bpf.h"
#include "collect/bpf/standing.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "collect/bpf/wakers.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A thread that runs, and has no CPU for so long, was switched away from untold. */
#define CUT_SURE_NS 1000000

/* The collector's: nothing is charged behind it; and what goes on is as good as over. */
bool is_last_cut = false, is_end = false;

/* As the kernel lays it out. */
struct bpf_perf_event_data {
	struct registers regs;
	uint64_t sample_period, addr;
};

/* The stack that is known again, if all of it is, and what is told of it already. */
static __always_inline bool block_again(struct task_struct *task, struct thread *t,
					uint32_t state, const struct known *e,
					const struct standing *st)
{
	uint32_t has_address;
	uint64_t hash;

	if (!e || !standing_is_known(st, e->told_hash, &hash, &has_address))
		return false;
	t->state =
		state ? blocking_state(e->mark, state, st->user) : STATE_RECORD_WAIT_CPU;
	t->sum = sums_known(sums_key(task, hash, has_address, t->whose, t->state));
	return t->sum != 0;
}

/* What the thread waits for, and in which stack. */
static __always_inline void block(void *ctx, struct scratch *s, struct task_struct *task,
				  struct thread *t, uint32_t state)
{
	const struct known *e = known_find(ctx, task, BLOCKING_WAY);
	struct standing st;
	bool is_fault;

	standing_at(&st, task);
	if (block_again(task, t, state, e, &st))
		return;
	sums_clear_stack(s);
	is_fault = e && e->mark;
	if (e)
		known_take(s, e);
	else
		is_fault = blocking_take_kernel(ctx, s);
	standing_take(&st, s, task);
	t->state =
		state ? blocking_state(is_fault, state, st.user) : STATE_RECORD_WAIT_CPU;
	t->sum = sums_find(s, task, t->whose, t->state);
	sums_want_image(s, task);
}

static __always_inline void leave(void *ctx, struct scratch *s, struct task_struct *task,
				  struct thread *t, uint32_t state, uint64_t now)
{
	if (charging_is_away(t))
		charging_enter_late(s, task, t, now);
	charging_end_run(s, task, t, now);
	if (state & TASK_DEAD)
		charging_share_pending(s, task, t);
	charging_pay(s, task, t);
	if (state & TASK_DEAD) {
		t->where = THREAD_ENDED;
		return;
	}
	block(ctx, s, task, t, state);
	t->waited_ns = t->late_ns = 0;
	t->where = state ? THREAD_BLOCKED : THREAD_WAITS;
}

/* (is_preempted, previous, next, state of the previous) */
SEC("tp_btf/sched_switch")
int switched(uint64_t *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	uint32_t state = ctx[0] ? 0 : (uint32_t)ctx[3];
	uint64_t now = bpf_ktime_get_ns();
	struct scratch *s = taking_scratch(TAKING_ALONE);
	struct thread *t;

	if (!s)
		return 0;
	t = thread_get(prev);
	if (t)
		leave(ctx, s, prev, t, state, now);
	if (next->pid)
		charging_note_clock(next, now);
	t = thread_get(next);
	if (t)
		charging_enter(s, next, t, now);
	return 0;
}

/* Of a thread that sleeps: the kernel's part, which is all that can be seen. */
static __always_inline void take_asleep(struct scratch *s, struct task_struct *task,
					struct thread *t, uint32_t state)
{
	struct walk *w = &s->walk;
	const struct registers *user = registers_kept(task);
	long size;

	sums_clear_stack(s);
	size = bpf_get_task_stack(task, w->record.frames, STACK_RECORD_KERNEL_MAX * 8, 0);
	w->n_kernel = size > 0 ? (uint32_t)size / 8 : 0;
	for (uint32_t i = 0; i < STACK_RECORD_KERNEL_MAX; i++) {
		if (i >= w->n_kernel)
			break;
		w->hash = taking_mix(w->hash, w->record.frames[i]);
	}
	if (!kernel_task(task)->mm || task->flags & PF_KTHREAD ||
	    !registers_kept_are_user(user))
		user = NULL;
	t->state = blocking_state(blocking_is_fault(s), state, user);
	t->sum = sums_find(s, task, t->whose, t->state);
	t->where = THREAD_BLOCKED;
}

/* It was about to block, and goes on without having left its CPU. */
static __always_inline bool goes_on(const struct task_struct *task,
				    const struct thread *t)
{
	bool is_blocked =
		bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;

	return t->where == THREAD_RUNS && task->on_cpu && task->on_rq && !is_blocked;
}

/* (task): it is another that wakes it, or an interrupt. */
SEC("tp_btf/sched_waking")
int woken(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_get(task);
	struct scratch *s = taking_scratch(TAKING_ALONE);
	uint64_t now = bpf_ktime_get_ns();

	if (!t || !s)
		return 0;
	if (goes_on(task, t)) {
		t->early_ns = now;
		t->waker = 0; /* which is told next */
		return 0;
	}
	/* That it had left was not told, or it was never met. */
	if (t->where <= THREAD_RUNS && !task->on_cpu) {
		if (t->where == THREAD_RUNS)
			charging_left(task, t, now);
		else
			t->ran_ns = task->se.sum_exec_runtime;
		take_asleep(s, task, t, task->__state);
	}
	t->woken_ns = now;
	t->waker = 0; /* which is told next */
	return 0;
}

/* (task): by whom.  On its own, for it takes longer: what is woken by an interrupt of
 * this program is not told to it, and has no waker, but was woken. */
SEC("tp_btf/sched_waking")
int wakes(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_find(task);
	struct scratch *s = taking_scratch(TAKING_ALONE);

	if (t && s && task != bpf_get_current_task_btf())
		t->waker = wakers_find(ctx, s);
	return 0;
}

/* (task): a thread begins, which the current one has made. */
SEC("tp_btf/sched_wakeup_new")
int began(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0], *maker = bpf_get_current_task_btf();
	struct thread *t = thread_find(maker);
	struct scratch *s = taking_scratch(TAKING_ALONE);

	if (!s || (!is_everybody && !t && !thread_is_told(maker)))
		return 0;
	if (!is_everybody && !is_following && task->tgid != maker->tgid)
		return 0;
	t = thread_add(task);
	if (!t)
		return 0;
	t->since_ns = bpf_ktime_get_ns();
	charging_waits(s, task, t);
	return 0;
}

/* A process that is told begins with its program; any other has a new name. */
SEC("tp_btf/sched_process_exec")
int executed(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_find(task);
	uint32_t followed = THREAD_FOLLOWED;
	int32_t tgid = task->tgid;

	if (t) {
		thread_renew(task, t);
		t->user_ns = t->system_ns = 0;
		mapped_program();
		return 0;
	}
	if (!bpf_map_lookup_elem(&processes, &tgid))
		return 0;
	mapped_program();
	bpf_map_update_elem(&processes, &tgid, &followed, BPF_ANY);
	t = thread_add(task);
	if (!t)
		return 0;
	t->since_ns = bpf_ktime_get_ns();
	t->where = THREAD_RUNS;
	return 0;
}

SEC("perf_event")
int sampled(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool is_user = registers_are_user(&ctx->regs);
	struct scratch *s = taking_scratch(TAKING_ALONE);
	struct thread *t = thread_find(task);
	uint64_t now = bpf_ktime_get_ns(), ns;
	uint32_t sum;

	if (!s || !t)
		return 0;
	if (charging_is_away(t))
		charging_enter_late(s, task, t, charging_known(task, now));
	if (t->where != THREAD_RUNS)
		return 0;
	ns = charging_unseen(s, task, t, now);
	if (!ns)
		return 0;
	sums_clear_stack(s);
	if (!is_user)
		taking_kernel(ctx, s, 0);
	taking_user(s, task, is_user ? &ctx->regs : NULL);
	sum = sums_find(s, task, t->whose,
			is_user ? STATE_RECORD_USER : STATE_RECORD_SYSTEM);
	sums_want_image(s, task);
	charging_state(s, task, t, sum, is_user ? STATE_RECORD_USER : STATE_RECORD_SYSTEM,
		       ns);
	if (is_user) {
		charging_see(t, &t->user_ns, ns);
		t->user_sum = sum;
	} else {
		charging_see(t, &t->system_ns, ns);
		t->system_sum = sum;
	}
	return 0;
}

/* Every thread that exists when the recording begins. */
SEC("iter/task")
int begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = taking_scratch(TAKING_PREEMPTED);
	struct thread *t;

	if (!task || !s || !thread_is_told(task) || thread_find(task))
		return 0;
	t = thread_add(task);
	if (!t)
		return 0;
	t->ran_ns = task->se.sum_exec_runtime;
	if (task->on_cpu) {
		t->where = THREAD_RUNS;
	} else if (task->__state) {
		take_asleep(s, task, t, task->__state);
	} else {
		charging_waits(s, task, t);
	}
	return 0;
}

static __always_inline void find_left(struct scratch *s, struct task_struct *task,
				      struct thread *t, uint64_t now)
{
	charging_left(task, t, now);
	if (task->__state)
		take_asleep(s, task, t, task->__state);
	else
		charging_waits(s, task, t);
}

/* It has no CPU, as far as was told, and has run for a time since. */
static __always_inline bool runs_untold(const struct task_struct *task,
					const struct thread *t)
{
	return charging_is_away(t) && task->on_cpu &&
	       task->se.sum_exec_runtime > t->ran_ns;
}

/* The sums that it keeps are of this generation from now on. */
static __always_inline void renew(struct scratch *s, struct thread *t)
{
	sums_renew(s, &t->sum);
	sums_renew(s, &t->waker);
	sums_renew(s, &t->user_sum);
	sums_renew(s, &t->system_sum);
}

/* The end: also of what runs, and of what no sample has seen yet. */
static __always_inline void cut_last(struct scratch *s, struct task_struct *task,
				     struct thread *t, uint64_t now)
{
	if (t->where == THREAD_RUNS && task->on_cpu)
		t->pending_ns += thread_lap(t, now);
	charging_share_pending(s, task, t);
}

/* What is under way is charged up to now.  CPU time is by the next sample, or switch;
 * who has just been switched to may not have its CPU yet. */
SEC("iter/task")
int cut(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = taking_scratch(TAKING_PREEMPTED);
	uint64_t now = bpf_ktime_get_ns();
	struct thread *t;

	if (!task || !s)
		return 0;
	t = thread_find(task);
	if (!t || t->where == THREAD_ENDED)
		return 0;
	thread_name(task, t);
	renew(s, t);
	if (t->where == THREAD_RUNS && !task->on_cpu &&
	    (is_last_cut || now > t->since_ns + CUT_SURE_NS))
		find_left(s, task, t, now);
	else if (runs_untold(task, t))
		charging_enter_late(s, task, t, now);
	if (is_last_cut)
		cut_last(s, task, t, now);
	if (t->where != THREAD_RUNS)
		charging_wait(s, task, t, now, is_end);
	charging_pay(s, task, t);
	return 0;
}
