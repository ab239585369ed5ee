/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * sums - times by whose they are, state and stack, as wire/state_record.h describes them.
 *
 * A number is good until the second change of generations after it was given; who keeps
 * one for longer gets the next by sums_renew().
 */
#ifndef DWELL_COLLECT_BPF_SUMS_BPF_H
#define DWELL_COLLECT_BPF_SUMS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/state_record.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, STATE_RECORD_SUMS_MAX);
	__type(key, uint64_t);
	__type(value, uint32_t);
} sum_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STATE_RECORD_SUMS_MAX);
	__type(key, uint32_t);
	__type(value, struct state_record_sum);
} sums SEC(".maps");

/* The collector's: numbers are given of the one; none is charged that is of before the
 * other, which is the same or the one before. */
uint32_t sums_generation = 0, sums_oldest = 0;
/* The first that was not given yet, of each half. */
uint32_t sums_next[2] = { 1, 1 };

static __always_inline void sums_names(struct scratch *s, struct task_struct *task)
{
	struct stack_record *r = &s->walk.record;

	r->pid = task->tgid;
	r->tid = task->pid;
	r->cgroup = taking_cgroup(task);
	taking_name(kernel_task(task)->group_leader, r->comm);
	taking_name(task, r->thread_comm);
}

static __always_inline struct stack_record_stats *sums_stats(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&stats, &cpu);
}

static __always_inline void *sums_ring(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* Tell of the file whose rules the stack in the scratch wants, if one does. */
static __noinline void sums_want_image(struct scratch *s, struct task_struct *task)
{
	struct stack_record_stats *st;
	void *ring;

	if (!s->walk.wanted_image)
		return;
	st = sums_stats();
	ring = sums_ring();
	if (!st || !ring)
		return;
	s->walk.record.pid = task->tgid;
	taking_put_image(ring, s);
}

/* May it be charged? */
static __always_inline bool sums_is_good(uint32_t number)
{
	uint32_t age = STATE_RECORD_GENERATION(number) - sums_oldest;

	return number && age % STATE_RECORD_GENERATIONS <= 1;
}

static __always_inline struct state_record_sum *sums_at(uint32_t number)
{
	uint32_t slot = sums_is_good(number) ? STATE_RECORD_SLOT(number) : 0;

	return bpf_map_lookup_elem(&sums, &slot);
}

/* The next number, or 0: there is none left. */
static __always_inline uint32_t sums_number(struct scratch *s)
{
	uint32_t generation = sums_generation, half = generation & 1;
	uint32_t number = s->spare_sum, i;

	s->spare_sum = 0;
	if (number &&
	    STATE_RECORD_GENERATION(number) == generation % STATE_RECORD_GENERATIONS)
		return number;
	if (sums_next[half] >= STATE_RECORD_HALF)
		return 0;
	i = __sync_fetch_and_add(&sums_next[half], 1);
	return i < STATE_RECORD_HALF ? STATE_RECORD_NUMBER(generation, i) : 0;
}

/* It could not be told: it is the next one's, and that something is lost is counted. */
static __always_inline void sums_give_back(struct scratch *s, uint32_t number)
{
	struct stack_record_stats *st = sums_stats();

	s->spare_sum = number;
	if (st)
		st->lost++;
}

/* The number of what has been told; another CPU may have been faster: interrupts wake
 * from the same stacks everywhere. */
static __always_inline uint32_t sums_publish(uint32_t number, uint64_t key)
{
	uint64_t place = state_record_place(key, STATE_RECORD_GENERATION(number));
	struct state_record_sum *sum = sums_is_good(number) ? sums_at(number) : NULL;
	uint32_t *known;

	if (!sum)
		return 0;
	sum->key = key;
	if (!bpf_map_update_elem(&sum_numbers, &place, &number, BPF_NOEXIST))
		return number;
	known = bpf_map_lookup_elem(&sum_numbers, &place);
	return known ? *known : 0;
}

/* The number of what the key is of; 0: it has none in this generation. */
static __always_inline uint32_t sums_known(uint64_t key)
{
	uint64_t place = state_record_place(key, sums_generation);
	uint32_t *known = bpf_map_lookup_elem(&sum_numbers, &place);

	return known ? *known : 0;
}

/* A number for what is in the scratch, or 0. */
static __always_inline uint32_t sums_add(struct scratch *s, struct task_struct *task,
					 uint64_t key)
{
	uint32_t number = sums_number(s);
	void *ring = sums_ring();
	bool is_told;

	if (!ring || !number)
		return 0;
	s->walk.record.key = number;
	s->walk.record.time_ns = bpf_ktime_get_ns();
	sums_names(s, task);
	is_told = taking_put_stack(ring, s, task, STATE_RECORD_GENERATION(number) & 1);
	sums_want_image(s, task); /* its executable */
	if (is_told)
		return sums_publish(number, key);
	sums_give_back(s, number);
	return 0;
}

/* The same, of two. */
static __always_inline uint32_t sums_add_pair(struct scratch *s, uint64_t waiter,
					      uint64_t waker, uint64_t key)
{
	struct stack_record_pair r = { .kind = STACK_RECORD_PAIR,
				       .waiter = waiter,
				       .waker = waker };
	uint32_t number = sums_number(s);
	void *ring = sums_ring();

	r.key = number;
	if (!number || !ring)
		return 0;
	if (!bpf_ringbuf_output(ring, &r, sizeof(r), BPF_RB_NO_WAKEUP))
		return sums_publish(number, key);
	sums_give_back(s, number);
	return 0;
}

/* Of a stack with this hash; whose: what the task's sums are told apart by from those of
 * others. */
static __always_inline uint64_t sums_key(const struct task_struct *task, uint64_t hash,
					 bool has_address, uint64_t whose, uint32_t state)
{
	uint64_t key = taking_mix(taking_mix(hash, whose), state);

	/* Addresses are a process' own. */
	return has_address ? taking_mix(key, task->tgid) : key;
}

/* The sum of the task, or of its class, in this state, in the stack that the scratch
 * holds.  It comes by memory, where the verifier cannot follow it: before Linux 6.4 that
 * may take a number that is 0 on one way for 0 on all, once functions were called
 * (commit c50c0b57a515 there), and remove what is done with others. */
static __always_inline uint32_t sums_find(struct scratch *s, struct task_struct *task,
					  uint64_t whose, uint32_t state)
{
	uint64_t key = sums_key(task, s->walk.hash, s->walk.has_address, whose, state);
	volatile uint32_t *found = &s->found_sum;

	*found = sums_known(key);
	if (*found)
		return *found;
	s->walk.record.state = state;
	*found = sums_add(s, task, key);
	return *found;
}

static __always_inline void sums_clear_stack(struct scratch *s)
{
	struct walk *w = &s->walk;

	w->n_kernel = w->n = w->stop = w->has_address = w->wanted_image = 0;
	w->hash = 0;
}

/* The same, in no stack. */
static __always_inline uint32_t sums_find_bare(struct scratch *s,
					       struct task_struct *task, uint64_t whose,
					       uint32_t state)
{
	sums_clear_stack(s);
	return sums_find(s, task, whose, state);
}

/* Of this generation, what the number is of; 0: it has none.  Not static: verified by
 * itself, once. */
__noinline uint32_t sums_again(struct scratch *s, uint32_t old)
{
	struct stack_record_again r = { .kind = STACK_RECORD_AGAIN, .of = old };
	struct state_record_sum *sum = sums_is_good(old) ? sums_at(old) : NULL;
	uint64_t key = sum ? sum->key : 0;
	uint32_t number = sum ? sums_known(key) : 0;
	void *ring = sums_ring();

	if (number || !sum || !ring || !s)
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

/* For who keeps a number: the same sum of this generation.  What cannot be told stays
 * what it is. */
static __always_inline void sums_renew(struct scratch *s, uint32_t *kept)
{
	uint32_t old = *(volatile uint32_t *)kept, number;

	if (!old ||
	    STATE_RECORD_GENERATION(old) == sums_generation % STATE_RECORD_GENERATIONS)
		return;
	number = sums_again(s, old);
	if (number)
		__sync_val_compare_and_swap(kept, old, number);
}

/* ns of what goes on, or has ended; NULL: of nothing. */
static __always_inline void sums_charge_at(struct state_record_sum *sum, uint64_t ns,
					   bool is_over)
{
	if (sum && ns)
		__sync_fetch_and_add(&sum->ns, ns);
	if (sum && is_over)
		__sync_fetch_and_add(&sum->count, 1);
}

static __always_inline void sums_charge_part(uint32_t number, uint64_t ns, bool is_over)
{
	sums_charge_at(sums_at(number), ns, is_over);
}

static __always_inline void sums_charge(uint32_t number, uint64_t ns)
{
	if (ns)
		sums_charge_part(number, ns, true);
}

/* And of waiting for a CPU behind it. */
static __always_inline void sums_charge_wait(uint32_t number, uint64_t ns, bool is_over)
{
	struct state_record_sum *sum = sums_at(number);

	if (sum && ns)
		__sync_fetch_and_add(&sum->wait_ns, ns);
	if (sum && is_over)
		__sync_fetch_and_add(&sum->n_waits, 1);
}

#endif
