/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_forward.h"

#include "decode/x86_execute.h"
#include "decode/x86_flow.h"
#include "decode/x86_machine.h"

/* loopne, loope, loop, jrcxz */
static forward_went_on go_by_count(struct forward_walk *w, struct x86_step *s,
				   uint64_t next, uint64_t target)
{
	const struct x86_op *op = s->op;
	unsigned bytes = op->is_address_32 ? 4 : 8;
	struct known_bits *rcx = &s->m->regs[X86_OP_RCX], n = *rcx, is, is_zero;

	if (op->opcode != 0xe3) {
		n = x86_machine_plus(n, -1);
		if (bytes == 4) {
			n.bits &= UINT32_MAX;
			n.known |= ~(uint64_t)UINT32_MAX;
		}
		*rcx = n;
	}
	n = known_bits_part(n, bytes);
	is = (struct known_bits){ n.bits != 0, n.bits || known_bits_is_whole(n, bytes) };
	if (op->opcode == 0xe3) {
		is.bits = (is.bits ^ 1) & is.known;
	} else if (op->opcode != 0xe2) {
		/* and what the zero flag must be */
		is_zero = x86_machine_condition(s->m, op->opcode == 0xe1 ? 4 : 5);
		is = x86_alu_arithmetic(X86_ALU_AND, is, is_zero, is, 1).value;
		is.known &= 1;
	}
	return forward_either_way(w, is, next, target);
}

static forward_went_on call(struct forward_walk *w, struct x86_machine *m,
			    struct known_bits to, uint64_t next)
{
	if (w->limits->is_in_function)
		return forward_end(w, FORWARD_AT_CALL);
	x86_machine_push(m, 8, known_bits_of(next, 8));
	w->ip = to.bits;
	return true;
}

static forward_went_on call_to(struct forward_walk *w, struct x86_step *s, uint64_t next)
{
	struct known_bits to = x86_machine_rm(s, 8);

	if (!w->limits->is_in_function && !forward_to(w, FORWARD_CALL_TO, to))
		return false;
	return call(w, s->m, to, next);
}

static forward_went_on go_back(struct forward_walk *w, struct x86_step *s)
{
	const struct x86_op *op = s->op;
	struct known_bits *sp = &s->m->regs[X86_OP_RSP];

	if (w->limits->is_in_function)
		return forward_end(w, FORWARD_AT_CALL);
	if (!forward_to(w, FORWARD_RETURN, path_memory_load(&s->m->memory, *sp, 8)))
		return false;
	*sp = x86_machine_plus(*sp, 8 + (op->opcode == 0xc2 ? (uint16_t)op->imm : 0));
	return true;
}

/* Operands that look like memory and are not accessed, or elsewhere. */
static const struct {
	uint8_t map, first, last;
	bool is_vector;
} no_accesses[] = {
	{ X86_OP_ONE, 0x8d, 0x8d, false }, /* lea */
	{ X86_OP_0F, 0x0d, 0x0d, false },  /* prefetches, and what does nothing */
	{ X86_OP_0F, 0x18, 0x1f, false },  /* the same */
	{ X86_OP_0F, 0xae, 0xae, false },  /* fences, and states of the CPU */
	{ X86_OP_0F38, 0x90, 0x93, true }, /* gathers: the index is a vector */
	{ X86_OP_0F38, 0xa0, 0xa3, true }, /* scatters */
	{ X86_OP_0F38, 0xc6, 0xc7, true }, /* prefetches of these */
};

/* Of its own frame nothing is told, but of tables there: it is where others were right
 * before. */
static bool tells_access(const struct x86_step *s)
{
	const struct x86_op *op = s->op;

	if (!op->modrm_off || op->mod == 3 || op->segment ||
	    (op->base == X86_OP_RSP && !op->has_index))
		return false;
	for (unsigned i = 0; i < sizeof(no_accesses) / sizeof(no_accesses[0]); i++)
		if (op->map == no_accesses[i].map &&
		    op->is_vector == no_accesses[i].is_vector &&
		    op->opcode >= no_accesses[i].first &&
		    op->opcode <= no_accesses[i].last)
			return false;
	return true;
}

static void tell_access(struct forward_walk *w, const struct x86_step *s)
{
	/* the displacement counts in vectors */
	bool is_scaled = s->op->mod == 1 && x86_machine_is_evex(s);

	forward_tell_access(w, is_scaled ? (struct known_bits){ 0, 0 } : s->addr);
}

static forward_went_on go(struct forward_walk *w, struct x86_step *s, enum x86_flow flow,
			  uint64_t next)
{
	const struct x86_op *op = s->op;
	uint64_t target = next + (uint64_t)op->imm;

	/* what makers of processors do not agree on */
	if (flow != X86_FLOW_ON && op->has_66 && !op->is_64)
		return forward_end(w, FORWARD_AT_STRANGER);
	switch (flow) {
	case X86_FLOW_ON:
		if (!x86_execute(s))
			return forward_end(w, FORWARD_AT_STRANGER);
		w->ip = next;
		return true;
	case X86_FLOW_CONDITIONAL:
		return forward_either_way(w, x86_machine_condition(s->m, op->opcode & 15),
					  next, target);
	case X86_FLOW_LOOP:
		return go_by_count(w, s, next, target);
	case X86_FLOW_JUMP:
		w->ip = target;
		return true;
	case X86_FLOW_CALL:
		return call(w, s->m, known_bits_of(target, 8), next);
	case X86_FLOW_JUMP_TO:
		return forward_to(w, FORWARD_JUMP_TO, x86_machine_rm(s, 8));
	case X86_FLOW_CALL_TO:
		return call_to(w, s, next);
	case X86_FLOW_RETURN:
		return go_back(w, s);
	case X86_FLOW_SYSCALL:
	case X86_FLOW_INT80:
	case X86_FLOW_TRAP:
		return forward_end(w, FORWARD_AT_KERNEL);
	default:
		return forward_end(w, FORWARD_AT_STRANGER);
	}
}

static forward_went_on step(struct forward_walk *w, void *machine)
{
	struct x86_machine *m = machine;
	uint8_t bytes[FORWARD_CODE_BYTES] = { 0 };
	unsigned n = w->source->code(w->source->ctx, w->ip, bytes);
	struct x86_op op;
	struct x86_step s;

	if (!n || !x86_op_read(bytes, &op) || op.size > n ||
	    path_memory_is_changed(&m->memory, w->ip, op.size))
		return forward_end(w, FORWARD_AT_CODE);
	s = x86_machine_step(m, &op, bytes, w->ip + op.size);
	if (tells_access(&s))
		tell_access(w, &s);
	return go(w, &s, x86_flow_of(&op), w->ip + op.size);
}

void x86_forward(const struct forward_state *from, const struct forward_source *source,
		 const struct forward_limits *limits, struct forward_path *ret)
{
	struct forward_walk w = { source, limits, ret, from->ip };
	struct x86_machine m; /* room for stores need not be cleared */

	forward_load_regs(from, m.regs, X86_OP_N_REGS);
	m.flags.known = from->known_flags & X86_MACHINE_FLAGS;
	m.flags.bits = from->flags & m.flags.known;
	path_memory_init(&m.memory, source->read, source->constant, source->ctx);
	forward_run(&w, step, &m);
	forward_save_regs(m.regs, X86_OP_N_REGS, &ret->last);
	ret->last.flags = m.flags.bits;
	ret->last.known_flags = (uint32_t)m.flags.known;
}
