/* SPDX-License-Identifier: Apache-2.0 */
#include "count/translate.h"

#include <string.h>

#include "count/block.h"
#include "count/code_change.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/detour.h"
#include "count/engine.h"
#include "count/exec_range.h"
#include "count/flag_need.h"
#include "count/indirect.h"
#include "count/link.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/plan.h"

#define FRAGMENT_BLOCKS 48
#define FRAGMENT_BYTES	0x8000
#define PAGE_BYTES	4096

/* A branch whose way to the target has a counter, which is behind the fragment. */
struct aside {
	uint8_t *from;
	struct place *to;
	uint32_t counter;
};

struct fragment {
	struct code_unit *unit;
	struct emit *e; /* the unit's hot code */
	const struct exec_range *range;
	const uint8_t *limit; /* how far it may go on */
	struct block block;
	struct ways ways;
	struct plan plan;
	struct count_file_block *told;
	uint32_t told_number;
	struct aside asides[FRAGMENT_BLOCKS];
	unsigned n_asides;
	/* Calls that are returned from with flags. */
	struct place *with_flags[FRAGMENT_BLOCKS];
	unsigned n_with_flags;
	uint32_t nest;
	struct place *next; /* where it goes on, or NULL */
	uint64_t was;	    /* an older translation of its first place, 0: none */
};

void translate_count(struct emit *e, uint32_t counter, bool needs_flags)
{
	uint32_t off = CONTEXT_COUNTERS + counter * 8;

	if (needs_flags)
		emit_add_one_quietly(e, off, CONTEXT_SPILL0);
	else
		emit_add_one(e, off);
}

void translate_jump(struct code_unit *u, struct emit *e, struct place *p)
{
	const uint8_t *to;

	emit_align_distance(e, 1);
	to = p->code ? link_far(u, (const void *)p->code)
		     : link_leave(u, (struct link){ LINK_CODE, 0, p->addr, e->at + 1 });
	emit_u8(e, 0xe9);
	emit_distance(e, to);
}

static void leave(struct fragment *f, enum link_kind kind, uint64_t addr)
{
	emit_jump(f->e,
		  link_leave(f->unit, (struct link){ kind, f->told_number, addr, NULL }));
}

static void copy_op(struct fragment *f, unsigned i)
{
	const struct x86_op *op = &f->block.ops[i];
	uint64_t from = f->block.addr + f->block.offs[i];
	uint8_t *to = f->e->at;

	if (!detour_is_possible(op)) {
		leave(f, LINK_CANNOT, from);
		return;
	}
	if (detour_is_needed(op, from, to)) {
		detour_emit(f->e, op, from);
		return;
	}
	emit_bytes(f->e, (const void *)from, op->size);
	if (op->is_rip_relative)
		memcpy(to + op->disp_off,
		       &(int32_t){ (int32_t)(from - (uint64_t)to) + op->disp }, 4);
}

/* All but what ends the block otherwise than by going on, with its counter. */
static void emit_body(struct fragment *f)
{
	const struct block *b = &f->block;
	unsigned n = b->flow == X86_FLOW_ON ? b->n : b->n - 1;
	int at = f->plan.counts_inside ? flag_need_free_place(b) : -1;
	unsigned place = at < 0 ? 0 : (unsigned)at;

	if (f->plan.counts_inside) {
		f->told->inside = count_output_add_counter();
		f->told->counted_at = b->offs[place];
	}
	for (unsigned i = 0; i < n || i == place; i++) {
		if (f->plan.counts_inside && i == place)
			translate_count(f->e, f->told->inside, at < 0);
		if (i < n)
			copy_op(f, i);
	}
}

static void add_aside(struct fragment *f, uint8_t *from, struct place *to,
		      uint32_t counter)
{
	f->asides[f->n_asides++] = (struct aside){ from, to, counter };
}

/* A distance that leads to the target, or to what counts the way there first. */
static void emit_distance_to_target(struct fragment *f)
{
	struct place *to = f->ways.to;

	if (f->plan.counts_to)
		f->told->to = count_output_add_counter();
	if (f->plan.counts_to || !to->code)
		add_aside(f, f->e->at, to, f->told->to);
	emit_distance(f->e,
		      to->code ? link_far(f->unit, (const void *)to->code) : f->e->at);
}

static void count_on(struct fragment *f)
{
	if (!f->plan.counts_on)
		return;
	f->told->on = count_output_add_counter();
	translate_count(f->e, f->told->on, flag_need_at(f->block.end));
}

static void end_conditional(struct fragment *f)
{
	emit_align_distance(f->e, 2);
	emit_u8(f->e, 0x0f);
	emit_u8(f->e, 0x80 | (f->block.ops[f->block.n - 1].opcode & 15));
	emit_distance_to_target(f);
	count_on(f);
	f->next = f->ways.on;
}

/* loop and jrcxz only have distances of one byte: over a jump to the target, or to it. */
static void end_loop(struct fragment *f)
{
	const struct x86_op *op = &f->block.ops[f->block.n - 1];
	unsigned distance_off = op->size - 1u;
	uint8_t *over;

	emit_bytes(f->e, (const void *)(f->block.addr + f->block.offs[f->block.n - 1]),
		   distance_off);
	emit_u8(f->e, 2);
	EMIT(f->e, 0xeb, 0);
	over = f->e->at;
	emit_align_distance(f->e, 1);
	emit_u8(f->e, 0xe9);
	emit_distance_to_target(f);
	over[-1] = (uint8_t)(f->e->at - over);
	count_on(f);
	f->next = f->ways.on;
}

/* xbegin: the target is where an aborted transaction goes on. */
static void end_transaction(struct fragment *f)
{
	emit_align_distance(f->e, 2);
	EMIT(f->e, 0xc7, 0xf8);
	emit_distance_to_target(f);
	count_on(f);
	f->next = f->ways.on;
}

static void end_jump(struct fragment *f)
{
	f->next = f->ways.to;
}

/* Flags behind a call are nobody's business by all conventions.  Where they are looked at
 * all the same they are kept from the first return on, and from that on everywhere. */
static void note_flags(struct fragment *f)
{
	struct place *p = f->ways.on;

	if (!p->return_code && flag_need_is_sure(p->addr))
		f->with_flags[f->n_with_flags++] = p;
}

/* In front of all checks that may change some. */
static void expect_flags(const struct fragment *f)
{
	for (unsigned i = 0; i < f->n_with_flags; i++)
		indirect_expect(f->with_flags[i]->nest, f->with_flags[i]->addr);
}

static void be_strict(const struct place *p)
{
	if (engine.is_strict || !flag_need_is_sure(p->addr))
		return;
	engine.is_strict = engine.was_lax = true;
}

static void end_call(struct fragment *f)
{
	note_flags(f);
	indirect_push_return(f->unit, f->e, f->block.end);
	f->next = f->ways.to;
}

static void end_indirect(struct fragment *f)
{
	if (f->block.flow == X86_FLOW_CALL_TO)
		note_flags(f);
	indirect_emit_site(f->unit, f->e, f->told_number, &f->block);
}

static void end_return(struct fragment *f)
{
	indirect_emit_return(f->unit, f->e, f->nest, &f->block);
}

static void end_syscall(struct fragment *f)
{
	leave(f, LINK_SYSCALL, f->block.end);
}

static void end_int80(struct fragment *f)
{
	leave(f, LINK_INT80, f->block.end);
}

static void end_native(struct fragment *f)
{
	leave(f, LINK_NATIVE, f->block.addr + f->block.offs[f->block.n - 1]);
}

static void end_on(struct fragment *f)
{
	f->next = f->ways.on;
}

static const struct {
	enum count_end told;
	void (*emit)(struct fragment *f);
} ends[] = {
	[X86_FLOW_ON] = { COUNT_END_ON, end_on },
	[X86_FLOW_CONDITIONAL] = { COUNT_END_CONDITIONAL, end_conditional },
	[X86_FLOW_LOOP] = { COUNT_END_CONDITIONAL, end_loop },
	[X86_FLOW_TRANSACTION] = { COUNT_END_CONDITIONAL, end_transaction },
	[X86_FLOW_JUMP] = { COUNT_END_JUMP, end_jump },
	[X86_FLOW_CALL] = { COUNT_END_CALL, end_call },
	[X86_FLOW_JUMP_TO] = { COUNT_END_JUMP_TO, end_indirect },
	[X86_FLOW_CALL_TO] = { COUNT_END_CALL_TO, end_indirect },
	[X86_FLOW_RETURN] = { COUNT_END_RETURN, end_return },
	[X86_FLOW_SYSCALL] = { COUNT_END_SYSCALL, end_syscall },
	[X86_FLOW_INT80] = { COUNT_END_SYSCALL, end_int80 },
	[X86_FLOW_FAR] = { COUNT_END_STOP, end_native },
	[X86_FLOW_TRAP] = { COUNT_END_STOP, end_native },
	[X86_FLOW_NEVER] = { COUNT_END_STOP, end_native },
};

static void tell_block(struct fragment *f)
{
	const struct block *b = &f->block;

	f->told_number = count_output_add_block(&f->told);
	*f->told = (struct count_file_block){
		.addr = b->addr,
		.target = b->target,
		.image = f->range->image,
		.size_bytes = b->offs[b->n],
		.n_insns = (uint16_t)b->n,
		.end = (uint8_t)ends[b->flow].told,
		.nest = (uint8_t)f->nest,
	};
}

/* The place's translation begins here; an older one is going to lead here. */
static void set_code(struct fragment *f, struct place *p, uint32_t bytes)
{
	uint64_t was = p->was; /* until it is watched */

	/* what cannot be executed can be when more is mapped */
	p->has_begin =
		!bytes || (f->range && (f->range->may_change || f->range->is_writable));
	p->code = (uint64_t)(p->has_begin ? code_change_emit_begin(f->e) : f->e->at);
	code_change_watch(p, bytes);
	if (was)
		f->was = was;
}

/* So that it can be led elsewhere without another's doing so. */
static void fill_up(const struct fragment *f, const struct place *p)
{
	uint64_t bytes = (uint64_t)f->e->at - p->code;

	if (bytes < CODE_CHANGE_BYTES)
		emit_nop(f->e, CODE_CHANGE_BYTES - (unsigned)bytes);
}

/* What is read is not written to any more; how far it reaches is only known then. */
static void read_block(struct fragment *f, uint64_t addr)
{
	uint64_t guarded = (addr | (PAGE_BYTES - 1)) + 1;

	code_change_guard(addr, 1, f->range);
	block_read(&f->block, addr);
	/* written between, it may be longer when it is read again */
	while (f->block.end > guarded) {
		guarded = ((f->block.end - 1) | (PAGE_BYTES - 1)) + 1;
		code_change_guard(addr, (uint32_t)(f->block.end - addr), f->range);
		block_read(&f->block, addr);
	}
}

/* What cannot be executed is left to the CPU, which tells the program. */
static void emit_refusal(struct fragment *f, struct place *p)
{
	set_code(f, p, 0);
	leave(f, LINK_NATIVE, p->addr);
	f->next = NULL;
}

/* A chosen function begins: on in the nest that is entered. */
static void emit_entry(struct fragment *f, struct place *p, uint32_t entered)
{
	struct place *to = place_at(entered, p->addr);

	f->told_number = count_output_add_block(&f->told);
	*f->told = (struct count_file_block){
		.addr = p->addr,
		.target = p->addr,
		.image = f->range->image,
		.end = COUNT_END_ENTER,
		.nest = (uint8_t)p->nest,
		.entered = entered,
	};
	p->block = f->told_number;
	set_code(f, p, 1); /* as long as it is the same there */
	code_unit_mark(f->unit, f->told_number);
	if (plan_entry(p, to).counts_inside) {
		f->told->inside = count_output_add_counter();
		translate_count(f->e, f->told->inside, flag_need_at(p->addr));
	}
	emit_spill(f->e, X86_OP_RSP, CONTEXT_LIMITS + 8 * nest_depth(entered));
	emit_store_number(f->e, CONTEXT_NEST, entered);
	count_output_publish_block();
	f->next = to;
}

static void emit_block(struct fragment *f, struct place *p)
{
	uint32_t entered = nest_entered(p->nest, p->addr);

	f->told_number = 0;
	f->nest = p->nest;
	if (entered != p->nest) {
		emit_entry(f, p, entered);
		return;
	}
	read_block(f, p->addr);
	if (!f->block.n) {
		emit_refusal(f, p);
		return;
	}
	tell_block(f);
	f->ways = plan_ways(&f->block, p->nest);
	f->plan = plan_block(&f->block, p, &f->ways);
	p->block = f->told_number;
	set_code(f, p, f->told->size_bytes);
	code_unit_mark(f->unit, f->told_number);
	f->next = NULL;
	emit_body(f);
	ends[f->block.flow].emit(f);
	fill_up(f, p);
	count_output_publish_block();
}

static void emit_asides(struct fragment *f)
{
	for (unsigned i = 0; i < f->n_asides; i++) {
		struct aside *a = &f->asides[i];

		if (a->counter) {
			link_to(a->from, f->e->at);
			translate_count(f->e, a->counter, flag_need_at(a->to->addr));
			translate_jump(f->unit, f->e, a->to);
		} else if (a->to->code) {
			link_to(a->from, (const void *)a->to->code);
		} else {
			link_to(a->from, link_leave(f->unit, (struct link){ LINK_CODE, 0,
									    a->to->addr,
									    a->from }));
		}
	}
}

static bool goes_on(const struct fragment *f, unsigned n)
{
	return f->next && !f->next->code && !f->next->was && n < FRAGMENT_BLOCKS &&
	       f->e->at < f->limit && exec_range_find(f->next->addr) == f->range;
}

static void emit_fragment(struct fragment *f, struct place *p)
{
	unsigned n = 0;

	f->e = &f->unit->hot;
	f->limit = f->e->at + FRAGMENT_BYTES;
	f->n_asides = 0;
	do
		emit_block(f, n ? f->next : p);
	while (n++, goes_on(f, n));
	if (f->next)
		translate_jump(f->unit, f->e, f->next);
	emit_asides(f);
}

static struct fragment fragment; /* one at a time: it is large */

static struct fragment *begin(const struct place *p)
{
	const struct exec_range *r = exec_range_find(p->addr);

	fragment.n_with_flags = 0;
	fragment.was = 0;
	fragment.told_number = 0; /* where nothing can be executed there is no block */
	fragment.range = r;
	fragment.unit =
		r ? code_unit_near(r->start, r->end) : code_unit_near(p->addr, p->addr);
	fragment.e = &fragment.unit->hot;
	return &fragment;
}

/* All of it is there: other threads may execute it. */
static void lead_there(const struct fragment *f, const struct place *p)
{
	expect_flags(f);
	if (f->was)
		link_to((uint8_t *)f->was + 1, (const void *)p->code);
}

const void *translate(struct place *p)
{
	struct fragment *f;

	if (p->code || code_change_revive(p))
		return (const void *)p->code;
	f = begin(p);

	if (f->range)
		emit_fragment(f, p);
	else
		emit_refusal(f, p);
	lead_there(f, p);
	return (const void *)p->code;
}

const void *translate_return(struct place *p)
{
	struct fragment *f;
	uint32_t counter = 0;
	const uint8_t *check;

	if (p->return_code)
		return (const void *)p->return_code;
	be_strict(p);
	code_change_revive(p);
	f = begin(p);
	check = f->e->at;
	if (plan_returns(p))
		counter = count_output_add_counter();
	indirect_emit_return_check(f->unit, f->e, p->nest, p->addr);
	p->return_code = (uint64_t)f->e->at;
	if (counter)
		translate_count(f->e, counter, flag_need_at(p->addr));
	if (p->code)
		translate_jump(f->unit, f->e, p);
	else if (f->range)
		emit_fragment(f, p);
	else
		emit_refusal(f, p);
	indirect_publish_return(p->nest, p->addr, check);
	lead_there(f, p);
	count_output_add_return(p->block, counter);
	return (const void *)p->return_code;
}
