/* SPDX-License-Identifier: Apache-2.0 */
#include "count/indirect.h"

#include <string.h>

#include "count/block.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/detour.h"
#include "count/fatal.h"
#include "count/flag_need.h"
#include "count/link.h"
#include "count/low.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/reserve.h"
#include "count/translate.h"

#define SITES_MAX 0x400000u
#define PAIRS_MAX COUNT_FILE_PAIRS_MAX
#define CHAIN_MAX 3
/* Sites' numbers times it are apart in the 16 bits that the table of pairs looks at. */
#define SITE_FACTOR 40503u

#define RCX 1
#define RDX 2
#define RSP 4

/* One jump or call. */
struct site {
	uint32_t block, nest;
	uint32_t n_pairs, first_pair; /* of them */
	uint32_t mark;		      /* of the table of pairs; 0: it is not in it */
	uint8_t *first, *last; /* the distance at the site, and of its last check */
	bool is_jump;	  /* within a function, that is: its targets may need flags */
	bool keeps_flags; /* one of them does, so no check may change any */
};

struct pair {
	uint64_t target;
	uint64_t code; /* where the way is counted */
	uint32_t counter, next;
};

static struct site *sites;
static struct pair *pairs;
static uint32_t n_sites = 1, n_pairs = 1, n_marks = 1;
static uint32_t marked[LOW_SLOTS]; /* sites by their marks' numbers */

/* Where returns go, by nest, and where those go that leave it. */
static struct {
	uint64_t *slots; /* by the return address */
	const uint8_t *leave;
	/* By slot: a return address is among its own that flags are needed behind, so
	 * no check in front of that one's may change any. */
	uint64_t keeps_flags[LOW_SLOTS / 64];
} returns[COUNT_FILE_NESTS_MAX];

static struct code_unit *low_unit(void)
{
	return code_unit_near((uint64_t)low, (uint64_t)low);
}

static void fill(uint64_t *slots, struct code_unit *u, enum link_kind kind)
{
	uint64_t code = (uint64_t)link_leave(u, (struct link){ kind, 0, 0, NULL });

	for (uint32_t i = 0; i < LOW_SLOTS; i++)
		slots[i] = code;
}

static void emit_look_up_return(struct emit *e, const uint64_t *slots)
{
	EMIT(e, 0x0f, 0xb7, 0x0c, 0x24); /* movzwl (%rsp), %ecx */
	EMIT(e, 0xff, 0x24, 0xcd);	 /* jmp *slots(,%rcx,8) */
	emit_u32(e, low_address(slots));
}

static uint64_t *slots_of(uint32_t nest);

/* The one that it is within may be left as well, and looks itself. */
static const uint8_t *leave_code(struct code_unit *u, uint32_t nest)
{
	const uint64_t *outer = slots_of(nest_parent(nest));
	const uint8_t *code = u->cold.at;

	emit_store_number(&u->cold, CONTEXT_NEST, nest_parent(nest));
	emit_look_up_return(&u->cold, outer);
	return code;
}

static void begin_returns(uint32_t nest)
{
	struct code_unit *u = low_unit();

	fill(returns[nest].slots, u, LINK_RETURN);
	memset(returns[nest].keeps_flags, 0, sizeof(returns[nest].keeps_flags));
	returns[nest].leave = nest ? leave_code(u, nest) : NULL;
}

static uint64_t *slots_of(uint32_t nest)
{
	if (!returns[nest].slots) {
		returns[nest].slots = low_reserve(LOW_SLOTS * sizeof(uint64_t));
		begin_returns(nest);
	}
	return returns[nest].slots;
}

static const uint8_t *literal(struct code_unit *u, uint64_t value)
{
	const uint8_t *at = u->cold.at;

	emit_u64(&u->cold, value);
	return at;
}

void indirect_push_return(struct code_unit *u, struct emit *e, uint64_t addr)
{
	if (addr < 0x80000000) {
		emit_u8(e, 0x68); /* push $addr */
		emit_u32(e, (uint32_t)addr);
		return;
	}
	/* One store, which the return can read at once. */
	EMIT(e, 0xff, 0x35); /* push addr */
	emit_distance(e, literal(u, addr));
}

static void emit_leave(struct code_unit *u, struct emit *e, enum link_kind kind,
		       uint32_t number)
{
	emit_jump(e, link_leave(u, (struct link){ kind, number, 0, NULL }));
}

void indirect_emit_return(struct code_unit *u, struct emit *e, uint32_t nest,
			  const struct block *b)
{
	uint16_t more_bytes = (uint16_t)b->ops[b->n - 1].imm;

	if (more_bytes) {
		emit_leave(u, e, LINK_RETURN_MORE, more_bytes);
		return;
	}
	if (nest && block_sets_stack(b)) {
		emit_leave(u, e, LINK_UNWIND_RETURN, 0);
		return;
	}
	emit_spill(e, RCX, CONTEXT_SPILL0);
	emit_look_up_return(e, slots_of(nest));
}

/* jrcxz over a jump to elsewhere. */
static void emit_unless_zero(struct emit *e, const void *elsewhere)
{
	uint8_t *over;

	EMIT(e, 0xe3, 0);
	over = e->at;
	emit_jump(e, elsewhere);
	over[-1] = (uint8_t)(e->at - over);
}

/* rcx is value, or on to elsewhere; flags stay, rcx does not. */
static void emit_compare_quietly(struct emit *e, uint64_t value, const void *elsewhere)
{
	emit_spill(e, RDX, CONTEXT_SPILL1);
	emit_load_number(e, RDX, -value);
	EMIT(e, 0x48, 0x8d, 0x0c, 0x11); /* lea (%rcx,%rdx), %rcx */
	emit_fill(e, RDX, CONTEXT_SPILL1);
	emit_unless_zero(e, elsewhere);
}

static uint64_t *return_slot(uint32_t nest, uint64_t addr)
{
	return &slots_of(nest)[addr & (LOW_SLOTS - 1)];
}

static bool slot_keeps_flags(uint32_t nest, uint64_t addr)
{
	uint64_t slot = addr & (LOW_SLOTS - 1);

	if (flag_need_at(addr))
		returns[nest].keeps_flags[slot / 64] |= 1ULL << slot % 64;
	return returns[nest].keeps_flags[slot / 64] >> slot % 64 & 1;
}

/* From where a chosen function was entered. */
static void emit_leave_nest(struct code_unit *u, struct emit *e, uint32_t nest)
{
	const void *leave;

	if (!nest)
		return;
	leave = link_far(u, returns[nest].leave);
	emit_compare_stack(e, CONTEXT_LIMITS + 8 * nest_depth(nest));
	emit_branch(e, EMIT_NOT_BELOW, leave);
}

/* The same by a limit that is met exactly, without a change of flags. */
static void emit_leave_nest_quietly(struct code_unit *u, struct emit *e, uint32_t nest)
{
	const void *leave;
	uint8_t *over;

	if (!nest)
		return;
	leave = link_far(u, returns[nest].leave);
	emit_fill(e, RCX, CONTEXT_LIMITS + 8 * nest_depth(nest));
	EMIT(e, 0x48, 0xf7, 0xd1);	       /* not %rcx */
	EMIT(e, 0x48, 0x8d, 0x4c, 0x0c, 0x01); /* lea 1(%rsp,%rcx), %rcx */
	EMIT(e, 0xe3, 2);		       /* jrcxz */
	EMIT(e, 0xeb, 0);
	over = e->at;
	emit_jump(e, leave);
	over[-1] = (uint8_t)(e->at - over);
}

/* On if the return is to addr and leaves no nest. */
static void emit_return_check(struct code_unit *u, struct emit *e, uint32_t nest,
			      uint64_t addr)
{
	const void *other = link_far(u, (const void *)*return_slot(nest, addr));

	if (slot_keeps_flags(nest, addr)) {
		EMIT(e, 0x48, 0x8b, 0x0c, 0x24); /* mov (%rsp), %rcx */
		emit_compare_quietly(e, addr, other);
		emit_leave_nest_quietly(u, e, nest);
	} else {
		emit_load_number(e, RCX, addr);
		EMIT(e, 0x48, 0x3b, 0x0c, 0x24); /* cmp (%rsp), %rcx */
		emit_branch(e, EMIT_NOT_EQUAL, other);
		emit_leave_nest(u, e, nest);
	}
}

void indirect_emit_return_check(struct code_unit *u, struct emit *e, uint32_t nest,
				uint64_t addr)
{
	emit_return_check(u, e, nest, addr);
	emit_fill(e, RCX, CONTEXT_SPILL0);
	EMIT(e, 0x48, 0x8d, 0x64, 0x24, 0x08); /* lea 8(%rsp), %rsp */
}

void indirect_publish_return(uint32_t nest, uint64_t addr, const void *check)
{
	__atomic_store_n(return_slot(nest, addr), (uint64_t)check, __ATOMIC_RELEASE);
}

/* mov OPERAND, %rcx, which is put aside: of the jump or call at addr. */
static void emit_load_target(struct emit *e, uint64_t addr, const struct x86_op *op)
{
	const uint8_t *from = (const uint8_t *)addr;
	uint8_t *disp;
	int64_t distance;

	if (detour_is_needed(op, addr, e->at + EMIT_SPILL_BYTES)) {
		detour_emit_target(e, op, addr);
		return;
	}
	emit_spill(e, RCX, CONTEXT_SPILL0);
	if (op->segment)
		emit_u8(e, op->segment);
	if (op->is_address_32)
		emit_u8(e, 0x67);
	emit_u8(e, (uint8_t)(0x48 | (op->rex & (X86_OP_REX_X | X86_OP_REX_B))));
	emit_u8(e, 0x8b);
	emit_u8(e, (uint8_t)((from[op->modrm_off] & 0xc7) | RCX << 3));
	disp = e->at;
	emit_bytes(e, from + op->modrm_off + 1, op->size - op->modrm_off - 1u);
	if (!op->is_rip_relative)
		return;
	distance = (int64_t)(addr + op->size) + op->disp - (int64_t)(uint64_t)e->at;
	__builtin_memcpy(disp, &(int32_t){ (int32_t)distance }, 4);
}

/* Each time by way of the engine, which sees what functions are left. */
static void emit_unwind(struct code_unit *u, struct emit *e, uint32_t site, uint64_t end)
{
	emit_jump(e, link_leave(u, (struct link){ LINK_UNWIND, site, end, NULL }));
	emit_align_distance(e, 1);
}

void indirect_emit_site(struct code_unit *u, struct emit *e, uint32_t block,
			const struct block *b)
{
	const struct x86_op *op = &b->ops[b->n - 1];
	uint64_t addr = b->addr + b->offs[b->n - 1];
	uint32_t i = n_sites++, nest = count_output_block(block)->nest;

	if (i == SITES_MAX)
		fatal("too much code to count");
	emit_load_target(e, addr, op);
	if (x86_flow_of(op) == X86_FLOW_CALL_TO)
		indirect_push_return(u, e, addr + op->size);
	else if (nest && block_sets_stack(b))
		emit_unwind(u, e, i, b->end);
	emit_align_distance(e, 1);
	sites[i] = (struct site){ .block = block,
				  .nest = nest,
				  .first = e->at + 1,
				  .last = e->at + 1,
				  .is_jump = x86_flow_of(op) == X86_FLOW_JUMP_TO };
	emit_jump(e, link_leave(u, (struct link){ LINK_SITE, i, 0, NULL }));
}

/* The way is taken: registers are the program's again. */
static void emit_way(struct code_unit *u, struct emit *e, const struct site *s,
		     struct pair *p, bool keeps_flags)
{
	struct place *to = place_at(s->nest, p->target);

	if (s->mark)
		emit_fill(e, RDX, CONTEXT_SPILL1);
	emit_fill(e, RCX, CONTEXT_SPILL0);
	p->code = (uint64_t)e->at;
	translate_count(e, p->counter, keeps_flags && flag_need_at(p->target));
	translate_jump(u, e, to);
}

/* rcx is the target, or on to elsewhere, by a distance that can be changed. */
static uint8_t *emit_check(struct code_unit *u, struct emit *e, uint64_t target,
			   const void *elsewhere)
{
	EMIT(e, 0x48, 0x3b, 0x0d); /* cmp target, %rcx */
	emit_distance(e, literal(u, target));
	emit_branch(e, EMIT_NOT_EQUAL, elsewhere);
	return e->at - 4;
}

/* The same without a change of flags. */
static uint8_t *emit_quiet_check(struct emit *e, uint64_t target, const void *elsewhere)
{
	uint8_t *over, *distance;

	emit_spill(e, RDX, CONTEXT_SPILL1);
	emit_load_number(e, RDX, -target);
	EMIT(e, 0x48, 0x8d, 0x0c, 0x11); /* lea (%rcx,%rdx), %rcx */
	EMIT(e, 0xe3, 0);		 /* jrcxz */
	over = e->at;
	emit_load_number(e, RDX, target);
	EMIT(e, 0x48, 0x8d, 0x0c, 0x11);
	emit_fill(e, RDX, CONTEXT_SPILL1);
	emit_jump(e, elsewhere);
	distance = e->at - 4;
	over[-1] = (uint8_t)(e->at - over);
	emit_fill(e, RDX, CONTEXT_SPILL1);
	return distance;
}

static struct code_unit *unit_of(const struct site *s)
{
	struct code_unit *u = code_unit_of((uint64_t)s->first);

	return code_unit_near(u->start, u->end);
}

static void add_to_chain(struct site *s, uint32_t number, struct pair *p)
{
	struct code_unit *u = unit_of(s);
	struct emit *e = &u->hot;
	uint8_t *last = s->last, *code = e->at;
	const void *miss = link_leave(u, (struct link){ LINK_SITE, number, 0, NULL });

	s->last = s->keeps_flags ? emit_quiet_check(e, p->target, miss)
				 : emit_check(u, e, p->target, miss);
	emit_way(u, e, s, p, s->keeps_flags);
	link_to(last, code);
}

/* From now on no check of the site changes flags: all are made anew. */
static void begin_keeping_flags(struct site *s, uint32_t number)
{
	s->keeps_flags = true;
	s->last = s->first;
	for (uint32_t i = s->first_pair; i; i = pairs[i].next)
		add_to_chain(s, number, &pairs[i]);
}

static void add_to_table(const struct site *s, struct pair *p)
{
	struct code_unit *u = unit_of(s);
	struct emit *e = &u->hot;
	uint64_t *slot =
		&low->pairs[(p->target + s->mark * SITE_FACTOR) & (LOW_SLOTS - 1)];
	uint64_t code = (uint64_t)e->at;

	emit_check(u, e, p->target, link_far(u, (const void *)*slot));
	emit_way(u, e, s, p, false);
	__atomic_store_n(slot, code, __ATOMIC_RELEASE);
}

/* Too many targets to compare with: asks the table from now on. */
static void begin_table(struct site *s, uint32_t number)
{
	struct code_unit *u = unit_of(s);
	struct emit *e = &u->hot;
	const uint8_t *code;

	s->mark = n_marks++;
	marked[s->mark] = number;
	for (uint32_t i = s->first_pair; i; i = pairs[i].next)
		add_to_table(s, &pairs[i]);
	code = e->at;
	emit_spill(e, RDX, CONTEXT_SPILL1);
	EMIT(e, 0x8d, 0x91); /* lea mark(%rcx), %edx */
	emit_u32(e, s->mark * SITE_FACTOR & 0xffff);
	EMIT(e, 0x0f, 0xb7, 0xd2); /* movzwl %dx, %edx */
	EMIT(e, 0xff, 0x24, 0xd5); /* jmp *pairs(,%rdx,8) */
	emit_u32(e, low_address(low->pairs));
	link_to(s->first, code);
}

static struct pair *new_pair(struct site *s, uint64_t target)
{
	struct pair *p = &pairs[n_pairs];

	*p = (struct pair){ target, 0, count_output_add_counter(), s->first_pair };
	count_output_add_pair(s->block, target, p->counter);
	s->first_pair = n_pairs++;
	return p;
}

/* Another thread may have been here meanwhile. */
static struct pair *find_pair(const struct site *s, uint64_t target)
{
	for (uint32_t i = s->first_pair; i; i = pairs[i].next)
		if (pairs[i].target == target)
			return &pairs[i];
	return NULL;
}

static const void *way(uint32_t number, uint64_t target)
{
	struct site *s = &sites[number];
	struct pair *p = find_pair(s, target);

	if (p)
		return (const void *)p->code;
	p = new_pair(s, target);
	s->n_pairs++;
	if (s->is_jump && !s->keeps_flags && flag_need_is_sure(target))
		begin_keeping_flags(s, number);
	else if (s->n_pairs > CHAIN_MAX && !s->mark && !s->keeps_flags &&
		 n_marks < LOW_SLOTS)
		begin_table(s, number);
	else if (s->mark && !s->keeps_flags)
		add_to_table(s, p);
	else
		add_to_chain(s, number, p);
	return (const void *)p->code;
}

/* Of a table's slot: which mark looked there for the target. */
static uint32_t site_by_slot(uint64_t slot, uint64_t target)
{
	uint32_t factor = SITE_FACTOR, inverse = factor;

	for (unsigned i = 0; i < 4; i++) /* Newton: 3, 6, 12, 24 bits */
		inverse *= 2 - factor * inverse;
	return marked[(uint32_t)(slot - target) * inverse & (LOW_SLOTS - 1)];
}

const void *indirect_go(struct context *c, const struct link *l)
{
	uint64_t target = c->regs[RCX];
	uint32_t number = l->number;

	if (l->kind == LINK_PAIR) {
		number = site_by_slot(c->regs[RDX], target);
		c->regs[RDX] = c->spill[1];
	}
	c->regs[RCX] = c->spill[0];
	return way(number, target);
}

void indirect_expect(uint32_t nest, uint64_t addr)
{
	struct code_unit *u = low_unit();
	const void *check = u->hot.at;

	emit_return_check(u, &u->hot, nest, addr);
	emit_leave(u, &u->hot, LINK_RETURN, 0);
	indirect_publish_return(nest, addr, check);
}

const void *indirect_return(struct context *c, const struct link *l)
{
	uint64_t addr = *(const uint64_t *)c->regs[RSP];
	uint32_t nest = c->nest;

	if (l->kind == LINK_RETURN)
		c->regs[RCX] = c->spill[0];
	if (l->kind == LINK_UNWIND_RETURN) /* as if there already */
		nest_return(c, c->regs[RSP] + 8, true);
	nest_return(c, c->regs[RSP], false);
	if (c->nest != nest && l->kind == LINK_RETURN)
		indirect_expect(nest, addr);
	c->regs[RSP] += 8 + l->number;
	return translate_return(place_at(c->nest, addr));
}

const void *indirect_unwind(struct context *c, const struct link *l)
{
	uint32_t nest = c->nest;
	uint64_t target = c->regs[RCX];

	nest_return(c, c->regs[RSP], true);
	if (c->nest == nest)
		return indirect_go(c, l);
	c->regs[RCX] = c->spill[0];
	count_output_add_extra(COUNT_EXTRA_LEAVE, l->addr, sites[l->number].block, nest,
			       1);
	count_output_add_extra(COUNT_EXTRA_ENTER, target, 0, c->nest, 1);
	return translate(place_at(c->nest, target));
}

void indirect_clear(void)
{
	reserve_clear(sites, sizeof(*sites) * n_sites);
	reserve_clear(pairs, sizeof(*pairs) * n_pairs);
	n_sites = n_pairs = n_marks = 1;
	fill(low->pairs, low_unit(), LINK_PAIR);
	for (uint32_t i = 0; i < COUNT_FILE_NESTS_MAX; i++)
		if (returns[i].slots)
			begin_returns(i);
}

bool indirect_has_room(void)
{
	return n_sites < SITES_MAX / 4 * 3 && n_pairs < PAIRS_MAX / 4 * 3;
}

void indirect_init(void)
{
	sites = reserve(sizeof(*sites) * SITES_MAX);
	pairs = reserve(sizeof(*pairs) * (PAIRS_MAX + 1));
	fill(low->pairs, low_unit(), LINK_PAIR);
	slots_of(0);
}
