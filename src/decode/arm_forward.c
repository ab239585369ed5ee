/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_forward.h"

#include "decode/arm_access.h"
#include "decode/arm_alu.h"
#include "decode/arm_blur.h"
#include "decode/arm_integer.h"
#include "decode/arm_machine.h"

#define RT ARM_MACHINE_RD
#define RN ARM_MACHINE_RN

typedef forward_went_on go_fn(struct forward_walk *w, struct arm_step *s);

static uint64_t target(const struct arm_step *s, unsigned at, unsigned n)
{
	return s->addr + (uint64_t)arm_machine_offset(s, at, n) * 4;
}

static forward_went_on either_way(struct forward_walk *w, const struct arm_step *s,
				  struct known_bits is, unsigned n_bits)
{
	return forward_either_way(w, is, s->addr + 4, target(s, 5, n_bits));
}

static forward_went_on go_if(struct forward_walk *w, struct arm_step *s)
{
	return either_way(w, s, arm_machine_condition(s->m, arm_machine_field(s, 0, 4)),
			  19);
}

/* Is it as the bit 24 says, set or not? */
static struct known_bits as_said(const struct arm_step *s, bool is_set, bool is_known)
{
	bool is = is_set == (s->code >> 24 & 1);

	return (struct known_bits){ is_known && is, is_known };
}

static forward_went_on go_if_zero(struct forward_walk *w, struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s);
	struct known_bits v = arm_machine_reg(s, RT, bytes);

	return either_way(
		w, s, as_said(s, v.bits, v.bits || known_bits_is_whole(v, bytes)), 19);
}

static forward_went_on go_if_bit(struct forward_walk *w, struct arm_step *s)
{
	unsigned at = arm_machine_field(s, 19, 5) | s->code >> 31 << 5;
	struct known_bits v = arm_machine_reg(s, RT, 8);

	return either_way(w, s, as_said(s, v.bits >> at & 1, v.known >> at & 1), 14);
}

static void link_back(struct arm_step *s)
{
	s->m->regs[ARM_MACHINE_LR] = known_bits_of(s->addr + 4, 8);
}

static forward_went_on jump(struct forward_walk *w, struct arm_step *s)
{
	w->ip = target(s, 0, 26);
	return true;
}

static forward_went_on call(struct forward_walk *w, struct arm_step *s)
{
	if (w->limits->is_in_function)
		return forward_end(w, FORWARD_AT_CALL);
	link_back(s);
	return jump(w, s);
}

/* Where a register says, which of those that authenticate may be signed. */
static struct known_bits place(const struct arm_step *s)
{
	struct known_bits v = arm_machine_reg(s, RN, 8);

	return s->code & 0x800 ? arm_machine_stripped(v) : arm_machine_untagged(v);
}

static forward_went_on jump_to(struct forward_walk *w, struct arm_step *s)
{
	return forward_to(w, FORWARD_JUMP_TO, place(s));
}

static forward_went_on call_to(struct forward_walk *w, struct arm_step *s)
{
	if (w->limits->is_in_function)
		return forward_end(w, FORWARD_AT_CALL);
	if (!forward_to(w, FORWARD_CALL_TO, place(s)))
		return false;
	link_back(s);
	return true;
}

static forward_went_on go_back(struct forward_walk *w, struct arm_step *s)
{
	struct known_bits to = place(s);

	if (w->limits->is_in_function)
		return forward_end(w, FORWARD_AT_CALL);
	if (s->code & 0x800)
		to = arm_machine_stripped(s->m->regs[ARM_MACHINE_LR]);
	return forward_to(w, FORWARD_RETURN, to);
}

static forward_went_on go_to_kernel(struct forward_walk *w, struct arm_step *s)
{
	(void)s;
	return forward_end(w, FORWARD_AT_KERNEL);
}

static forward_went_on execute(struct forward_walk *w, struct arm_step *s,
			       arm_execute_fn *what)
{
	if (!what || !what(s))
		return forward_end(w, FORWARD_AT_STRANGER);
	if (s->is_access)
		forward_tell_access(w, s->accessed);
	w->ip = s->addr + 4;
	return true;
}

static forward_went_on go_on(struct forward_walk *w, struct arm_step *s)
{
	return execute(w, s, arm_blur_system);
}

static forward_went_on branch(struct forward_walk *w, struct arm_step *s)
{
	static const struct {
		uint32_t mask, bits;
		go_fn *go;
	} ways[] = {
		{ 0xff000000, 0x54000000, go_if },
		{ 0x7e000000, 0x34000000, go_if_zero },
		{ 0x7e000000, 0x36000000, go_if_bit },
		{ 0xfc000000, 0x14000000, jump },
		{ 0xfc000000, 0x94000000, call },
		{ 0xff000000, 0xd4000000, go_to_kernel },
		{ 0xff000000, 0xd5000000, go_on },
		{ 0xfffffc1f, 0xd61f0000, jump_to },
		{ 0xfffffc1f, 0xd63f0000, call_to },
		{ 0xfffffc1f, 0xd65f0000, go_back },
		/* and with authentication, by zero or another register */
		{ 0xfffff81f, 0xd61f081f, jump_to },
		{ 0xfffff800, 0xd71f0800, jump_to },
		{ 0xfffff81f, 0xd63f081f, call_to },
		{ 0xfffff800, 0xd73f0800, call_to },
		{ 0xfffffbff, 0xd65f0bff, go_back },
	};

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if ((s->code & ways[i].mask) == ways[i].bits)
			return ways[i].go(w, s);
	return forward_end(w, FORWARD_AT_STRANGER);
}

/* By the bits 25 to 28. */
static arm_execute_fn *const groups[16] = {
	[2] = arm_blur_scalable,     [4] = arm_access,
	[5] = arm_integer_register,  [6] = arm_access,
	[7] = arm_blur_vector,	     [8] = arm_integer_immediate,
	[9] = arm_integer_immediate, [12] = arm_access,
	[13] = arm_integer_register, [14] = arm_access,
	[15] = arm_blur_vector,
};

static forward_went_on step(struct forward_walk *w, void *machine)
{
	struct arm_machine *m = machine;
	uint8_t bytes[FORWARD_CODE_BYTES] = { 0 };
	unsigned n = w->source->code(w->source->ctx, w->ip, bytes);
	struct arm_step s = { .m = m, .addr = w->ip };
	unsigned group;

	if (n < 4 || w->ip % 4 || path_memory_is_changed(&m->memory, w->ip, 4))
		return forward_end(w, FORWARD_AT_CODE);
	for (unsigned i = 0; i < 4; i++)
		s.code |= (uint32_t)bytes[i] << 8 * i;
	group = arm_machine_field(&s, 25, 4);
	if ((group & ~1u) == 10)
		return branch(w, &s);
	return execute(w, &s, groups[group]);
}

void arm_forward(const struct forward_state *from, const struct forward_source *source,
		 const struct forward_limits *limits, struct forward_path *ret)
{
	struct forward_walk w = { source, limits, ret, from->ip };
	struct arm_machine m; /* room for stores need not be cleared */

	forward_load_regs(from, m.regs, ARM_MACHINE_N_REGS);
	m.flags.known = from->known_flags & ARM_FORWARD_FLAGS;
	m.flags.bits = from->flags & m.flags.known;
	path_memory_init(&m.memory, source->read, source->constant, source->ctx);
	forward_run(&w, step, &m);
	forward_save_regs(m.regs, ARM_MACHINE_N_REGS, &ret->last);
	ret->last.flags = m.flags.bits;
	ret->last.known_flags = (uint32_t)m.flags.known;
}
