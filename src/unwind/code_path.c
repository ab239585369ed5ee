/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_path.h"

#include <string.h>

#include "decode/x86_flow.h"
#include "decode/x86_op.h"
#include "decode/x86_writes.h"
#include "unwind/abi.h"

#define N_STORES   6
#define N_BRANCHES 16
#define N_VISITED  96
#define N_RETS	   3 /* are looked at, when there are so many */
#define WINDOW	   64

#define RSP X86_OP_RSP
#define RBP X86_OP_RBP
struct store {
	struct code_path_value addr, value;
};

/* Registers by the instruction set's number, and what was pushed or saved on the way. */
struct state {
	uint64_t pc;
	struct code_path_value regs[X86_OP_N_REGS];
	struct store stores[N_STORES];
	uint8_t n_stores;
	bool is_after_call;
};

struct visit {
	uint64_t pc;
	struct code_path_value sp;
};

struct search {
	const struct code_path_input *in;
	struct state now;
	struct state later[N_BRANCHES];
	unsigned n_later;
	struct visit visited[N_VISITED];
	unsigned n_visited, n_steps, n_rets;
	uint64_t window_addr;
	unsigned window_size;
	uint8_t window[WINDOW];
	bool is_refuted;
};

/* How the instruction leaves the path. */
enum way { ON, DEAD, RETURNED };

/* The stack pointer once it was aligned: what is saved relative to it is found again. */
#define ALIGNED 0xfe

static const struct code_path_value unknown = { .reg = CODE_PATH_UNKNOWN };

static uint8_t dwarf_number(unsigned reg)
{
	static const uint8_t low[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return reg < 8 ? low[reg] : (uint8_t)reg;
}

static bool is_known(struct code_path_value v)
{
	return v.reg != CODE_PATH_UNKNOWN;
}

static bool are_equal(struct code_path_value a, struct code_path_value b)
{
	if (a.reg != b.reg || a.n_loads != b.n_loads)
		return false;
	for (unsigned i = 0; i <= a.n_loads; i++)
		if (a.add[i] != b.add[i])
			return false;
	return true;
}

static struct code_path_value plus(struct code_path_value v, int64_t n)
{
	int64_t sum;

	if (!is_known(v))
		return v;
	sum = v.add[v.n_loads] + n;
	if (sum != (int32_t)sum)
		return unknown;
	v.add[v.n_loads] = (int32_t)sum;
	return v;
}

static struct code_path_value load(const struct state *s, struct code_path_value addr)
{
	if (!is_known(addr))
		return unknown;
	for (unsigned i = s->n_stores; i-- > 0;)
		if (are_equal(s->stores[i].addr, addr))
			return s->stores[i].value;
	if (addr.n_loads == CODE_PATH_LOADS_MAX)
		return unknown;
	addr.add[++addr.n_loads] = 0;
	return addr;
}

/* What is stored elsewhere than at a known address cannot be what the way back needs, or
 * the function would not find it. */
static void store(struct state *s, struct code_path_value addr,
		  struct code_path_value value)
{
	if (!is_known(addr))
		return;
	for (unsigned i = 0; i < s->n_stores; i++)
		if (are_equal(s->stores[i].addr, addr)) {
			s->stores[i].value = value;
			return;
		}
	if (s->n_stores == N_STORES) {
		memmove(s->stores, s->stores + 1, sizeof(s->stores) - sizeof(*s->stores));
		s->n_stores--;
	}
	s->stores[s->n_stores++] = (struct store){ addr, value };
}

static void push(struct state *s, struct code_path_value v)
{
	s->regs[RSP] = plus(s->regs[RSP], -8);
	store(s, s->regs[RSP], v);
}

static struct code_path_value pop(struct state *s)
{
	struct code_path_value v = load(s, s->regs[RSP]);

	s->regs[RSP] = plus(s->regs[RSP], 8);
	return v;
}

static struct code_path_value address(const struct state *s, const struct x86_op *op)
{
	if (op->mod == 3 || op->base == X86_OP_NO_REG || op->has_index ||
	    op->has_odd_address)
		return unknown;
	return plus(s->regs[op->base], op->disp);
}

static void forget(struct state *s, uint16_t regs)
{
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		if (regs >> i & 1)
			s->regs[i] = unknown;
}

/* add and sub of a number, and how a stack pointer is aligned. */
static bool add_number(struct state *s, const struct x86_op *op)
{
	enum { ADD = 0, AND = 4, SUB = 5 } what = op->reg & 7;
	struct code_path_value *v = &s->regs[op->rm];

	if ((op->opcode != 0x81 && op->opcode != 0x83) || op->mod != 3)
		return false;
	if (what == ADD || what == SUB)
		*v = plus(*v, what == SUB ? -op->imm : op->imm);
	else if (what == AND && op->rm == RSP && v->reg < X86_OP_N_REGS)
		*v = (struct code_path_value){ .reg = ALIGNED };
	else
		return false;
	return true;
}

/* Between registers and memory, 64 bits at a time. */
static bool copy(struct state *s, const struct x86_op *op)
{
	if (op->opcode == 0x8d) {
		s->regs[op->reg] = address(s, op);
	} else if (op->opcode == 0x8b) {
		s->regs[op->reg] =
			op->mod == 3 ? s->regs[op->rm] : load(s, address(s, op));
	} else if (op->opcode == 0x89 && op->mod == 3) {
		s->regs[op->rm] = s->regs[op->reg];
	} else if (op->opcode == 0x89) {
		store(s, address(s, op), s->regs[op->reg]);
	} else {
		return false;
	}
	return true;
}

/* What moves the stack pointer by itself. */
static bool use_stack(struct state *s, const struct x86_op *op)
{
	bool is_push_group = op->opcode == 0xff && (op->reg & 7) == 6;

	if (op->has_66)
		return false; /* of two bytes */
	if ((op->opcode & 0xf8) == 0x50) {
		push(s, s->regs[op->rm]);
	} else if ((op->opcode & 0xf8) == 0x58) {
		struct code_path_value v = pop(s);

		s->regs[op->rm] = v;
	} else if (op->opcode == 0x68 || op->opcode == 0x6a || op->opcode == 0x9c ||
		   is_push_group) {
		push(s, unknown);
	} else if (op->opcode == 0x8f && op->mod != 3) {
		pop(s);
	} else if (op->opcode == 0x9d) {
		pop(s);
	} else if (op->opcode == 0xc9) { /* leave */
		s->regs[RSP] = s->regs[RBP];
		s->regs[RBP] = pop(s);
	} else {
		return false;
	}
	return true;
}

static void run(struct state *s, const struct x86_op *op)
{
	bool is_one = op->map == X86_OP_ONE && !op->is_vector;

	if (is_one && use_stack(s, op))
		return;
	if (is_one && op->is_64 && (copy(s, op) || add_number(s, op)))
		return;
	if (is_one && (op->opcode & 0xfe) == 0xc6)
		store(s, address(s, op), unknown);
	forget(s, x86_writes(op));
}

/* Code fills up what lies behind a call that does not come back. */
static bool is_filler(const struct x86_op *op)
{
	if (op->map == X86_OP_0F)
		return op->opcode == 0x0b || op->opcode == 0x1f;
	return op->map == X86_OP_ONE && (op->opcode == 0x90 || op->opcode == 0xcc);
}

/* False: this is known already. */
static bool visit(struct search *q)
{
	struct code_path_value sp = q->now.regs[RSP];

	for (unsigned i = 0; i < q->n_visited; i++)
		if (q->visited[i].pc == q->now.pc) {
			q->is_refuted |= !are_equal(q->visited[i].sp, sp);
			return false;
		}
	if (q->n_visited == N_VISITED)
		return false;
	q->visited[q->n_visited++] = (struct visit){ q->now.pc, sp };
	return true;
}

static enum way branch(struct search *q, uint64_t target, bool is_conditional)
{
	if (is_conditional) {
		if (q->n_later < N_BRANCHES && q->n_later < q->in->branches_max) {
			q->later[q->n_later] = q->now;
			q->later[q->n_later++].pc = target;
		}
	} else if (q->in->branches_max) {
		q->now.pc = target;
	} else {
		return DEAD;
	}
	return visit(q) ? ON : DEAD;
}

static enum way call(struct search *q, const struct x86_op *op)
{
	if (op->opcode == 0xe8 && op->imm == 0)
		return DEAD; /* to have the address of what follows */
	/* code written by hand calls what spares the registers that it goes on to use */
	forget(&q->now, 1u << X86_OP_RAX);
	q->now.is_after_call = true;
	return ON;
}

/* now.pc is behind the instruction. */
static enum way control(struct search *q, const struct x86_op *op)
{
	uint64_t target = q->now.pc + (uint64_t)op->imm;

	switch (x86_flow_of(op)) {
	case X86_FLOW_CONDITIONAL:
	case X86_FLOW_LOOP:
		return branch(q, target, true);
	case X86_FLOW_JUMP:
		return branch(q, target, false);
	case X86_FLOW_CALL:
	case X86_FLOW_CALL_TO:
		return call(q, op);
	case X86_FLOW_RETURN:
		return RETURNED;
	case X86_FLOW_ON:
	case X86_FLOW_TRANSACTION:
	case X86_FLOW_SYSCALL:
		return ON;
	default:
		return DEAD;
	}
}

/* The bytes at now.pc, X86_OP_MAX_BYTES of them. */
static const uint8_t *code_at(struct search *q)
{
	uint64_t at = q->now.pc - q->window_addr, word;

	if (at < WINDOW && q->window_size >= at + X86_OP_MAX_BYTES)
		return q->window + at;
	q->window_addr = q->now.pc;
	q->window_size = 0;
	memset(q->window, 0, sizeof(q->window));
	while (q->window_size < WINDOW &&
	       q->in->read(q->in->ctx, q->window_addr + q->window_size, &word)) {
		memcpy(q->window + q->window_size, &word, 8);
		q->window_size += 8;
	}
	return q->window_size > X86_OP_MAX_BYTES ? q->window : NULL;
}

static enum way step(struct search *q, uint16_t *popped)
{
	const uint8_t *bytes = code_at(q);
	bool is_after_call = q->now.is_after_call;
	struct x86_op op;
	enum way way;

	if (!bytes || !x86_op_read(bytes, &op) || (is_after_call && is_filler(&op)))
		return DEAD;
	q->now.is_after_call = false;
	q->now.pc += op.size;
	way = control(q, &op);
	if (way == ON)
		run(&q->now, &op);
	*popped = op.opcode == 0xc2 ? (uint16_t)op.imm : 0;
	return way;
}

/* Another way to where a first one led: what they leave different is not known. */
static bool merge(struct code_path *path, const struct state *s, uint16_t popped)
{
	if (path->popped_bytes != popped || !are_equal(path->sp, s->regs[RSP]))
		return false;
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		if (!are_equal(path->regs[dwarf_number(i)], s->regs[i]))
			path->regs[dwarf_number(i)] = unknown;
	return true;
}

static void take_return(struct search *q, uint16_t popped, struct code_paths *ret)
{
	const struct state *s = &q->now;
	struct code_path *path;

	if (s->regs[RSP].reg >= X86_OP_N_REGS)
		return; /* it is not known */
	q->n_rets++;
	for (unsigned i = 0; i < ret->n; i++)
		if (merge(&ret->at[i], s, popped))
			return;
	path = &ret->at[ret->n++];
	path->sp = s->regs[RSP];
	path->popped_bytes = popped;
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		path->regs[dwarf_number(i)] = s->regs[i];
}

static void follow(struct search *q, struct code_paths *ret)
{
	enum way way = ON;
	uint16_t popped = 0;

	while (way == ON && q->n_steps++ < q->in->steps_max && !q->is_refuted)
		way = step(q, &popped);
	if (way == RETURNED)
		take_return(q, popped, ret);
}

static void begin(struct search *q, const struct code_path_input *in)
{
	/* no initialiser: most of it is large and not looked at before it is written */
	q->in = in;
	q->n_later = q->n_visited = q->n_steps = q->n_rets = q->window_size = 0;
	q->is_refuted = false;
	q->now.pc = in->pc;
	q->now.n_stores = 0;
	q->now.is_after_call = false;
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		q->now.regs[i] = (struct code_path_value){ .reg = dwarf_number(i) };
}

bool code_path_find(const struct code_path_input *in, struct code_paths *ret)
{
	struct search q;

	_Static_assert(N_RETS <= CODE_PATH_MAX, "each may be another");
	ret->n = 0;

	begin(&q, in);
	follow(&q, ret);
	while (q.n_later && q.n_rets < N_RETS && !q.is_refuted) {
		q.now = q.later[--q.n_later];
		if (visit(&q))
			follow(&q, ret);
	}
	return ret->n && !q.is_refuted;
}

/* Returns 0, or the address that could not be read; *ret_known is false for a value that
 * is not known.  also: bits in `valid` that will do. */
static uint64_t evaluate(struct code_path_value v, const struct unwind_regs *g,
			 uint64_t also, const struct stack_memory *m, bool *ret_known,
			 uint64_t *ret)
{
	uint64_t value;

	*ret_known = v.reg < X86_OP_N_REGS && (g->valid & (abi_bit(v.reg) | also));
	if (!*ret_known)
		return 0;
	value = g->r[v.reg] + (uint64_t)(int64_t)v.add[0];
	for (unsigned i = 1; i <= v.n_loads; i++) {
		uint64_t addr = value;

		*ret_known = stack_memory_word(m, addr, &value);
		if (!*ret_known)
			return addr;
		value += (uint64_t)(int64_t)v.add[i];
	}
	*ret = value;
	return 0;
}

/* What a call may destroy is presumed only: a loop that was left at once on the way may
 * have changed it, too. */
static void give_registers(const struct code_path *path, const struct unwind_regs *g,
			   const struct stack_memory *m, struct unwind_regs *next)
{
	for (unsigned i = 0; i < X86_OP_N_REGS; i++) {
		bool is_saved = abi_x86_64.callee_saved & abi_bit(i), is_known;
		uint64_t also = is_saved ? 0 : UNWIND_PRESUMED(path->regs[i].reg & 15);

		evaluate(path->regs[i], g, also, m, &is_known, &next->r[i]);
		if (is_known)
			next->valid |= is_saved ? abi_bit(i) : UNWIND_PRESUMED(i);
	}
}

enum step_result code_path_step(const struct code_path *path, struct unwind_regs *g,
				const struct stack_memory *m, struct step *s)
{
	struct unwind_regs next = { .arch = g->arch };
	uint64_t sp, pc, old = g->r[UNWIND_X86_64_RSP];
	bool is_known;
	uint64_t fault = evaluate(path->sp, g, UNWIND_PRESUMED(path->sp.reg & 15), m,
				  &is_known, &sp);

	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	if (fault)
		return step_fault(s, fault);
	if (!is_known || sp < old || (sp & 7))
		return step_stop(s, UNWIND_NO_TABLE);
	if (!stack_memory_word(m, sp, &pc))
		return step_fault(s, sp);
	give_registers(path, g, m, &next);
	next.valid &= ~UNWIND_PRESUMED(UNWIND_X86_64_RSP);
	next.valid |= abi_bit(UNWIND_X86_64_RSP) | abi_bit(UNWIND_X86_64_PC);
	next.r[UNWIND_X86_64_RSP] = sp + 8 + path->popped_bytes;
	next.r[UNWIND_X86_64_PC] = pc;
	*g = next;
	return STEP_RETURN;
}
