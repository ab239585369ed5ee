/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/branch_stack.h"

#include <linux/perf_event.h>
#include <string.h>

#include "decode/x86_straight.h"

_Static_assert(sizeof(struct perf_branch_entry) == BRANCH_STACK_ENTRY_BYTES,
	       "entries have one size");

bool branch_stack_is_possible(void)
{
#if defined(__x86_64__)
	return true;
#else
	return false;
#endif
}

struct telling {
	forward_code_fn *code;
	branch_stack_fn *fn;
	void *ctx;
};

static struct perf_branch_entry entry_at(const struct branch_stack *s, unsigned i)
{
	struct perf_branch_entry e;

	memcpy(&e, s->entries + (size_t)i * BRANCH_STACK_ENTRY_BYTES, sizeof(e));
	return e;
}

/* Both halves of what there is: the upper one is the kernel's. */
static bool is_user(uint64_t addr)
{
	return addr && !(addr >> 63);
}

static void tell_straight(const struct telling *t, uint64_t from, uint64_t to)
{
	struct x86_straight straight;

	if (!is_user(from) || !is_user(to) ||
	    !x86_straight(from, to, t->code, t->ctx, &straight))
		return;
	for (unsigned i = 0; i < straight.n; i++)
		t->fn(t->ctx, &(struct branch_stack_passage){
				      .branch = straight.not_taken[i].addr,
				      .to = straight.not_taken[i].next });
}

/* Others always go where they went. */
static bool is_of_interest(enum x86_flow flow)
{
	return flow == X86_FLOW_CONDITIONAL || flow == X86_FLOW_LOOP ||
	       flow == X86_FLOW_JUMP_TO || flow == X86_FLOW_CALL_TO;
}

static void tell_taken(const struct telling *t, const struct perf_branch_entry *e)
{
	enum x86_flow flow;

	if (!is_user(e->from) || !is_user(e->to) || e->abort ||
	    !x86_straight_flow(e->from, t->code, t->ctx, &flow) || !is_of_interest(flow))
		return;
	t->fn(t->ctx, &(struct branch_stack_passage){ .branch = e->from,
						      .to = e->to,
						      .is_missed = e->mispred,
						      .is_foreseen = e->predicted });
}

void branch_stack_each(const struct branch_stack *s, forward_code_fn *code,
		       branch_stack_fn *fn, void *ctx)
{
	const struct telling t = { code, fn, ctx };
	unsigned n = s->n < BRANCH_STACK_MAX ? s->n : BRANCH_STACK_MAX;

	for (unsigned i = n; i > 0; i--) {
		struct perf_branch_entry e = entry_at(s, i - 1);

		tell_taken(&t, &e);
		tell_straight(&t, e.to, i > 1 ? entry_at(s, i - 2).from : s->ip);
	}
}
