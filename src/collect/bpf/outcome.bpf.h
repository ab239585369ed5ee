/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * outcome - what came of an I/O call: bytes, an error, how long it took.
 */
#ifndef DWELL_COLLECT_BPF_OUTCOME_BPF_H
#define DWELL_COLLECT_BPF_OUTCOME_BPF_H

#include "collect/bpf/calls.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/steps.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/io_record.h"
#include "wire/probe_record.h"

/* Whose scratch is which. */
enum { SCRATCH_CALL, SCRATCH_CUT };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, IO_RECORD_MORE_MAX);
	__type(key, uint32_t);
	__type(value, struct io_record_more);
} io_more SEC(".maps");

/* Set before loading: sums are of no stack. */
const volatile bool has_no_stacks = false;

/* Those that were found last, on each CPU. */
#define OUTCOME_FOUND 256

struct outcome_found {
	uint64_t key; /* of a thread and a label; 0: none yet */
	uint32_t sum, zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OUTCOME_FOUND);
	__type(key, uint32_t);
	__type(value, struct outcome_found);
} outcome_sums SEC(".maps");

uint64_t io_n_unsized = 0; /* calls that had no room there */

struct outcome {
	uint64_t ns, asked, done; /* done: bytes */
	uint32_t event;		  /* enum io_record_event */
	uint32_t error;		  /* 0: none */
};

static __always_inline struct scratch *scratch_of(uint32_t which)
{
	return bpf_map_lookup_elem(&scratches, &which);
}

static __always_inline struct outcome_found *outcome_found_at(uint64_t key)
{
	uint32_t place = key % OUTCOME_FOUND;

	return bpf_map_lookup_elem(&outcome_sums, &place);
}

static __always_inline uint64_t outcome_key(const struct thread *t, uint32_t label)
{
	return taking_mix(t->whose, (uint64_t)t->serial << 32 | label);
}

/* Without a stack: it is found once. */
static __always_inline uint32_t outcome_bare(struct scratch *s, struct task_struct *task,
					     struct thread *t, uint32_t event,
					     uint32_t label)
{
	uint64_t key = outcome_key(t, label);
	struct outcome_found *found = outcome_found_at(key);

	if (!found)
		return 0;
	if (found->key == key) {
		sums_renew(s, &found->sum);
		if (sums_is_good(found->sum))
			return found->sum;
	}
	found->sum = calls_walk(s, task, t, NULL, event, label);
	found->key = key;
	return found->sum;
}

/* The sum of a label in the stack in which the current thread is; a thread of the kernel
 * that works for a program has none.  Not static: verified by itself, once in each
 * program that calls it, which is as much as for all else. */
__noinline uint32_t outcome_sum(uint32_t event, uint32_t label)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_of(SCRATCH_CALL);
	struct thread *t = thread_find(task);

	if (!s || !t)
		return 0;
	if (has_no_stacks || task->flags & PF_IO_WORKER)
		return outcome_bare(s, task, t, event, label);
	return calls_find(s, task, t, registers_kept(task), event, label);
}

/* The sum of a label in the stack of another's.  Not static: verified by itself, once. */
__noinline uint32_t outcome_as(uint32_t of, uint32_t event, uint32_t label)
{
	struct stack_record_again r = {
		.kind = STACK_RECORD_AGAIN, .state = event, .label = label, .of = of
	};
	struct scratch *s = scratch_of(SCRATCH_CALL);
	struct state_record_sum *sum = sums_is_good(of) ? sums_at(of) : NULL;
	void *ring = sums_ring();
	uint64_t key;
	uint32_t number;

	if (!s || !sum || !ring)
		return 0;
	key = taking_mix(taking_mix(sum->key, label), STACK_RECORD_AGAIN);
	number = sums_known(key);
	if (number)
		return number;
	number = sums_number(s);
	r.key = number;
	if (!number)
		return 0;
	if (!bpf_ringbuf_output(ring, &r, sizeof(r), BPF_RB_NO_WAKEUP))
		return sums_publish(number, key);
	sums_give_back(s, number);
	return 0;
}

/* Of a label in the stack of the call that the current thread is in; without one where
 * that is not known, and for a thread of the kernel.  The same. */
__noinline uint32_t outcome_inside(uint32_t event, uint32_t label)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_of(SCRATCH_CALL);
	struct thread *t = thread_find(task);

	if (!s || !t)
		return 0;
	if (has_no_stacks || task->flags & PF_IO_WORKER || t->where != THREAD_BLOCKED ||
	    !t->sum)
		return outcome_bare(s, task, t, event, label);
	return outcome_as(t->sum, event, label);
}

/* What outcome_sum() finds without stacks, most often at once. */
static __always_inline uint32_t outcome_known(const struct thread *t, uint32_t event,
					      uint32_t label)
{
	uint64_t key = outcome_key(t, label);
	const struct outcome_found *found = outcome_found_at(key);

	if (found && found->key == key && found->sum &&
	    STATE_RECORD_GENERATION(found->sum) ==
		    sums_generation % STATE_RECORD_GENERATIONS)
		return found->sum;
	return outcome_sum(event, label);
}

/* Of what a call returned. */
static __always_inline void outcome_result(struct outcome *o, int64_t result)
{
	bool is_error = result < 0 && result >= -PROBE_RECORD_ERRNO_MAX;

	o->error = is_error ? (uint32_t)-result : 0;
	o->done = is_error ? 0 : (uint64_t)result;
}

/* Before the sum: who finds that there is more finds all that is beside it. */
static __always_inline void outcome_charge_more(uint32_t sum, const struct outcome *o)
{
	uint32_t slot = io_record_more_slot(sum);
	struct io_record_more *more = bpf_map_lookup_elem(&io_more, &slot);

	if (!more) {
		__sync_fetch_and_add(&io_n_unsized, 1);
		return;
	}
	if (o->asked)
		__sync_fetch_and_add(&more->asked, o->asked);
	steps_charge(more->times, IO_RECORD_TIMES, o->ns >> IO_RECORD_TIME_SHIFT);
	if (!o->error && o->event != IO_RECORD_OTHER)
		steps_charge(more->sizes, IO_RECORD_SIZES, o->done);
}

/* Seldom.  Not static: verified by itself, once. */
__noinline int outcome_charge_error(uint32_t sum, uint32_t error)
{
	struct scratch *s = scratch_of(SCRATCH_CALL);

	if (s)
		calls_charge_error(s, sum, error);
	return 0;
}

/* All but the time and the count, which every sum has. */
static __always_inline void outcome_charge_own(struct state_record_sum *at, uint32_t sum,
					       const struct outcome *o)
{
	outcome_charge_more(sum, o);
	if (o->done && o->event != IO_RECORD_OTHER)
		__sync_fetch_and_add(&at->wait_ns, o->done);
	if (o->error)
		outcome_charge_error(sum, o->error);
}

/* And ns of its time, which is no more than what was not charged yet. */
static __always_inline void outcome_charge(uint32_t sum, const struct outcome *o,
					   uint64_t ns, bool is_over)
{
	struct state_record_sum *at = sums_at(sum);

	if (at && sums_is_good(sum))
		outcome_charge_own(at, sum, o);
	sums_charge_at(at, ns, is_over);
}

#endif
