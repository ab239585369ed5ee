/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * sampler - at each event: who runs, in which stack; counted here.
 *
 * The table and the rings are described in wire/stack_record.h.  What differs between
 * set-ups is constant when the program is loaded, so that nothing is asked per sample.
 */
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/late.bpf.h"
#include "collect/bpf/periods.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/stack_record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The only argument of the program, as the kernel lays it out. */
struct bpf_perf_event_data {
	struct registers regs;
	uint64_t sample_period, addr;
};

/* Set before loading. */
const volatile bool is_timed = false;	/* what a sample takes is measured */
const volatile uint32_t n_sets = 1;	/* of a table, a power of two */
const volatile bool has_events = false; /* several: a key is of one of them */
const volatile uint32_t clocks = 1;	/* bit i: event i is a clock, with a timer */
const volatile uint32_t turn = 1;	/* of collectors that share the maps */

/* 0 or 1: the table that is filled. */
uint32_t active_table = 0;
/* Whose programs count. */
uint32_t current_turn = 1;

/* Of CPU c, table t: set i at (c * 2 + t) * n_sets + i. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stack_record_set);
} table SEC(".maps");

/* The user registers, wherever the kernel keeps them; false: there are none. */
static __always_inline bool take_registers(struct bpf_perf_event_data *ctx,
					   struct task_struct *task, struct registers *to)
{
	if (registers_are_user(&ctx->regs)) {
		__builtin_memcpy(to, &ctx->regs, sizeof(*to));
		return true;
	}
	return bpf_probe_read_kernel(to, sizeof(*to), (void *)bpf_task_pt_regs(task)) ==
		       0 &&
	       registers_are_user(to);
}

static __always_inline void take_kernel(struct bpf_perf_event_data *ctx,
					struct scratch *s)
{
	struct walk *w = &s->walk;

	if (!is_flat) {
		taking_kernel(ctx, s, 0);
		return;
	}
	w->n_kernel = 1;
	w->record.frames[0] = registers_pc(&ctx->regs);
	w->hash = taking_mix(w->hash, w->record.frames[0]);
}

static __always_inline void take_user(struct bpf_perf_event_data *ctx, struct scratch *s,
				      struct task_struct *task)
{
	if (!is_flat && take_registers(ctx, task, &s->walk.registers))
		taking_walk(s, kernel_task(task)->mm);
	else if (is_flat && !s->walk.n_kernel)
		taking_place(s, kernel_task(task)->mm, registers_pc(&ctx->regs));
}

static __always_inline void take_names(struct scratch *s, struct task_struct *task)
{
	struct stack_record *r = &s->walk.record;
	uint64_t hash = s->walk.hash;

	if (has_events)
		hash = taking_mix(hash, r->state);
	r->pid = task->tgid;
	r->tid = task->pid;
	r->cgroup = taking_cgroup(task);
	taking_name(kernel_task(task)->group_leader, r->comm);
	hash = taking_mix(hash, ((uint64_t *)r->comm)[0]);
	hash = taking_mix(hash, ((uint64_t *)r->comm)[1]);
	hash = taking_mix(hash, r->cgroup);
	if (has_cpus)
		hash = taking_mix(hash, bpf_get_smp_processor_id());
	if (apart_process(task) || s->walk.has_address)
		hash = taking_mix(hash, r->pid);
	if (has_threads) {
		taking_name(task, r->thread_comm);
		hash = taking_mix(hash, (uint64_t)r->pid << 32 | r->tid);
	}
	r->key = hash ? hash : 1;
}

/* The sample did not find its key in the set: it takes a slot, if all can be told. */
static __always_inline void miss(struct stack_record_stats *st, struct scratch *s,
				 uint32_t cpu, struct stack_record_set *set,
				 uint32_t filled, uint64_t n)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct stack_record_count out = { .kind = STACK_RECORD_COUNT, .table = filled };
	struct stack_record_slot *slot;
	uint32_t way = s->next_way;

	for (uint32_t i = 0; i < STACK_RECORD_WAYS; i++)
		if (!set->slots[i].count)
			way = i;
	way %= STACK_RECORD_WAYS;
	slot = &set->slots[way];
	if (!ring) {
		st->lost += n;
		return;
	}
	if (slot->count) {
		out.key = slot->key;
		out.count = slot->count;
		if (!taking_put(ring, &out, sizeof(out), false)) {
			st->lost += n;
			return;
		}
		s->next_way++;
		st->evicted++;
		slot->count = 0;
	}
	if (!taking_put_stack(ring, s, bpf_get_current_task_btf(), filled)) {
		st->lost += n;
		return;
	}
	slot->key = s->walk.record.key;
	slot->count = n;
}

static __always_inline uint32_t event_of(const struct scratch *s)
{
	return has_events ? s->walk.record.state : 0;
}

static __always_inline bool is_clock(const struct scratch *s)
{
	return clocks >> (event_of(s) & 31) & 1;
}

static __always_inline struct stack_record_set *set_of(uint32_t cpu, uint32_t filled,
						       uint64_t key)
{
	uint32_t at = (cpu * 2 + filled) * n_sets + ((key >> 32) & (n_sets - 1));

	return bpf_map_lookup_elem(&table, &at);
}

/* NULL: it is not there. */
static __always_inline struct stack_record_slot *slot_of(struct stack_record_set *set,
							 uint64_t key)
{
	for (uint32_t i = 0; i < STACK_RECORD_WAYS; i++)
		if (set->slots[i].key == key && set->slots[i].count)
			return &set->slots[i];
	return NULL;
}

/* True: it was there. */
static __always_inline bool count(struct stack_record_stats *st, struct scratch *s,
				  uint32_t cpu, uint64_t n)
{
	uint64_t key = s->walk.record.key;
	uint32_t filled = active_table & 1;
	struct stack_record_set *set = set_of(cpu, filled, key);
	struct stack_record_slot *slot;

	if (!set)
		return false;
	slot = slot_of(set, key);
	if (slot) {
		slot->count += n;
		st->hits += n;
		return true;
	}
	miss(st, s, cpu, set, filled, n);
	return false;
}

/* False: the key has left the table. */
static __always_inline bool count_again(uint32_t cpu, uint64_t key, uint64_t n)
{
	struct stack_record_set *set = set_of(cpu, active_table & 1, key);
	struct stack_record_slot *slot = set ? slot_of(set, key) : NULL;

	if (slot)
		slot->count += n;
	return slot;
}

/* What was missed counts where it ended, or where that is not to be found any more, with
 * the sample of now. */
static __always_inline void count_missed(struct stack_record_stats *st,
					 const struct scratch *s, uint32_t cpu,
					 struct periods *p, const struct rq *rq)
{
	uint64_t waited = p->waiting, n = periods_take(p, rq), event = p->event;

	st->stolen += waited - n;
	if (!n)
		return;
	if (!count_again(cpu, p->key, n)) {
		event = s->walk.record.state;
		if (!count_again(cpu, s->walk.record.key, n))
			st->lost += n;
	}
	st->samples += n;
	st->missed += n;
	if (has_events)
		st->of_events[event & 15] += n;
}

/* A sample was counted, of a clock. */
static __always_inline void look_for_missed(struct bpf_perf_event_data *ctx,
					    struct stack_record_stats *st,
					    const struct scratch *s, uint32_t cpu,
					    struct periods *p)
{
	const struct rq *rq = periods_rq(bpf_get_current_task_btf());

	if (periods_are_told(p, rq))
		count_missed(st, s, cpu, p, rq);
	if (p->missed)
		periods_wait(p, s->walk.record.key, event_of(s), ctx->sample_period, rq);
	periods_rest(p, rq);
}

static __always_inline void put_image(struct scratch *s, uint32_t cpu)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (ring)
		taking_put_image(ring, s);
}

static __always_inline void note_cost(struct stack_record_stats *st, uint64_t begin_ns,
				      uint64_t counting_ns, bool is_hit)
{
	uint64_t end_ns = bpf_ktime_get_ns(),
		 step = (end_ns - begin_ns) / STACK_RECORD_COST_NS;

	st->took_ns += end_ns - begin_ns;
	if (is_hit)
		st->hit_ns += end_ns - counting_ns;
	else
		st->miss_ns += end_ns - counting_ns;
	if (step >= STACK_RECORD_COST_STEPS)
		step = STACK_RECORD_COST_STEPS - 1;
	st->cost_steps[step & (STACK_RECORD_COST_STEPS - 1)]++;
}

/* What the sample stands for. */
static __always_inline uint64_t periods_of(struct bpf_perf_event_data *ctx,
					   const struct scratch *s, struct periods *p,
					   uint64_t now_ns)
{
	if (!is_clock(s))
		return 1;
	return periods_since(p, ctx, event_of(s), ctx->sample_period, now_ns);
}

/* 1: the event is not wanted any more; one that was told so ends then. */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t zero = 0, cpu = bpf_get_smp_processor_id();
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	struct stack_record_stats *st = bpf_map_lookup_elem(&stats, &cpu);
	struct periods *p = bpf_map_lookup_elem(&periods, &zero);
	uint64_t begin_ns = is_timed || clocks ? bpf_ktime_get_ns() : 0;
	uint64_t counting_ns, n;
	bool is_hit;

	if (!s || !st || !p)
		return 0;
	if (st->samples >= st->until || turn != current_turn)
		return 1;
	if (has_events)
		s->walk.record.state = bpf_get_attach_cookie(ctx);
	n = periods_of(ctx, s, p, begin_ns);
	if (!n)
		return 0;
	st->samples += n;
	if (has_events)
		st->of_events[s->walk.record.state & 15] += n;
	s->walk.n_kernel = s->walk.n = s->walk.stop = s->walk.has_address =
		s->walk.wanted_image = 0;
	s->walk.hash = 0;
	if (!registers_are_user(&ctx->regs))
		take_kernel(ctx, s);
	if (kernel_task(task)->mm && !(task->flags & PF_KTHREAD))
		take_user(ctx, s, task);
	if (s->walk.n)
		st->stops[s->walk.stop & 15]++;
	take_names(s, task);
	counting_ns = is_timed ? bpf_ktime_get_ns() : 0;
	is_hit = count(st, s, cpu, n);
	if (is_clock(s))
		look_for_missed(ctx, st, s, cpu, p);
	if (s->walk.wanted_image)
		put_image(s, cpu);
	if (is_timed) {
		note_cost(st, begin_ns, counting_ns, is_hit);
		if (is_clock(s))
			late_note(ctx, cpu, begin_ns,
				  registers_are_user(&ctx->regs)
					  ? 0
					  : registers_pc(&ctx->regs));
	}
	return 0;
}
