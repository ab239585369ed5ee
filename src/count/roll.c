/* SPDX-License-Identifier: Apache-2.0 */
#include "count/roll.h"

#include <string.h>

#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/detour.h"
#include "count/emit.h"
#include "count/link.h"
#include "count/low.h"
#include "decode/x86_op.h"

enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4 };

#define CARRY_FLAG (1u << 0)
#define ZERO_FLAG  (1u << 6)
/* Slots of the tables can lead from one to the next for long. */
#define STEPS_MAX 1000000u

struct roller {
	struct context *c;
	struct roll_state *s;
	unsigned size; /* of the instruction at s->code */
};

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64_at(uint64_t addr)
{
	uint64_t v;

	memcpy(&v, (const void *)addr, sizeof(v));
	return v;
}

static uint64_t *slot_at(const struct roller *r, const uint8_t *off)
{
	return (uint64_t *)((char *)r->c + u32_at(off));
}

/* Behind the instruction, by a distance that it ends with. */
static const uint8_t *by_distance(const struct roller *r)
{
	const uint8_t *end = r->s->code + r->size;

	return end + (int32_t)u32_at(end - 4);
}

static uint64_t *reg_of_prefix(const struct roller *r)
{
	const uint8_t *p = r->s->code;

	return &r->s->regs[(p[1] & 4) << 1 | (p[3] >> 3 & 7)];
}

static void go(struct roller *r, const uint8_t *to)
{
	r->s->code = to - r->size; /* which is added again */
}

static void compare(struct roller *r, uint64_t with)
{
	r->s->flags &= ~(uint64_t)ZERO_FLAG;
	if (r->s->regs[RCX] == with)
		r->s->flags |= ZERO_FLAG;
}

static void make_compare_stack(struct roller *r)
{
	r->s->flags &= ~(uint64_t)CARRY_FLAG;
	if (r->s->regs[RSP] < *slot_at(r, r->s->code + 5))
		r->s->flags |= CARRY_FLAG;
}

static void make_spill(struct roller *r)
{
	*slot_at(r, r->s->code + 5) = *reg_of_prefix(r);
}

static void make_fill(struct roller *r)
{
	*reg_of_prefix(r) = *slot_at(r, r->s->code + 5);
}

static void make_add_one(struct roller *r)
{
	++*slot_at(r, r->s->code + 5);
}

static void make_next_rax(struct roller *r)
{
	r->s->regs[RAX]++;
}

static void make_nothing(struct roller *r)
{
	(void)r;
}

static void make_jump(struct roller *r)
{
	go(r, by_distance(r));
}

static void make_short_jump(struct roller *r)
{
	go(r, r->s->code + 2 + (int8_t)r->s->code[1]);
}

static void make_jump_unless_zero(struct roller *r)
{
	if (!(r->s->flags & ZERO_FLAG))
		go(r, by_distance(r));
}

static void make_jump_unless_below(struct roller *r)
{
	if (!(r->s->flags & CARRY_FLAG))
		go(r, by_distance(r));
}

static void make_short_jump_if_rcx_zero(struct roller *r)
{
	if (!r->s->regs[RCX])
		make_short_jump(r);
}

static void make_far_jump(struct roller *r)
{
	go(r, (const uint8_t *)u64_at((uint64_t)r->s->code + 6));
}

static void make_load_number(struct roller *r)
{
	r->s->regs[(r->s->code[0] & 1) << 3 | (r->s->code[1] & 7)] =
		u64_at((uint64_t)r->s->code + 2);
}

static void make_load_return(struct roller *r)
{
	r->s->regs[RCX] = u64_at(r->s->regs[RSP]);
}

static void make_compare_return(struct roller *r)
{
	compare(r, u64_at(r->s->regs[RSP]));
}

static void make_compare_literal(struct roller *r)
{
	compare(r, u64_at((uint64_t)by_distance(r)));
}

static void make_add_rdx(struct roller *r)
{
	r->s->regs[RCX] += r->s->regs[RDX];
}

static void make_not(struct roller *r)
{
	r->s->regs[RCX] = ~r->s->regs[RCX];
}

static void make_add_stack(struct roller *r)
{
	r->s->regs[RCX] += r->s->regs[RSP] + 1;
}

static void make_change_nest(struct roller *r)
{
	r->c->nest = u32_at(r->s->code + 8);
}

static void make_return_slot(struct roller *r)
{
	r->s->regs[RCX] = u64_at(r->s->regs[RSP]) & (LOW_SLOTS - 1);
}

static void make_jump_by_return(struct roller *r)
{
	const uint64_t *slots = (const uint64_t *)(uint64_t)u32_at(r->s->code + 3);

	go(r, (const uint8_t *)slots[r->s->regs[RCX]]);
}

static void make_drop(struct roller *r)
{
	r->s->regs[RSP] += 8;
}

static void make_mark(struct roller *r)
{
	r->s->regs[RDX] = (uint32_t)(r->s->regs[RCX] + u32_at(r->s->code + 2));
}

static void make_slot(struct roller *r)
{
	r->s->regs[RDX] &= LOW_SLOTS - 1;
}

static void make_jump_by_pair(struct roller *r)
{
	go(r, (const uint8_t *)low->pairs[r->s->regs[RDX]]);
}

/* What emit.h, indirect.c and link.c emit behind the point up to which a program's
 * instruction can be undone. */
static const struct form {
	unsigned char bytes[6], masks[6]; /* masks: of bits that all of the form have */
	unsigned char n, size;
	void (*make)(struct roller *r);
} forms[] = {
#define ALL 0xff
	{ { 0x65, 0x48, 0x83, 0x04, 0x25 },
	  { ALL, ALL, ALL, ALL, ALL },
	  5,
	  10,
	  make_add_one },
	{ { 0x65, 0x48, 0x89, 0x04, 0x25 },
	  { ALL, 0xfb, ALL, 0xc7, ALL },
	  5,
	  9,
	  make_spill },
	{ { 0x65, 0x48, 0x8b, 0x04, 0x25 },
	  { ALL, 0xfb, ALL, 0xc7, ALL },
	  5,
	  9,
	  make_fill },
	{ { 0x48, 0x8d, 0x40, 0x01 }, { ALL, ALL, ALL, ALL }, 4, 4, make_next_rax },
	{ { 0x90 }, { ALL }, 1, 1, make_nothing },
	{ { 0x66, 0x90 }, { ALL, ALL }, 2, 2, make_nothing },
	{ { 0x0f, 0x1f, 0x00 }, { ALL, ALL, ALL }, 3, 3, make_nothing },
	{ { 0x0f, 0x1f, 0x40 }, { ALL, ALL, ALL }, 3, 4, make_nothing },
	{ { 0x0f, 0x1f, 0x44 }, { ALL, ALL, ALL }, 3, 5, make_nothing },
	{ { 0xe9 }, { ALL }, 1, 5, make_jump },
	{ { 0xeb }, { ALL }, 1, 2, make_short_jump },
	{ { 0xe3 }, { ALL }, 1, 2, make_short_jump_if_rcx_zero },
	{ { 0x0f, 0x85 }, { ALL, ALL }, 2, 6, make_jump_unless_zero },
	{ { 0x0f, 0x83 }, { ALL, ALL }, 2, 6, make_jump_unless_below },
	{ { 0xff, 0x25, 0, 0, 0, 0 },
	  { ALL, ALL, ALL, ALL, ALL, ALL },
	  6,
	  6,
	  make_far_jump },
	{ { 0x48, 0xb8 }, { 0xfe, 0xf8 }, 2, 10, make_load_number },
	{ { 0x48, 0x8b, 0x0c, 0x24 }, { ALL, ALL, ALL, ALL }, 4, 4, make_load_return },
	{ { 0x48, 0x3b, 0x0c, 0x24 }, { ALL, ALL, ALL, ALL }, 4, 4, make_compare_return },
	{ { 0x48, 0x3b, 0x0d }, { ALL, ALL, ALL }, 3, 7, make_compare_literal },
	{ { 0x48, 0x8d, 0x0c, 0x11 }, { ALL, ALL, ALL, ALL }, 4, 4, make_add_rdx },
	{ { 0x48, 0x8d, 0x64, 0x24, 0x08 },
	  { ALL, ALL, ALL, ALL, ALL },
	  5,
	  5,
	  make_drop },
	{ { 0x65, 0x48, 0x3b, 0x24, 0x25 },
	  { ALL, ALL, ALL, ALL, ALL },
	  5,
	  9,
	  make_compare_stack },
	{ { 0x65, 0xc7, 0x04, 0x25, CONTEXT_NEST },
	  { ALL, ALL, ALL, ALL, ALL },
	  5,
	  12,
	  make_change_nest },
	{ { 0x48, 0xf7, 0xd1 }, { ALL, ALL, ALL }, 3, 3, make_not },
	{ { 0x48, 0x8d, 0x4c, 0x0c, 0x01 },
	  { ALL, ALL, ALL, ALL, ALL },
	  5,
	  5,
	  make_add_stack },
	{ { 0x0f, 0xb7, 0x0c, 0x24 }, { ALL, ALL, ALL, ALL }, 4, 4, make_return_slot },
	{ { 0xff, 0x24, 0xcd }, { ALL, ALL, ALL }, 3, 7, make_jump_by_return },
	{ { 0x8d, 0x91 }, { ALL, ALL }, 2, 6, make_mark },
	{ { 0x0f, 0xb7, 0xd2 }, { ALL, ALL, ALL }, 3, 3, make_slot },
	{ { 0xff, 0x24, 0xd5 }, { ALL, ALL, ALL }, 3, 7, make_jump_by_pair },
#undef ALL
};

static bool is_form(const struct form *f, const uint8_t *code)
{
	for (unsigned i = 0; i < f->n; i++)
		if ((code[i] & f->masks[i]) != f->bytes[i])
			return false;
	return true;
}

static const struct form *form_at(const uint8_t *code)
{
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (is_form(&forms[i], code))
			return &forms[i];
	return NULL;
}

static bool is_call(enum link_kind kind)
{
	return kind == LINK_SYSCALL || kind == LINK_INT80;
}

static bool stores_exit(const uint8_t *code)
{
	static const uint8_t store[] = { 0x65, 0xc7, 0x04, 0x25, CONTEXT_EXIT };

	return memcmp(code, store, sizeof(store)) == 0;
}

bool roll_has_left(const uint8_t *code)
{
	return stores_exit(code - EMIT_STORE_NUMBER_BYTES);
}

/* What the program does where it leaves for the engine, if that is all that is left. */
static bool is_leaving(const struct roll_state *s, struct roll_place *ret)
{
	const struct link *l;

	if (!stores_exit(s->code))
		return false;
	l = link_get(u32_at(s->code + 8));
	*ret = (struct roll_place){ l->addr, l->number };
	if (is_call(l->kind))
		ret->addr -= LINK_SYSCALL_BYTES;
	return l->kind == LINK_CODE || is_call(l->kind) || l->kind == LINK_NATIVE;
}

/* The block's counter, which is at code. */
static unsigned counter_bytes(const struct count_file_block *told, const uint8_t *code)
{
	if (!told->inside)
		return 0;
	return code[2] == 0x83 ? EMIT_ADD_ONE_BYTES : EMIT_ADD_ONE_QUIETLY_BYTES;
}

static const uint8_t *behind_nops(const uint8_t *code)
{
	while (*code == 0x90)
		code++;
	return code;
}

/* How far the block's last instruction has done nothing that could not be undone; code:
 * its translation. */
static const uint8_t *last_undoable(enum count_end end, const uint8_t *code)
{
	struct x86_op op;
	struct detour d;
	const uint8_t *branch = behind_nops(code);

	switch (end) {
	case COUNT_END_CONDITIONAL:
		return *branch == 0x0f || *branch == 0xc7 ? branch : code;
	case COUNT_END_CALL:
		return code;
	case COUNT_END_RETURN: /* with more bytes of the stack it is the engine's */
		return *code == 0x65 ? code + EMIT_SPILL_BYTES + 4 : NULL;
	case COUNT_END_JUMP_TO:
	case COUNT_END_CALL_TO:
		if (detour_read(code, &d))
			return code + d.own_off;
		x86_op_read(code + EMIT_SPILL_BYTES, &op);
		return code + EMIT_SPILL_BYTES + op.size;
	default:
		return NULL;
	}
}

static bool is_indirect(enum count_end end)
{
	return end == COUNT_END_RETURN || end == COUNT_END_JUMP_TO ||
	       end == COUNT_END_CALL_TO;
}

/* Registers that were put aside at start, where the instruction begins. */
static void undo(const struct roller *r, const uint8_t *start)
{
	detour_undo(start, r->s->code, r->c->spill, r->s->regs);
	r->s->code = start;
}

/* A program's instruction, or what one was translated to and can be undone.  The
 * program's own code may be another by now. */
static bool is_programs(const struct roller *r, struct roll_place *ret)
{
	const uint8_t *at, *code = r->s->code, *undoable;
	const struct count_file_block *told;
	unsigned n, off = 0;
	bool is_counted = false;
	struct detour d;

	ret->block = code_unit_block_at(code, &at);
	if (!ret->block)
		return false;
	told = count_output_block(ret->block);
	if (!told->n_insns)
		return false;
	n = told->n_insns - (told->end != COUNT_END_ON);
	for (unsigned i = 0; i <= n; i++) {
		struct x86_op op;

		if (!is_counted && off == told->counted_at) {
			unsigned own = counter_bytes(told, at);

			if (code >= at && code < at + own)
				return false;
			at += own;
			is_counted = true;
		}
		ret->addr = told->addr + off;
		if (i == n)
			break;
		if (code == at)
			return true;
		if (detour_read(at, &d)) {
			if (code > at && code <= at + d.own_off) {
				undo(r, at);
				return true;
			}
			at += d.bytes;
			off += d.program_bytes;
			continue;
		}
		if (!x86_op_read(at, &op))
			return false;
		at += op.size;
		off += op.size;
	}
	undoable = last_undoable((enum count_end)told->end, at);
	if (!undoable || code < at || code > undoable)
		return false;
	if (is_indirect((enum count_end)told->end))
		undo(r, at);
	r->s->code = at;
	return true;
}

const uint8_t *roll_begin(struct context *c, const uint8_t *code)
{
	struct roll_state s = { .code = code };
	struct roller r = { c, &s, 0 };
	struct roll_place place;

	return is_programs(&r, &place) ? s.code : NULL;
}

bool roll_on(struct context *c, struct roll_state *s, struct roll_place *ret)
{
	struct roller r = { c, s, 0 };

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		const struct form *f;

		if (is_programs(&r, ret) || is_leaving(s, ret))
			return true;
		f = form_at(s->code);
		if (!f)
			return false;
		r.size = f->size;
		f->make(&r);
		s->code += r.size;
	}
	return false;
}
