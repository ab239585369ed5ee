/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_rules.h"

#include <math.h>

#include "analyze/stall_accesses.h"
#include "analyze/stall_costs.h"
#include "analyze/stall_forward.h"
#include "analyze/stall_events.h"
#include "insn/machine_model.h"

#define LINE_BITS 6 /* of an address: those of a cache line, of a page */
#define PAGE_BITS 12
/* Behind a branch that was not foreseen, so many instructions begin anew and one after
 * the other, where others were under way: their latencies show. */
#define DEVIATIONS	2.0 /* that chance may hide */
#define EXPOSED		64
#define EXPOSED_CALL	16 /* the same behind a call, whatever branches were there */
#define MAX_BLOCKS_BACK 8
#define LIKELY_PART	0.5 /* of a stall */
#define BEHIND_FENCE	4   /* the same of what waits for all before */

/* The larger bound holds; negative: any number. */
static double larger(double a, double b)
{
	return a < 0 || b < 0 ? -1 : fmax(a, b);
}

_Static_assert((int)STALL_MAX_CULPRITS > (int)STALL_N_CAUSES,
	       "some cause is there twice");

/* Two of one cause become one, which blames none in particular. */
static void make_room(struct stall *s)
{
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = i + 1; k < s->n; k++) {
			struct stall_culprit *to = &s->culprits[i],
					     *from = &s->culprits[k];

			if (to->cause != from->cause)
				continue;
			to->most = larger(to->most, from->most);
			to->blamed = PROCEDURE_OUTSIDE;
			to->is_unlikely &= from->is_unlikely;
			*from = s->culprits[--s->n];
			return;
		}
}

/* Again: the larger bound holds.  most: cycles each time, negative: any number; too
 * little to matter rules it out. */
static void add(struct stall *s, enum stall_cause cause, uint32_t blamed, double most)
{
	if (most >= 0 && most < STALL_COSTS_LEAST_PART * s->cycles)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		struct stall_culprit *have = &s->culprits[i];

		if (have->cause != cause || have->blamed != blamed)
			continue;
		have->most = larger(have->most, most);
		return;
	}
	if (s->n == STALL_MAX_CULPRITS)
		make_room(s);
	s->culprits[s->n++] = (struct stall_culprit){ .cause = (uint8_t)cause,
						      .blamed = blamed,
						      .most = most };
}

/* A share of the times that costs so much each; all of them: no bound. */
static double bound(double share, double cycles)
{
	return share >= 1 ? -1 : share * cycles;
}

/* What the instruction is. */

/* Functions of the x87 divide, too. */
static bool divides(const struct operation *o)
{
	return operation_divides(o) || o->class == OPERATION_X87_SLOW;
}

/* An exchange with memory is atomic. */
static bool synchronises(const struct operation *o)
{
	return operation_synchronises(o) || (o->class == OPERATION_EXCHANGE && o->loads);
}

static bool loads(const struct operation *o)
{
	return o->loads || o->pops;
}

static bool stores(const struct operation *o)
{
	return o->stores || o->pushes;
}

/* What a store has to wait for, such as memory, so does the load. */
static void blame_forwards(const struct stall_scene *at, struct stall *s,
			   const struct procedure_block *b, uint32_t step)
{
	struct stall_forward from[STALL_FORWARD_MAX];
	uint32_t block = (uint32_t)(b - at->c->procedure->blocks);
	unsigned n = stall_forward_find(at->c, block, step, from);

	for (unsigned i = 0; i < n; i++)
		add(s, STALL_FORWARD, from[i].store,
		    bound(from[i].share, STALL_COSTS_FETCH));
}

/* In the second level's cache; as long again, as others may want to have it. */
static double near_fetch(const struct function_code *c)
{
	return c->model ? 2.0 * c->model->l2_latency : STALL_COSTS_NEAR_FETCH;
}

/* Of a line of code that other code may have driven out so often, in the block's times.
 * refills: negative: nobody knows. */
static double bound_refills(const struct stall_scene *at, double refills, double cycles)
{
	const struct function_code_block *b = &at->c->blocks[at->loop.block];
	double times = b->times_low > 0 ? fmin(b->times, b->times_low) : b->times;

	return refills < 0 || times <= 0 ? -1 : bound(refills / times, cycles);
}

/* The smaller one holds; negative: any number. */
static double smaller(double a, double b)
{
	return a < 0 ? b : b < 0 ? a : fmin(a, b);
}

static struct stall_culprit *find_fetch(struct stall *s, enum stall_cause cause)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->culprits[i].cause == cause &&
		    s->culprits[i].blamed == PROCEDURE_OUTSIDE)
			return &s->culprits[i];
	return NULL;
}

/* by_code: what is known of how it goes on; by_heat: of how often it was gone.  What is
 * executed all the time is mostly near when it is fetched again: where that takes less
 * than half of a stall, others are the likelier ones. */
static void blame_fetch_of(const struct stall_scene *at, struct stall *s,
			   enum stall_cause cause, double by_code, double by_heat)
{
	struct stall_culprit *before = find_fetch(s, cause), *x;
	double near = near_fetch(at->c) / STALL_COSTS_FETCH;
	bool is_unlikely = by_heat >= 0 && by_heat * near < LIKELY_PART * s->cycles;

	is_unlikely &= !before || before->is_unlikely;
	add(s, cause, PROCEDURE_OUTSIDE, smaller(by_code, by_heat));
	x = find_fetch(s, cause);
	if (x)
		x->is_unlikely = is_unlikely;
}

static void blame_line_at(const struct stall_scene *at, struct stall *s, uint64_t address,
			  double by_code)
{
	double refills = code_heat_lines_refills(&at->c->heat, address);

	blame_fetch_of(at, s, STALL_ICACHE, by_code,
		       bound_refills(at, refills, STALL_COSTS_FETCH));
}

static void blame_page_at(const struct stall_scene *at, struct stall *s, uint64_t address,
			  double by_code)
{
	double refills = code_heat_lines_page_refills(&at->c->heat, address);

	blame_fetch_of(at, s, STALL_ITLB, by_code,
		       bound_refills(at, refills, STALL_COSTS_WALK));
}

/* Where is fetched what was not fetched right before. */
static void blame_code(const struct stall_scene *at, struct stall *s, uint64_t from,
		       uint64_t to)
{
	struct stall_reach again = stall_loop_code_reach(&at->loop);

	if (from >> LINE_BITS != to >> LINE_BITS)
		blame_line_at(at, s, to, bound(again.lines, STALL_COSTS_FETCH));
	if (from >> PAGE_BITS != to >> PAGE_BITS)
		blame_page_at(at, s, to, bound(again.pages, STALL_COSTS_WALK));
}

static double refill(const struct function_code *c)
{
	return c->model && c->model->refill ? c->model->refill : STALL_COSTS_REFILL;
}

/* What landed behind a call came back from it. */
static void blame_return(const struct stall_scene *at, struct stall *s, uint32_t call)
{
	const struct code_step *x = &at->c->procedure->steps[call];

	add(s, STALL_BRANCH, PROCEDURE_OUTSIDE, refill(at->c));
	blame_line_at(at, s, x->address + x->size, -1);
	add(s, STALL_OTHER, PROCEDURE_OUTSIDE, -1);
}

/* By the code, and by the addresses that were seen.  A line that is always the same is at
 * hand, unless another thread takes it. */
static struct stall_reach reach_of(const struct stall_scene *at, uint32_t step)
{
	struct stall_reach r = stall_loop_reach(&at->loop, step);
	struct stall_reach seen = stall_accesses_reach(&at->loop, step);

	if (at->is_alone) {
		r.lines = fmin(r.lines, seen.lines);
		r.far_lines = fmin(r.far_lines, seen.far_lines);
	} else if (r.is_fixed) {
		r.lines = r.far_lines = 1;
	}
	r.is_of_many_pages = seen.is_of_many_pages;
	r.is_at_hand = seen.is_at_hand && at->is_alone;
	r.pages = fmin(r.pages, seen.pages);
	r.far_pages = fmin(r.far_pages, seen.far_pages);
	return r;
}

/* The same of those that are at hand in the second level, and cost less. */
static double bound_far(double share, double far, double near_cycles, double cycles)
{
	if (fmin(share, far) >= 1)
		return -1;
	return far < share ? far * cycles + (share - far) * near_cycles : share * cycles;
}

static void doubt_misses(struct stall *s, uint32_t step)
{
	const unsigned misses =
		1u << STALL_DCACHE | 1u << STALL_DTLB | 1u << STALL_STORES;

	for (unsigned i = 0; i < s->n; i++)
		if (s->culprits[i].blamed == step && misses >> s->culprits[i].cause & 1)
			s->culprits[i].is_unlikely = true;
}

/* The likelier one first. */
static void blame_load(const struct stall_scene *at, struct stall *s,
		       const struct procedure_block *b, uint32_t step)
{
	struct stall_reach r = reach_of(at, step);
	double walks =
		bound_far(r.pages, r.far_pages, STALL_COSTS_NEAR_WALK, STALL_COSTS_WALK);

	if (r.is_of_many_pages)
		add(s, STALL_DTLB, step, walks);
	add(s, STALL_DCACHE, step,
	    bound_far(r.lines, r.far_lines, near_fetch(at->c), STALL_COSTS_FETCH));
	add(s, STALL_DTLB, step, walks);
	if (r.is_at_hand)
		doubt_misses(s, step);
	blame_forwards(at, s, b, step);
}

/* What is stored where a line is at hand leaves the buffer at once. */
static void blame_store(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	struct stall_reach r = reach_of(at, step);
	double share = fmin(1, r.lines + r.pages),
	       far = fmin(1, r.far_lines + r.far_pages);

	add(s, STALL_STORES, step,
	    bound_far(share, far, near_fetch(at->c) + STALL_COSTS_NEAR_WALK,
		      STALL_COSTS_FETCH));
	if (r.is_at_hand)
		doubt_misses(s, step);
}

static void blame_operation(const struct stall_scene *at, struct stall *s,
			    const struct procedure_block *b, uint32_t step)
{
	const struct operation *o = &at->c->steps[step].operation;

	if (code_step_is_call(&at->c->procedure->steps[step])) {
		blame_return(at, s, step);
		return;
	}
	if (loads(o))
		blame_load(at, s, b, step);
	if (stores(o))
		blame_store(at, s, step);
	if (divides(o))
		add(s, STALL_DIVIDER, step, -1);
	if (synchronises(o))
		add(s, STALL_SYNC, step, -1);
}

/* The second one could not be had in time. */
static void blame_line(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	const struct code_step *now = &at->c->procedure->steps[step], *next = now + 1;

	blame_code(at, s, now->address, next->address + next->size - 1);
}

/* Where there is nothing to retire, because nothing comes, some processors take the
 * interrupt at once, and some when something has come. */
static void blame_neighbours(const struct stall_scene *at, struct stall *s,
			     const struct procedure_block *b, uint32_t step)
{
	bool is_last = step + 1 == b->first_step + b->n_steps;

	if (step > b->first_step)
		blame_line(at, s, step - 1);
	if (is_last || code_step_is_call(&at->c->procedure->steps[step]))
		return;
	if (stores(&at->c->steps[step + 1].operation))
		blame_store(at, s, step + 1);
	blame_line(at, s, step);
}

/* A model lets each operation have the port that is free first, and fetches as many taken
 * branches as ever can be at once.  Processors choose ports before they know, and fetch
 * less where branches do not go together: a block that waits for these anyway may wait as
 * long again.  Of stalls that are much longer that is not told. */
static void blame_machine(const struct stall_scene *at, struct stall *s)
{
	static const struct {
		enum stall_cause cause;
		enum schedule_wait wait;
	} limits[] = { { STALL_PORT, SCHEDULE_WAIT_PORT },
		       { STALL_FRONT_END, SCHEDULE_WAIT_FRONT_END } };
	const struct procedure_block *b = &at->c->procedure->blocks[at->loop.block];

	for (unsigned k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
		double most = 0;

		for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
			most += at->c->steps[i].waits[limits[k].wait];
		if (most >= STALL_COSTS_MACHINE_PART * s->cycles)
			add(s, limits[k].cause, PROCEDURE_OUTSIDE, most);
	}
}

/* The way to a block. */

/* The instruction that most often is right before; false: none is known. */
static bool step_before(const struct function_code *c, uint32_t *block, uint32_t *step)
{
	const struct procedure *p = c->procedure;

	for (unsigned n = 0; n < 3; n++) {
		const struct procedure_block *b = &p->blocks[*block];
		uint32_t most = PROCEDURE_OUTSIDE;

		if (*step > b->first_step) {
			--*step;
			return true;
		}
		for (uint32_t i = 0; i < b->n_in; i++) {
			uint32_t way = p->ways_in[b->first_in + i];

			if (most == PROCEDURE_OUTSIDE ||
			    function_code_taken(c, way) > function_code_taken(c, most))
				most = way;
		}
		if (most == PROCEDURE_OUTSIDE || p->ways[most].from == PROCEDURE_OUTSIDE)
			return false;
		*block = p->ways[most].from;
		*step = p->blocks[*block].first_step + p->blocks[*block].n_steps;
	}
	return false;
}

/* What came back from a call may have begun anew there. */
static void blame_calls(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	uint32_t first = at->c->procedure->blocks[at->loop.block].first_step;

	for (uint32_t i = step; i > first && step - i < EXPOSED_CALL; i--)
		if (code_step_is_call(&at->c->procedure->steps[i - 1])) {
			add(s, STALL_BRANCH, PROCEDURE_OUTSIDE, refill(at->c));
			return;
		}
}

/* What waits for all before lets nothing in: those behind it have to begin anew. */
static void blame_fences(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	uint32_t block = at->loop.block;

	for (unsigned n = 0; n < BEHIND_FENCE && step_before(at->c, &block, &step); n++)
		if (synchronises(&at->c->steps[step].operation))
			add(s, STALL_SYNC, step, -1);
}

/* Of estimates, the bound that makes the others many and this one few. */
static double most_of(const struct function_code *c, uint32_t way)
{
	return fmax(function_code_taken(c, way), c->ways[way].times_high);
}

static double least_of(const struct function_code *c, uint32_t way)
{
	return fmin(function_code_taken(c, way), c->ways[way].times_low);
}

/* Where the processor tells which it had not foreseen: it and chance. */
static double missed(const struct function_code_way *w)
{
	double n = (double)w->missed, all = n + (double)w->foreseen;

	return all > 0 ? (n + 1 + DEVIATIONS * sqrt(n + 1)) / all : 1;
}

/* Of those who came by this way: so many may have come unforeseen. */
static double unforeseen(const struct function_code *c, uint32_t way)
{
	const struct procedure *p = c->procedure;
	uint32_t from = p->ways[way].from;
	double own = least_of(c, way), others = 0;

	if (from == PROCEDURE_OUTSIDE)
		return 1;
	if (p->blocks[from].end_kind != PROCEDURE_END_BRANCH &&
	    p->blocks[from].end_kind != PROCEDURE_END_INDIRECT)
		return 0;
	for (uint32_t i = p->blocks[from].first_out;
	     i < p->blocks[from].first_out + p->blocks[from].n_out; i++)
		others += i == way ? 0 : most_of(c, i);
	if (own > 0)
		return fmin(fmin(1, missed(&c->ways[way])), others / own);
	/* It may have been hardly ever, and then whenever it was. */
	return function_code_taken(c, way) > 0 && others > 0
		       ? fmin(1, missed(&c->ways[way]))
		       : 0;
}

static void blame_fetch(const struct stall_scene *at, struct stall *s,
			const struct procedure_way *w, uint32_t block)
{
	const struct procedure *p = at->c->procedure;
	uint64_t start = p->blocks[block].start;

	if (w->from != PROCEDURE_OUTSIDE) {
		blame_code(at, s, p->blocks[w->from].end - 1, start);
		return;
	}
	blame_line_at(at, s, start, -1);
	blame_page_at(at, s, start, -1);
}

/* The last instruction there, with the one that is fused with it. */
static void blame_end(const struct stall_scene *at, struct stall *s, uint32_t block)
{
	const struct procedure_block *b = &at->c->procedure->blocks[block];
	uint32_t last = b->first_step + b->n_steps - 1;

	blame_operation(at, s, b, last);
	if (last > b->first_step &&
	    at->c->steps[last].operation.class == OPERATION_BRANCH &&
	    at->c->steps[last - 1].operation.may_fuse_with_branch)
		blame_operation(at, s, b, last - 1);
}

/* A way back from a block, and what was found on all of them. */
struct trail {
	const struct trail *before;
	uint32_t block;
	unsigned n_behind; /* instructions between here and the stall */
	double share;	   /* of the times of the stall, that it came this way */
};

struct branches {
	struct {
		uint32_t step;
		double unforeseen; /* of the times of the stall */
	} at[STALL_MAX_CULPRITS];
	unsigned n;
};

/* Where there is no room, the one that matters least makes it. */
static void note_branch(struct branches *to, uint32_t step, double unforeseen)
{
	unsigned least = 0;

	if (unforeseen <= 0)
		return;
	for (unsigned i = 0; i < to->n; i++) {
		if (to->at[i].step == step) {
			to->at[i].unforeseen = fmin(1, to->at[i].unforeseen + unforeseen);
			return;
		}
		if (to->at[i].unforeseen < to->at[least].unforeseen)
			least = i;
	}
	if (to->n < STALL_MAX_CULPRITS)
		least = to->n++;
	else if (to->at[least].unforeseen >= unforeseen)
		return;
	to->at[least].step = step;
	to->at[least].unforeseen = unforeseen;
}

/* Each branch counts once on a way: where it was last. */
static bool is_on(const struct trail *t, uint32_t block)
{
	for (; t->before; t = t->before)
		if (t->block == block)
			return true;
	return false;
}

/* Back to those that so many instructions are behind. */
static void find_branches(const struct function_code *c, const struct trail *t,
			  unsigned depth, struct branches *ret)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b = &p->blocks[t->block];
	double all = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		all += function_code_taken(c, p->ways_in[b->first_in + i]);
	for (uint32_t i = 0; i < b->n_in && all > 0; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;
		struct trail next = { .before = t,
				      .block = from,
				      .share = t->share * function_code_taken(c, way) /
					       all };

		if (next.share < STALL_COSTS_LEAST_PART ||
		    (from != PROCEDURE_OUTSIDE && is_on(t, from)))
			continue;
		note_branch(ret,
			    from == PROCEDURE_OUTSIDE
				    ? PROCEDURE_OUTSIDE
				    : p->blocks[from].first_step +
					      p->blocks[from].n_steps - 1,
			    next.share * unforeseen(c, way));
		if (from == PROCEDURE_OUTSIDE)
			continue;
		next.n_behind = t->n_behind + p->blocks[from].n_steps;
		if (depth < MAX_BLOCKS_BACK && next.n_behind <= EXPOSED)
			find_branches(c, &next, depth + 1, ret);
	}
}

static void blame_branches(const struct stall_scene *at, struct stall *s,
			   unsigned n_behind)
{
	struct trail here = { .block = at->loop.block, .n_behind = n_behind, .share = 1 };
	struct branches found = { .n = 0 };

	find_branches(at->c, &here, 0, &found);
	for (unsigned i = 0; i < found.n; i++)
		add(s, STALL_BRANCH, found.at[i].step,
		    found.at[i].unforeseen * refill(at->c));
}

/* is_before: nothing of the block was under way, and what led there may not be done. */
static void blame_ways(const struct stall_scene *at, struct stall *s, bool is_before)
{
	const struct procedure *p = at->c->procedure;
	const struct procedure_block *b = &p->blocks[at->loop.block];
	double all = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		all += function_code_taken(at->c, p->ways_in[b->first_in + i]);
	for (uint32_t i = 0; i < b->n_in && all > 0; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;

		if (function_code_taken(at->c, way) / all < STALL_COSTS_LEAST_PART)
			continue;
		blame_fetch(at, s, &p->ways[way], at->loop.block);
		if (is_before && from != PROCEDURE_OUTSIDE && p->blocks[from].n_steps)
			blame_end(at, s, from);
	}
}

static bool is_explained(const struct stall *s)
{
	double most = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->culprits[i].most < 0)
			return true;
		most += s->culprits[i].most;
	}
	return most >= s->cycles;
}

static void blame_unit(const struct stall_scene *at, struct stall *s, uint32_t block,
		       uint32_t step)
{
	const struct function_code *c = at->c;
	const struct operation *o = &c->steps[step].operation;

	if (loads(o))
		blame_load(at, s, &c->procedure->blocks[block], step);
	if (divides(o))
		add(s, STALL_DIVIDER, step, -1);
}

/* The one of this cause that may have most of it; NULL: none is there. */
static struct stall_culprit *chief_of(struct stall *s, uint8_t cause)
{
	struct stall_culprit *chief = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		struct stall_culprit *x = &s->culprits[i];

		if (x->cause == cause &&
		    (!chief ||
		     (chief->most >= 0 && (x->most < 0 || x->most > chief->most))))
			chief = x;
	}
	return chief;
}

/* Of causes that are there already: who may have more of one than all that were found
 * comes first.  The load that goes on to another line each time is the likelier one than
 * the load right before that does so each eighth time. */
static void blame_likelier(const struct stall_scene *at, struct stall *s, uint32_t block,
			   uint32_t step)
{
	struct stall other = { .cycles = s->cycles, .low = s->low, .high = s->high };

	blame_unit(at, &other, block, step);
	for (unsigned i = 0; i < other.n; i++) {
		struct stall_culprit *chief = chief_of(s, other.culprits[i].cause);
		struct stall_culprit before;

		if (!chief || chief->most < 0 ||
		    (other.culprits[i].most >= 0 &&
		     other.culprits[i].most <= chief->most) ||
		    s->n == STALL_MAX_CULPRITS)
			continue;
		before = *chief;
		*chief = other.culprits[i];
		s->culprits[s->n++] = before;
	}
}

/* The step's own wait, each time. */
static double waited(const struct function_code *c, uint32_t step)
{
	const struct function_code_step *x = &c->steps[step];

	return x->times > 0 ? x->cycles / x->times - fmax(0, x->ideal) : 0;
}

/* What waited there may have done so for the next one to be taken in. */
static void blame_stores_at(const struct stall_scene *at, struct stall *s, uint32_t block,
			    uint32_t step)
{
	const struct procedure_block *b = &at->c->procedure->blocks[block];
	uint32_t end = b->first_step + b->n_steps;

	for (uint32_t i = step; i < end && i <= step + 1; i++)
		if (stores(&at->c->steps[i].operation))
			blame_store(at, s, i);
}

/* What is done already when the one before it retires does so in the same cycle, and some
 * processors let all of these go before they take the interrupt: a sample that nobody
 * right before it can be blamed for was of one of them.  So may any be where one of them
 * waited longer: of a long wait some samples land behind where most do. */
static void blame_group(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	uint32_t block = at->loop.block,
		 n = at->c->model ? at->c->model->retire_width : 0;

	while (n-- > 1 && step_before(at->c, &block, &step) &&
	       !code_step_is_call(&at->c->procedure->steps[step])) {
		bool is_longer = waited(at->c, step) > s->cycles;

		if (!is_explained(s) || is_longer)
			blame_unit(at, s, block, step);
		else
			blame_likelier(at, s, block, step);
		if (is_longer)
			blame_stores_at(at, s, block, step);
	}
}

/* Where misses were sampled, too, no cause had more than these at their worst. */
static void weigh_events(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	const struct function_code *c = at->c;
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		struct stall_culprit x = s->culprits[i];
		uint32_t where = x.blamed == PROCEDURE_OUTSIDE ? step : x.blamed;
		uint32_t block = procedure_block_at(c->procedure,
						    c->procedure->steps[where].address);
		struct stall_events_bound b = stall_events_most(
			c, x.cause, block, where, c->blocks[at->loop.block].times);

		if (b.most >= 0 && b.most < s->high && (x.most < 0 || b.most < x.most)) {
			x.most = b.most;
			x.event = b.event;
		}
		if (x.most < 0 || x.most >= STALL_COSTS_LEAST_PART * s->cycles)
			s->culprits[n++] = x;
	}
	s->n = n;
}

/* The later it is named: who explains next to nothing where the stall is longest, and who
 * is unlikely by what was seen. */
static unsigned lateness(const struct stall *s, const struct stall_culprit *x)
{
	if (x->is_unlikely)
		return 2;
	return x->most >= 0 && x->most < STALL_COSTS_LEAST_PART * s->high;
}

static void put_likely_first(struct stall *s)
{
	const struct stall old = *s;
	unsigned n = 0;

	for (unsigned late = 0; late <= 2; late++)
		for (unsigned i = 0; i < s->n; i++)
			if (lateness(s, &old.culprits[i]) == late)
				s->culprits[n++] = old.culprits[i];
}

/* Nothing is without a cause, in whole. */
static void settle(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	double most = 0;

	put_likely_first(s);
	if (at->c->misses.n)
		weigh_events(at, s, step);

	for (unsigned i = 0; i < s->n; i++) {
		if (s->culprits[i].most < 0)
			return;
		most += s->culprits[i].most;
	}
	s->unexplained = fmax(0, s->cycles - most);
}

void stall_rules_step(const struct stall_scene *at, struct stall *s, uint32_t step)
{
	const struct procedure_block *b = &at->c->procedure->blocks[at->loop.block];

	blame_operation(at, s, b, step);
	blame_neighbours(at, s, b, step);
	blame_fences(at, s, step);
	blame_calls(at, s, step);
	if (step <= b->first_step + 1)
		blame_ways(at, s, false);
	if (step < b->first_step + EXPOSED)
		blame_branches(at, s, step - b->first_step);
	blame_machine(at, s);
	blame_group(at, s, step);
	settle(at, s, step);
}

void stall_rules_arrival(const struct stall_scene *at, struct stall *s)
{
	uint32_t first = at->c->procedure->blocks[at->loop.block].first_step;

	/* It could not be taken in, so that nothing was left to retire. */
	if (stores(&at->c->steps[first].operation))
		blame_store(at, s, first);
	blame_ways(at, s, true);
	blame_fences(at, s, first);
	blame_branches(at, s, 0);
	blame_machine(at, s);
	blame_group(at, s, first);
	settle(at, s, first);
}
