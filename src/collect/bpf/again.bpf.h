/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * again - what a thread has done before in the same stack, without walking it again.
 *
 * A walk depends on the registers that it begins with, on the words of the stack that it
 * reads, and on what is mapped.  Where the thread stands at the same place with the same
 * stack pointer, and all of these are as they were, it would find the same; so what came
 * of it is kept with them, on each CPU.
 */
#ifndef DWELL_COLLECT_BPF_AGAIN_BPF_H
#define DWELL_COLLECT_BPF_AGAIN_BPF_H

#define WALK_READS_MAX 64 /* stacks that need more are walked every time */

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"

#define AGAIN_SETS 128 /* on each CPU */
#define AGAIN_WAYS 4   /* stacks in each */
/* Words from the stack pointer that are read at once, which is as dear as one. */
#define AGAIN_WINDOW 512

struct again {
	uint64_t hash; /* of the frames */
	uint32_t sum;  /* for who keeps it */
	uint32_t has_address, n_words;
	uint32_t registers;    /* bit i: saved[i] matters */
	uint32_t window_bytes; /* what is at offsets below is read at once */
	uint64_t saved[STACK_ROWS_N_SAVES];
	uint32_t at[WALK_READS_MAX]; /* bytes from the stack pointer */
	uint64_t words[WALK_READS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, AGAIN_SETS *AGAIN_WAYS);
	__type(key, uint32_t);
	__type(value, struct again);
} again_stacks SEC(".maps");

struct again_set {
	uint64_t keys[AGAIN_WAYS]; /* 0: free */
	uint32_t next_way, zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, AGAIN_SETS);
	__type(key, uint32_t);
	__type(value, struct again_set);
} again_sets SEC(".maps");

struct again_window {
	uint64_t words[AGAIN_WINDOW];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct again_window);
} again_windows SEC(".maps");

/* Where a thread stands, and for what. */
struct again_place {
	uint64_t key, sp;
	uint64_t saved[STACK_ROWS_N_SAVES];
};

/* who: and in which program. */
static __always_inline void again_place(struct again_place *p, struct mm_struct *mm,
					const struct registers *r, uint64_t who)
{
	uint64_t key = taking_mix(registers_pc(r), registers_sp(r));

	key = taking_mix(key, who);
	p->key = taking_mix(key, mm ? mm->exec_vm : 0) | 1;
	p->sp = registers_sp(r);
	registers_saved(r, p->saved);
}

static __always_inline struct again_set *again_set(const struct again_place *p)
{
	uint32_t i = (p->key >> 8) % AGAIN_SETS;

	return bpf_map_lookup_elem(&again_sets, &i);
}

static __always_inline struct again *again_way(const struct again_place *p, uint32_t way)
{
	uint32_t i = (p->key >> 8) % AGAIN_SETS * AGAIN_WAYS + way % AGAIN_WAYS;

	return bpf_map_lookup_elem(&again_stacks, &i);
}

static __always_inline bool again_has_registers(const struct again *a,
						const struct again_place *p)
{
	for (uint32_t i = 1; i < STACK_ROWS_N_SAVES; i++)
		if (a->registers >> i & 1 && a->saved[i] != p->saved[i])
			return false;
	return REGISTERS_HAS_LINK == 0 || !(a->registers & 1) ||
	       a->saved[0] == p->saved[0];
}

/* Not static: verified by itself, once. */
__noinline int again_has_words(const struct again *a, uint64_t sp)
{
	uint32_t zero = 0, window_bytes = a ? a->window_bytes : 0;
	struct again_window *w = bpf_map_lookup_elem(&again_windows, &zero);

	if (!a || !w || window_bytes > sizeof(w->words) ||
	    (window_bytes &&
	     bpf_probe_read_user(w->words, window_bytes, (const void *)sp)))
		return 0;
	for (uint32_t i = 0; i < WALK_READS_MAX; i++) {
		uint32_t at = a->at[i];
		uint64_t word;

		if (i >= a->n_words)
			break;
		if (at < window_bytes)
			word = w->words[at / 8 % AGAIN_WINDOW];
		else if (bpf_probe_read_user(&word, 8, (const void *)(sp + at)))
			return 0;
		if (word != a->words[i])
			return 0;
	}
	return 1;
}

/* The way in which it is kept; AGAIN_WAYS: it has to be walked. */
__noinline int again_seek(const struct again_place *p)
{
	struct again_set *set = p ? again_set(p) : NULL;

	if (!set)
		return AGAIN_WAYS;
	for (uint32_t way = 0; way < AGAIN_WAYS; way++) {
		struct again *a;

		if (set->keys[way] != p->key)
			continue;
		a = again_way(p, way);
		if (a && again_has_registers(a, p) && again_has_words(a, p->sp))
			return way;
	}
	return AGAIN_WAYS;
}

static __always_inline struct again *again_find(const struct again_place *p)
{
	uint32_t way = again_seek(p);

	return way < AGAIN_WAYS ? again_way(p, way) : NULL;
}

/* May what was walked be known again? */
static __always_inline bool again_is_fit(const struct walk *w)
{
	return !w->reads.has_other && w->reads.n <= WALK_READS_MAX &&
	       w->stop != STACK_STOP_NOT_LOADED && w->stop != STACK_STOP_BAD_MEMORY &&
	       w->stop != STACK_STOP_NO_MAP;
}

struct again_noting {
	struct again *a;
	const struct walk *w;
	uint64_t sp;
	bool has_failed;
};

static long again_note_word(uint32_t i, struct again_noting *n)
{
	struct again *a = n->a;
	const struct walk *w = n->w;
	uint64_t at;

	if (i >= WALK_READS_MAX || i >= w->reads.n)
		return 1;
	at = w->reads.addrs[i] - n->sp;
	if (at > UINT32_MAX || at % 8) {
		n->has_failed = true;
		return 1;
	}
	a->at[i] = at;
	a->words[i] = w->reads.words[i];
	if (at < AGAIN_WINDOW * 8 && at >= a->window_bytes)
		a->window_bytes = at + 8;
	return 0;
}

static __always_inline bool again_note_words(struct again *a, const struct walk *w,
					     uint64_t sp)
{
	struct again_noting n = { .a = a, .w = w, .sp = sp };

	a->window_bytes = 0;
	bpf_loop(WALK_READS_MAX, again_note_word, &n, 0);
	return !n.has_failed;
}

/* The way in which what was found by walking the user's stack is kept; AGAIN_WAYS: it
 * cannot be. */
__noinline int again_put(const struct again_place *p, const struct walk *w)
{
	struct again_set *set = p ? again_set(p) : NULL;
	struct again *a;
	uint32_t way;

	if (!set || !w || !again_is_fit(w))
		return AGAIN_WAYS;
	way = set->next_way++ % AGAIN_WAYS;
	a = again_way(p, way);
	if (!a)
		return AGAIN_WAYS;
	set->keys[way] = 0;
	a->hash = w->hash;
	a->has_address = w->has_address;
	a->sum = 0;
	a->n_words = w->reads.n;
	a->registers = w->reads.registers;
	__builtin_memcpy(a->saved, p->saved, sizeof(a->saved));
	if (!again_note_words(a, w, p->sp))
		return AGAIN_WAYS;
	set->keys[way] = p->key;
	return way;
}

static __always_inline struct again *again_keep(const struct again_place *p,
						const struct walk *w)
{
	uint32_t way = again_put(p, w);

	return way < AGAIN_WAYS ? again_way(p, way) : NULL;
}

static __always_inline void again_clear_reads(struct walk *w)
{
	w->reads.n = w->reads.registers = 0;
	w->reads.has_other = false;
}

#endif
