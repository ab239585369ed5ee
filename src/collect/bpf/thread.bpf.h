/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * thread - what is known of each thread that is followed, and which ones are.
 *
 * A thread runs, waits for a CPU, or is blocked; since when, is taken and set by one
 * atomic exchange, so that every moment is charged once.
 */
#ifndef DWELL_COLLECT_BPF_THREAD_BPF_H
#define DWELL_COLLECT_BPF_THREAD_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/state_record.h"

#define THREAD_PROCESSES_MAX 65536
#define THREAD_LAP_TRIES     3
#define THREAD_LATE_MAX	     4096

/* Set before loading. */
const volatile bool is_everybody = false; /* not only processes that are told */
const volatile bool is_following = false; /* children too */

/* Nothing is charged that was before, or while it is 0. */
uint64_t from_ns = 0;
uint32_t thread_next_serial = 1;

enum thread_where {
	THREAD_UNKNOWN,
	THREAD_RUNS,
	THREAD_WAITS,
	THREAD_BLOCKED,
	THREAD_ENDED
};

struct thread {
	uint64_t since_ns;
	uint64_t began_ns; /* to run; 0: unknown */
	uint64_t ran_ns;   /* of the scheduler's account, when it began to run, or left */
	uint64_t seen_ns;  /* of it, at the last sample */
	uint64_t woken_ns; /* the last time since then, 0: not */
	uint64_t early_ns; /* woken while it seemed to run, 0: not; it may have been
			      leaving */
	uint64_t pending_ns; /* CPU time that no sample has seen yet */
	int64_t taken_ns; /* charged as taken since it began; negative: owed from before
			   */
	uint64_t user_ns, system_ns;   /* that samples have seen */
	uint32_t user_sum, system_sum; /* of the last samples */
	uint32_t serial;	       /* of the program that the thread runs */
	uint32_t where;		       /* enum thread_where */
	uint32_t sum;		       /* of what it waits for */
	uint32_t waker;		       /* the sum of who woke it from that, 0: unknown */
	uint32_t state;		       /* that it waits in */
	uint32_t may_wake;	       /* it is in a call that wakes others, if any */
	/* Where it says in which frame it waits and will tell so itself; 0: nowhere. */
	uint64_t within_at;
	uint64_t n_left; /* how often it had left a CPU by itself when it began to wait */
	uint64_t broke_ns; /* a signal came in between, and its wait may go on; 0: not */
	/* The call of a wait: its stack pointer, its first argument, how it waits. */
	uint64_t call_sp, call_first;
	uint32_t call_how;
	uint32_t is_old; /* its wait goes on since before the recording */
	uint64_t whose;	 /* what its sums are told apart by */
	/* Of the wait that goes on, charged to its sum already: before it was woken, and
	 * since. */
	uint64_t waited_ns, late_ns;
	uint64_t owed_ns; /* of what had no sum */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Threads that are followed and have no memory in threads yet, since when what they do is
 * not known.  The kernel gives none where its own are used up, nor while it finds itself
 * called within a call for some, on that CPU; it is asked again at their next event. */
struct thread_late {
	uint64_t start_time; /* whose it is, as ids are used again */
	uint64_t since_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREAD_LATE_MAX);
	__type(key, int32_t);
	__type(value, struct thread_late);
} threads_late SEC(".maps");

/* How often there was one: nobody looks where there was none. */
uint64_t thread_n_late = 0;

enum thread_process { THREAD_BEFORE_EXEC = 0, THREAD_FOLLOWED = 1 };

/* Of a process that is told. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_PROCESSES_MAX);
	__type(key, int32_t);
	__type(value, uint32_t);
} processes SEC(".maps");

static __always_inline bool thread_is_told(struct task_struct *task)
{
	int32_t tgid = task->tgid;
	uint32_t *process;

	if (is_everybody)
		return task->pid != 0;
	process = bpf_map_lookup_elem(&processes, &tgid);
	return process && *process == THREAD_FOLLOWED;
}

static __always_inline struct thread *thread_find(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* As the names are now: where threads are not told apart, by process or by its class. */
static __always_inline void thread_name(struct task_struct *task, struct thread *t)
{
	uint64_t whose;

	if (has_threads) {
		t->whose = t->serial;
		return;
	}
	whose = taking_mix(taking_hash_name(kernel_task(task)->group_leader),
			   taking_cgroup(task));
	t->whose = apart_process(task) ? taking_mix(whose, task->tgid) : whose;
}

/* It runs another program from now on. */
static __always_inline void thread_renew(struct task_struct *task, struct thread *t)
{
	t->serial = __sync_fetch_and_add(&thread_next_serial, 1);
	t->within_at = 0;
	thread_name(task, t);
}

/* Not static: verified by itself, once. */
__noinline int thread_note_late(int32_t tid, uint64_t start_time)
{
	struct thread_late late = { .start_time = start_time,
				    .since_ns = bpf_ktime_get_ns() };

	bpf_map_update_elem(&threads_late, &tid, &late, BPF_ANY);
	__sync_fetch_and_add(&thread_n_late, 1);
	return 0;
}

/* Since when it is not known what the thread does; 0: it is not late. */
static __always_inline uint64_t thread_late_since(const struct task_struct *task)
{
	int32_t tid = task->pid;
	const struct thread_late *late =
		thread_n_late ? bpf_map_lookup_elem(&threads_late, &tid) : NULL;

	return late && late->start_time == task->start_time ? late->since_ns : 0;
}

/* New: since the recording began, in a state that is not known. */
static __always_inline struct thread *thread_add(struct task_struct *task)
{
	uint64_t late_ns = thread_late_since(task);
	int32_t tid = task->pid;
	struct thread *t =
		bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t) {
		thread_note_late(tid, task->start_time);
		return NULL;
	}
	if (!t->serial) {
		t->since_ns = late_ns > from_ns ? late_ns : from_ns;
		t->where = THREAD_UNKNOWN;
		thread_renew(task, t);
	}
	if (late_ns)
		bpf_map_delete_elem(&threads_late, &tid);
	return t;
}

static __always_inline struct thread *thread_get(struct task_struct *task)
{
	struct thread *t = thread_find(task);

	if (t || !task->pid || (!is_everybody && !thread_late_since(task)))
		return t;
	return thread_add(task);
}

/* The maker has made this thread; NULL: it is not followed. */
static __always_inline struct thread *thread_made(struct task_struct *task,
						  struct task_struct *maker)
{
	struct thread *m = thread_find(maker), *t;

	if (!is_everybody && !m && !thread_is_told(maker))
		return NULL;
	if (!is_everybody && !is_following && task->tgid != maker->tgid)
		return NULL;
	t = thread_add(task);
	/* A process begins as a copy, its thread's own memory as well. */
	if (t && m && task->tgid != maker->tgid)
		t->within_at = m->within_at;
	return t;
}

/* It has executed a program: one of a process that is told begins with that, any other
 * has a new name.  NULL: it is not new. */
static __always_inline struct thread *thread_executed(struct task_struct *task)
{
	struct thread *t = thread_find(task);
	uint32_t followed = THREAD_FOLLOWED;
	int32_t tgid = task->tgid;

	if (t) {
		thread_renew(task, t);
		return NULL;
	}
	if (!bpf_map_lookup_elem(&processes, &tgid))
		return NULL;
	bpf_map_update_elem(&processes, &tgid, &followed, BPF_ANY);
	return thread_add(task);
}

/* From now on, in what its sum says.  Who goes through all threads may come at the same
 * time, and is not to find it before it knows since when. */
static __always_inline void thread_block(struct thread *t, uint64_t now)
{
	t->began_ns = t->since_ns = now;
	registers_store_last(&t->where, THREAD_BLOCKED);
}

/* How long it has been as it was until then.  Who goes through all threads and who
 * switches this one may come at the same time: the later clock stays, and what the other
 * one took is not taken again. */
static __always_inline uint64_t thread_lap(struct thread *t, uint64_t now)
{
	uint64_t since = 0, from = from_ns;

	for (uint32_t i = 0; i < THREAD_LAP_TRIES; i++) {
		since = *(volatile uint64_t *)&t->since_ns;
		if (since >= now)
			return 0;
		if (__sync_val_compare_and_swap(&t->since_ns, since, now) == since)
			break;
		since = now;
	}
	if (!from)
		return 0;
	if (since < from)
		since = from;
	return now > since ? now - since : 0;
}

/* For how long what began then has been observed: not before the recording began, nor
 * before its last pause ended, which may be behind a clock that was read before. */
static __always_inline uint64_t thread_observed(uint64_t began, uint64_t now)
{
	uint64_t from = from_ns;

	if (began < from)
		began = from;
	return now > began ? now - began : 0;
}

#endif
