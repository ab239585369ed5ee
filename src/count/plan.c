/* SPDX-License-Identifier: Apache-2.0 */
#include "count/plan.h"

#include "count/engine.h"

static bool join(uint32_t a, uint32_t b)
{
	return !engine.counts_all && forest_join(&engine.forest, a, b);
}

static bool is_apart(uint32_t a, uint32_t b)
{
	return !engine.counts_all && forest_is_apart(&engine.forest, a, b);
}

/* One way out: it is counted where the block is, for there the flags often are free. */
static struct plan plan_one_way(uint32_t out, uint32_t to)
{
	if (join(out, to))
		return (struct plan){ 0 };
	join(forest_add(&engine.forest), to);
	return (struct plan){ .counts_inside = true };
}

/* Whoever counts the block knows both ways if those lead to different parts; of a loop
 * that is cheaper than to count its way back out of line. */
static struct plan plan_branch(const struct block *b, uint32_t out, uint32_t on,
			       uint32_t to)
{
	bool is_loop = b->target < b->end;
	bool are_apart = is_apart(on, to);

	if (are_apart && is_apart(out, on) && is_apart(out, to)) {
		join(out, on);
		join(out, to);
		return (struct plan){ 0 };
	}
	if (are_apart && (is_loop || (!is_apart(out, on) && !is_apart(out, to)))) {
		uint32_t behind = forest_add(&engine.forest);

		join(behind, on);
		join(behind, to);
		return (struct plan){ .counts_inside = true };
	}
	if (join(out, to))
		return (struct plan){ .counts_on = true };
	if (join(out, on))
		return (struct plan){ .counts_to = true };
	return (struct plan){ .counts_on = true, .counts_to = true };
}

enum { ON = 1, TO = 2 };

struct ways plan_ways(const struct block *b, uint32_t nest)
{
	static const uint8_t leads[] = {
		[X86_FLOW_ON] = ON,	   [X86_FLOW_CONDITIONAL] = ON | TO,
		[X86_FLOW_LOOP] = ON | TO, [X86_FLOW_TRANSACTION] = ON | TO,
		[X86_FLOW_JUMP] = TO,	   [X86_FLOW_CALL] = ON | TO,
		[X86_FLOW_CALL_TO] = ON,   [X86_FLOW_SYSCALL] = ON,
		[X86_FLOW_INT80] = ON,	   [X86_FLOW_NEVER] = 0, /* the last */
	};

	return (struct ways){
		.on = leads[b->flow] & ON ? place_at(nest, b->end) : NULL,
		.to = leads[b->flow] & TO ? place_at(nest, b->target) : NULL,
	};
}

static struct plan plan_flow(const struct block *b, uint32_t out, const struct ways *w)
{
	switch (b->flow) {
	case X86_FLOW_ON:
	case X86_FLOW_SYSCALL:
	case X86_FLOW_INT80:
		return plan_one_way(out, w->on->part);
	case X86_FLOW_CONDITIONAL:
	case X86_FLOW_LOOP:
	case X86_FLOW_TRANSACTION:
		return plan_branch(b, out, w->on->part, w->to->part);
	case X86_FLOW_JUMP:
	case X86_FLOW_CALL:
		return plan_one_way(out, w->to->part);
	case X86_FLOW_RETURN:
		return plan_one_way(out, FOREST_GROUND);
	default:
		return (struct plan){ 0 };
	}
}

/* What flows through it if it is there once more: to others it went before. */
static uint32_t part_through(struct place *p, bool *ret_is_first)
{
	*ret_is_first = !p->was_planned && !engine.counts_all;
	p->was_planned = true;
	return *ret_is_first ? p->part : forest_add(&engine.forest);
}

struct plan plan_block(const struct block *b, struct place *p, const struct ways *w)
{
	bool is_first;
	struct plan plan = plan_flow(b, part_through(p, &is_first), w);

	plan.counts_inside |= !is_first;
	return plan;
}

struct plan plan_entry(struct place *p, const struct place *entered)
{
	bool is_first;
	struct plan plan = plan_one_way(part_through(p, &is_first), entered->part);

	plan.counts_inside |= !is_first;
	return plan;
}

bool plan_returns(struct place *p)
{
	return !join(FOREST_GROUND, p->part);
}
