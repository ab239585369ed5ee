/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_forward.h"

#include "decode/x86_execute.h"
#include "decode/x86_machine.h"

struct walk {
	const struct x86_forward_source *source;
	const struct x86_forward_limits *limits;
	unsigned max_branches;
	struct x86_machine m;
	uint64_t ip;
	struct x86_forward_path *path;
};

/* How an instruction was taken: the walk goes on, or it ended for path->end. */
typedef bool went_on;

static went_on end(struct walk *w, enum x86_forward_end why)
{
	w->path->end = why;
	return false;
}

/* false: there is room for no more. */
static went_on tell(struct walk *w, enum x86_flow flow, enum x86_forward_way way,
		    uint64_t to)
{
	struct x86_forward_path *path = w->path;

	if (path->n_branches >= w->max_branches)
		return end(w, X86_FORWARD_LIMIT);
	path->branches[path->n_branches++] = (struct x86_forward_branch){
		.addr = w->ip, .to = to, .flow = (uint8_t)flow, .way = (uint8_t)way
	};
	return way == X86_FORWARD_UNKNOWN ? end(w, X86_FORWARD_AT_BRANCH) : true;
}

/* is: one bit. */
static went_on go_either_way(struct walk *w, enum x86_flow flow, struct x86_value is,
			     uint64_t next, uint64_t target)
{
	enum x86_forward_way way = !is.known ? X86_FORWARD_UNKNOWN
				   : is.bits ? X86_FORWARD_TAKEN
					     : X86_FORWARD_NOT_TAKEN;
	uint64_t to = !is.known ? 0 : is.bits ? target : next;

	if (!tell(w, flow, way, to))
		return false;
	w->ip = to;
	return true;
}

static went_on go_to(struct walk *w, enum x86_flow flow, struct x86_value to)
{
	bool is_known = x86_alu_is_known(to, 8);

	if (!tell(w, flow, is_known ? X86_FORWARD_TAKEN : X86_FORWARD_UNKNOWN,
		  is_known ? to.bits : 0))
		return false;
	w->ip = to.bits;
	return true;
}

/* loopne, loope, loop, jrcxz */
static went_on go_by_count(struct walk *w, const struct x86_op *op, uint64_t next,
			   uint64_t target)
{
	unsigned bytes = op->is_address_32 ? 4 : 8;
	struct x86_value *rcx = &w->m.regs[X86_OP_RCX], n = *rcx, is, is_zero;

	if (op->opcode != 0xe3) {
		n = x86_machine_plus(n, -1);
		if (bytes == 4) {
			n.bits &= UINT32_MAX;
			n.known |= ~(uint64_t)UINT32_MAX;
		}
		*rcx = n;
	}
	n = x86_alu_part(n, bytes);
	is = (struct x86_value){ n.bits != 0, n.bits || x86_alu_is_known(n, bytes) };
	if (op->opcode == 0xe3) {
		is.bits = (is.bits ^ 1) & is.known;
	} else if (op->opcode != 0xe2) {
		/* and what the zero flag must be */
		is_zero = x86_machine_condition(&w->m, op->opcode == 0xe1 ? 4 : 5);
		is = x86_alu_arithmetic(X86_ALU_AND, is, is_zero, is, 1).value;
		is.known &= 1;
	}
	return go_either_way(w, X86_FLOW_LOOP, is, next, target);
}

static went_on call(struct walk *w, enum x86_flow flow, struct x86_value to,
		    uint64_t next)
{
	if (w->limits->is_in_function)
		return end(w, X86_FORWARD_AT_CALL);
	if (flow == X86_FLOW_CALL_TO && !go_to(w, flow, to))
		return false;
	x86_machine_push(&w->m, 8, x86_alu_known(next, 8));
	w->ip = to.bits;
	return true;
}

static went_on go_back(struct walk *w, const struct x86_op *op)
{
	struct x86_value *sp = &w->m.regs[X86_OP_RSP];

	if (w->limits->is_in_function)
		return end(w, X86_FORWARD_AT_CALL);
	if (!go_to(w, X86_FLOW_RETURN, x86_memory_load(&w->m.memory, *sp, 8)))
		return false;
	*sp = x86_machine_plus(*sp, 8 + (op->opcode == 0xc2 ? (uint16_t)op->imm : 0));
	return true;
}

static went_on go(struct walk *w, struct x86_step *s, enum x86_flow flow, uint64_t next)
{
	const struct x86_op *op = s->op;
	uint64_t target = next + (uint64_t)op->imm;

	/* what makers of processors do not agree on */
	if (flow != X86_FLOW_ON && op->has_66 && !op->is_64)
		return end(w, X86_FORWARD_AT_STRANGER);
	switch (flow) {
	case X86_FLOW_ON:
		if (!x86_execute(s))
			return end(w, X86_FORWARD_AT_STRANGER);
		w->ip = next;
		return true;
	case X86_FLOW_CONDITIONAL:
		return go_either_way(w, flow,
				     x86_machine_condition(&w->m, op->opcode & 15), next,
				     target);
	case X86_FLOW_LOOP:
		return go_by_count(w, op, next, target);
	case X86_FLOW_JUMP:
		w->ip = target;
		return true;
	case X86_FLOW_CALL:
		return call(w, flow, x86_alu_known(target, 8), next);
	case X86_FLOW_JUMP_TO:
		return go_to(w, flow, x86_machine_rm(s, 8));
	case X86_FLOW_CALL_TO:
		return call(w, flow, x86_machine_rm(s, 8), next);
	case X86_FLOW_RETURN:
		return go_back(w, op);
	case X86_FLOW_SYSCALL:
	case X86_FLOW_INT80:
	case X86_FLOW_TRAP:
		return end(w, X86_FORWARD_AT_KERNEL);
	default:
		return end(w, X86_FORWARD_AT_STRANGER);
	}
}

static went_on step(struct walk *w)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	unsigned n = w->source->code(w->source->ctx, w->ip, bytes);
	struct x86_op op;
	struct x86_step s;

	if (!n || !x86_op_read(bytes, &op) || op.size > n ||
	    x86_memory_is_changed(&w->m.memory, w->ip, op.size))
		return end(w, X86_FORWARD_AT_CODE);
	s = x86_machine_step(&w->m, &op, bytes, w->ip + op.size);
	return go(w, &s, x86_flow_of(&op), w->ip + op.size);
}

static void begin(struct walk *w, const struct x86_forward_state *from)
{
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		w->m.regs[i] = from->known_regs >> i & 1 ? x86_alu_known(from->regs[i], 8)
							 : (struct x86_value){ 0, 0 };
	w->m.flags.known = from->known_flags & X86_MACHINE_FLAGS;
	w->m.flags.bits = from->flags & w->m.flags.known;
	x86_memory_init(&w->m.memory, w->source->read, w->source->constant,
			w->source->ctx);
	w->ip = from->ip;
}

static void finish(const struct walk *w, struct x86_forward_state *ret)
{
	ret->known_regs = 0;
	for (unsigned i = 0; i < X86_OP_N_REGS; i++) {
		bool is_known = x86_alu_is_known(w->m.regs[i], 8);

		ret->regs[i] = is_known ? w->m.regs[i].bits : 0;
		ret->known_regs |= (uint16_t)(is_known << i);
	}
	ret->flags = w->m.flags.bits;
	ret->known_flags = (uint32_t)w->m.flags.known;
	ret->ip = w->ip;
}

static unsigned at_most(unsigned n, unsigned limit)
{
	return n < limit ? n : limit;
}

void x86_forward(const struct x86_forward_state *from,
		 const struct x86_forward_source *source,
		 const struct x86_forward_limits *limits, struct x86_forward_path *ret)
{
	unsigned n_insns = at_most(limits->n_insns, X86_FORWARD_MAX_INSNS);
	struct walk w; /* room for stores need not be cleared */

	w.source = source;
	w.limits = limits;
	w.max_branches = at_most(limits->n_branches, X86_FORWARD_MAX_BRANCHES);
	w.path = ret;
	begin(&w, from);
	ret->n_insns = 0;
	ret->n_branches = 0;
	ret->end = X86_FORWARD_LIMIT;
	while (ret->n_insns < n_insns && step(&w))
		ret->n_insns++;
	finish(&w, &ret->last);
}
