/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_stack.h"

#include <string.h>

/* So much of a stack is looked at: wrappers call nothing that goes deep. */
#define STACK_MAX (UINT64_C(1) << 20)
#define PIECE	  4096
#define WORDS	  (PIECE / 8)

/* What the kernel puts on the stack of a handler (struct ucontext), in words. */
#define FRAME_WORDS 24
enum {
	FRAME_FLAGS = 0,
	FRAME_LINK = 1, /* 0 */
	FRAME_SP = 20,
	FRAME_EFLAGS = 22,
	FRAME_CS = 23, /* and other segments */
};
#define FRAME_BEFORE (UINT64_C(8) * (FRAME_WORDS - 1)) /* in the piece before */
#define FLAGS_MAX    7
#define EFLAGS_FIXED 2
#define EFLAGS_BITS  22
#define CODE_64BIT   0x33

#define STACKS_MAX 64

struct stack {
	uint64_t at, end; /* 0: not looked at */
};

struct stacks {
	const struct inject_memory *memory;
	uint64_t lo, hi; /* of what is looked for */
	inject_stack_fn *fn;
	void *ctx;
	struct stack of[STACKS_MAX];
	unsigned n;
	bool is_full;
};

static bool is_frame(const uint64_t *w)
{
	return w[FRAME_FLAGS] <= FLAGS_MAX && !w[FRAME_LINK] &&
	       (w[FRAME_EFLAGS] & EFLAGS_FIXED) && !(w[FRAME_EFLAGS] >> EFLAGS_BITS) &&
	       (uint16_t)w[FRAME_CS] == CODE_64BIT;
}

static void add(struct stacks *s, uint64_t sp)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->of[i].at == sp)
			return;
	s->is_full = s->n == STACKS_MAX;
	if (!s->is_full)
		s->of[s->n++] = (struct stack){ .at = sp };
}

/* A handler on the same stack: what it has interrupted is further up. */
static bool is_looked_at(const struct stacks *s, uint64_t sp)
{
	for (unsigned i = 0; i < s->n; i++)
		if (sp >= s->of[i].at && sp < s->of[i].end)
			return true;
	return false;
}

static void take(struct stacks *s, const uint64_t *frame, uint64_t at)
{
	if (s->fn)
		s->fn(s->ctx, at);
	add(s, frame[FRAME_SP]);
}

/* Words of a stack from its end on, and before them what a frame may have begun with. */
static bool look(struct stacks *s, struct stack *stack)
{
	uint64_t words[FRAME_WORDS - 1 + WORDS];
	uint64_t *new = words + FRAME_WORDS - 1, at = stack->at & -(uint64_t)8;

	memset(words, 0xff, sizeof(words)); /* no frame begins there */
	while (at - stack->at + 8 < STACK_MAX) {
		size_t bytes = PIECE - at % PIECE, n = bytes / 8;

		if (!inject_memory_read(s->memory, at, new, bytes))
			break;
		for (size_t i = 0; i < n; i++) {
			if (new[i] - s->lo < s->hi - s->lo)
				return true;
			if (is_frame(words + i))
				take(s, words + i, at + 8 * i - FRAME_BEFORE);
		}
		memmove(words, words + n, (FRAME_WORDS - 1) * sizeof(*words));
		at += bytes;
	}
	stack->end = at;
	return false;
}

static bool look_at_all(struct stacks *s, uint64_t sp)
{
	add(s, sp);
	for (unsigned i = 0; i < s->n && !s->is_full; i++)
		if (!is_looked_at(s, s->of[i].at) && look(s, &s->of[i]))
			return true;
	return s->is_full;
}

bool inject_stack_leads(const struct inject_memory *m, uint64_t sp, uint64_t lo,
			uint64_t hi)
{
	struct stacks s = { .memory = m, .lo = lo, .hi = hi };

	return look_at_all(&s, sp);
}

void inject_stack_each(const struct inject_memory *m, uint64_t sp, inject_stack_fn *fn,
		       void *ctx)
{
	struct stacks s = { .memory = m, .fn = fn, .ctx = ctx };

	look_at_all(&s, sp);
}
