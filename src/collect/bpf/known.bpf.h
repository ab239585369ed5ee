/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * known - kernel stacks that are known again by some words, instead of walked again.
 *
 * A walk finds the same frames if every return address that it had met is where it was,
 * seen from the innermost frame: by induction, for each tells how large its caller's
 * frame is.  The outermost is where the kernel was entered, at the other end of the
 * stack; before it the kernel may leave a gap of random size.  Where the addresses were
 * is not told by the kernel's walk, so every word counts that is one of them: an old one
 * that has changed costs a walk, never a wrong frame.
 */
#ifndef DWELL_COLLECT_BPF_KNOWN_BPF_H
#define DWELL_COLLECT_BPF_KNOWN_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"

#define KNOWN_SETS   128    /* on each CPU */
#define KNOWN_WAYS   4	    /* stacks in each */
#define KNOWN_FRAMES 32	    /* at most, of one that is kept */
#define KNOWN_WORDS  64	    /* at most, that it is known by */
#define KNOWN_REACH  512    /* words of the stack that are looked at */
#define KNOWN_END    0x8000 /* a place is counted from the outer end */

struct known {
	uint64_t key, hash;
	uint32_t n_frames, n_words;
	/* What is told of it, by who takes it: not all frames may be. */
	uint64_t told_hash;
	uint32_t n_told, mark;
	uint64_t frames[KNOWN_FRAMES];
	uint16_t at[KNOWN_WORDS];   /* word of the stack */
	uint8_t which[KNOWN_WORDS]; /* frame whose return address it is */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KNOWN_SETS *KNOWN_WAYS);
	__type(key, uint32_t);
	__type(value, struct known);
} known_stacks SEC(".maps");

/* What the stack in hand is compared by. */
struct known_scratch {
	uint64_t base, top; /* addresses */
	uint64_t key;	    /* 0: it cannot be known */
	uint64_t low, high; /* of the frames' addresses */
	uint32_t n_words, n_met;
	uint32_t next_way, zero;
	uint64_t words[KNOWN_REACH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct known_scratch);
} known_scratches SEC(".maps");

static __always_inline struct known *known_place(uint64_t key, uint32_t way)
{
	uint32_t i = (key >> 8) % KNOWN_SETS * KNOWN_WAYS + way % KNOWN_WAYS;

	return bpf_map_lookup_elem(&known_stacks, &i);
}

static __always_inline struct known_scratch *known_scratch(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&known_scratches, &zero);
}

/* The stack of the current thread from the program's argument, which is on it, outwards.
 */
static __always_inline bool known_read(void *ctx, struct known_scratch *k,
				       struct task_struct *task, uint64_t what)
{
	const struct registers *kept = registers_kept(task);
	uint64_t size;

	/* Through memory, from where they come back as numbers. */
	*(volatile uint64_t *)&k->base = (uint64_t)ctx;
	*(volatile uint64_t *)&k->top = (uint64_t)kept;
	k->key = 0;
	size = *(volatile uint64_t *)&k->top - *(volatile uint64_t *)&k->base;
	if (size > sizeof(k->words) || size % 8)
		return false;
	if (bpf_probe_read_kernel(k->words, size, (const void *)k->base))
		return false;
	k->n_words = size / 8;
	k->key = taking_mix(taking_mix(0, registers_call(kept)), what) | 1;
	return true;
}

/* Is the stack this one?  Not static: verified by itself, once. */
__noinline int known_is(const struct known_scratch *k, const struct known *e)
{
	if (!k || !e || e->key != k->key)
		return 0;
	for (uint32_t i = 0; i < KNOWN_WORDS; i++) {
		uint32_t at, which;

		if (i >= e->n_words)
			break;
		at = e->at[i];
		which = e->which[i] % KNOWN_FRAMES;
		if (at & KNOWN_END)
			at = k->n_words - (at & ~KNOWN_END);
		if (at >= k->n_words || k->words[at % KNOWN_REACH] != e->frames[which])
			return 0;
	}
	return 1;
}

struct known_seeking {
	struct known_scratch *k;
	uint32_t way; /* KNOWN_WAYS: none */
};

static long known_seek(uint32_t i, void *ctx)
{
	struct known_seeking *n = ctx;
	struct known *e = known_place(n->k->key, i);

	if (!e || !known_is(n->k, e))
		return 0;
	n->way = i;
	return 1;
}

/* The stack in which the current thread is, NULL: it has to be walked; what: what for. */
static __always_inline struct known *known_find(void *ctx, struct task_struct *task,
						uint64_t what)
{
	struct known_seeking n = { .k = known_scratch(), .way = KNOWN_WAYS };

	if (!n.k || !known_read(ctx, n.k, task, what))
		return NULL;
	bpf_loop(KNOWN_WAYS, known_seek, &n, 0);
	return n.way < KNOWN_WAYS ? known_place(n.k->key, n.way) : NULL;
}

/* Into the scratch. */
static __always_inline void known_take(struct scratch *s, const struct known *e)
{
	__builtin_memcpy(s->walk.record.frames, e->frames, sizeof(e->frames));
	s->walk.n_kernel = e->n_told;
	s->walk.hash = e->told_hash;
}

struct known_noting {
	struct known_scratch *k;
	struct known *e;
};

static long known_note(uint32_t i, void *ctx)
{
	struct known_noting *n = ctx;
	struct known_scratch *k = n->k;
	struct known *e = n->e;
	uint64_t word;

	if (i >= k->n_words)
		return 1;
	word = k->words[i % KNOWN_REACH];
	if (word < k->low || word > k->high)
		return 0;
	if (k->n_met < e->n_frames && word == e->frames[k->n_met % KNOWN_FRAMES])
		k->n_met++;
	for (uint32_t f = 0; f < KNOWN_FRAMES; f++) {
		if (f >= e->n_frames)
			break;
		if (word != e->frames[f])
			continue;
		if (e->n_words >= KNOWN_WORDS) {
			k->n_met = 0;
			return 1;
		}
		e->at[e->n_words % KNOWN_WORDS] =
			f == e->n_frames - 1 ? KNOWN_END | (k->n_words - i) : i;
		e->which[e->n_words % KNOWN_WORDS] = f;
		e->n_words++;
		break;
	}
	return 0;
}

/* Where the stack in hand is kept that was walked, or shall be. */
static __always_inline uint32_t known_room(struct known_scratch *k, uint64_t hash)
{
	for (uint32_t way = 0; way < KNOWN_WAYS; way++) {
		struct known *e = known_place(k->key, way);

		if (e && e->key == k->key && e->hash == hash)
			return way;
	}
	return k->next_way++ % KNOWN_WAYS;
}

/* The frames' addresses are not below the one, nor above the other. */
static __always_inline void known_span(struct known_scratch *k, const struct known *e)
{
	k->low = ~0ULL;
	k->high = 0;
	for (uint32_t f = 0; f < KNOWN_FRAMES; f++) {
		if (f >= e->n_frames)
			break;
		if (e->frames[f] < k->low)
			k->low = e->frames[f];
		if (e->frames[f] > k->high)
			k->high = e->frames[f];
	}
}

/* The way in which what was walked, and is in the scratch, is kept; KNOWN_WAYS: it cannot
 * be.  Not static: verified by itself, once. */
__noinline int known_put(const struct scratch *s)
{
	struct known_scratch *k = known_scratch();
	struct known_noting n = { .k = k };
	uint32_t n_frames, way;

	if (!s || !k || !k->key)
		return KNOWN_WAYS;
	n_frames = s->walk.n_kernel;
	way = known_room(k, s->walk.hash);
	n.e = known_place(k->key, way);
	if (!n.e || !n_frames || n_frames > KNOWN_FRAMES)
		return KNOWN_WAYS;
	__builtin_memcpy(n.e->frames, s->walk.record.frames, sizeof(n.e->frames));
	n.e->key = k->key;
	n.e->hash = s->walk.hash;
	n.e->n_frames = n_frames;
	n.e->n_words = 0;
	k->n_met = 0;
	known_span(k, n.e);
	bpf_loop(KNOWN_REACH, known_note, &n, 0);
	if (k->n_met == n_frames)
		return way;
	n.e->key = 0; /* not every frame is on this stack */
	return KNOWN_WAYS;
}

/* NULL: it cannot be kept. */
static __always_inline struct known *known_add(const struct scratch *s)
{
	struct known_scratch *k = known_scratch();
	uint32_t way = known_put(s);

	return k && way < KNOWN_WAYS ? known_place(k->key, way) : NULL;
}

/* Of what is in the scratch now, which may be a part; and what follows from it. */
static __always_inline void known_tell(struct known *e, const struct scratch *s,
				       uint32_t mark)
{
	if (!e)
		return;
	e->told_hash = s->walk.hash;
	e->n_told = s->walk.n_kernel;
	e->mark = mark;
}

#endif
