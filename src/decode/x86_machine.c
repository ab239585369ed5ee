/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_machine.h"

static struct known_bits sum(struct known_bits a, struct known_bits b)
{
	static const struct known_bits none = { 0, 1 };

	return x86_alu_arithmetic(X86_ALU_ADD, a, b, none, 8).value;
}

struct known_bits x86_machine_plus(struct known_bits v, int64_t more)
{
	return sum(v, known_bits_of((uint64_t)more, 8));
}

static struct known_bits scaled_index(const struct x86_machine *m,
				      const struct x86_op *op, const uint8_t *bytes)
{
	uint8_t sib = bytes[op->modrm_off + 1];
	unsigned scale = sib >> 6;
	struct known_bits v = m->regs[(sib >> 3 & 7) | (op->rex & X86_OP_REX_X) << 2];

	return (struct known_bits){ v.bits << scale,
				    v.known << scale | ((1u << scale) - 1) };
}

static struct known_bits place_of(const struct x86_machine *m, const struct x86_op *op,
				  const uint8_t *bytes, uint64_t next)
{
	struct known_bits v = known_bits_of(0, 8);

	if (op->base != X86_OP_NO_REG)
		v = m->regs[op->base];
	else if (op->is_rip_relative)
		v = known_bits_of(next, 8);
	if (op->has_index)
		v = sum(v, scaled_index(m, op, bytes));
	v = x86_machine_plus(v, op->disp);
	if (op->is_address_32) {
		v.bits &= UINT32_MAX;
		v.known |= ~(uint64_t)UINT32_MAX;
	}
	return v;
}

struct x86_step x86_machine_step(struct x86_machine *m, const struct x86_op *op,
				 const uint8_t *bytes, uint64_t next)
{
	struct x86_step s = { .m = m, .op = op, .bytes = bytes };

	s.operand_bytes = op->is_64 ? 8 : op->has_66 && !op->is_vector ? 2 : 4;
	if (op->modrm_off && op->mod != 3) {
		s.place = place_of(m, op, bytes, next);
		if (!op->segment)
			s.addr = s.place;
	}
	return s;
}

bool x86_machine_is_evex(const struct x86_step *s)
{
	/* before a shorter prefix there is no such byte, which is none itself */
	return s->op->is_vector && s->op->modrm_off >= 5 &&
	       s->bytes[s->op->modrm_off - 5] == 0x62;
}

/* ah, ch, dh, bh */
static bool is_second_byte(const struct x86_op *op, unsigned reg, unsigned bytes)
{
	return bytes == 1 && !op->has_rex && reg >= 4 && reg < 8;
}

struct known_bits x86_machine_reg(const struct x86_step *s, unsigned reg, unsigned bytes)
{
	if (is_second_byte(s->op, reg, bytes)) {
		struct known_bits v = s->m->regs[reg - 4];

		v.bits >>= 8;
		v.known >>= 8;
		return known_bits_part(v, 1);
	}
	return known_bits_part(s->m->regs[reg], bytes);
}

static void merge(struct known_bits *reg, uint64_t mask, struct known_bits v)
{
	reg->bits = (reg->bits & ~mask) | v.bits;
	reg->known = (reg->known & ~mask) | v.known;
}

void x86_machine_set_reg(struct x86_step *s, unsigned reg, unsigned bytes,
			 struct known_bits v)
{
	struct known_bits *regs = s->m->regs;

	v = known_bits_part(v, bytes);
	if (is_second_byte(s->op, reg, bytes)) {
		v.bits <<= 8;
		v.known <<= 8;
		merge(&regs[reg - 4], 0xff00, v);
	} else if (bytes == 4) {
		regs[reg].bits = v.bits;
		regs[reg].known = v.known | ~(uint64_t)UINT32_MAX;
	} else {
		merge(&regs[reg], known_bits_mask(bytes), v);
	}
}

struct known_bits x86_machine_rm(const struct x86_step *s, unsigned bytes)
{
	if (s->op->mod == 3)
		return x86_machine_reg(s, s->op->rm, bytes);
	return path_memory_load(&s->m->memory, s->addr, bytes);
}

void x86_machine_set_rm(struct x86_step *s, unsigned bytes, struct known_bits v)
{
	if (s->op->mod == 3)
		x86_machine_set_reg(s, s->op->rm, bytes, v);
	else
		path_memory_store(&s->m->memory, s->addr, bytes, v);
}

void x86_machine_set_flags(struct x86_machine *m, struct known_bits flags,
			   uint32_t changed)
{
	merge(&m->flags, changed,
	      (struct known_bits){ flags.bits & changed, flags.known & changed });
}

void x86_machine_push(struct x86_machine *m, unsigned bytes, struct known_bits v)
{
	struct known_bits *sp = &m->regs[X86_OP_RSP];

	*sp = x86_machine_plus(*sp, -(int64_t)bytes);
	path_memory_store(&m->memory, *sp, bytes, v);
}

struct known_bits x86_machine_pop(struct x86_machine *m, unsigned bytes)
{
	struct known_bits *sp = &m->regs[X86_OP_RSP];
	struct known_bits v = path_memory_load(&m->memory, *sp, bytes);

	*sp = x86_machine_plus(*sp, bytes);
	return v;
}

/* Is any of them set? */
static struct known_bits any(struct known_bits flags, uint32_t of)
{
	if (flags.bits & of)
		return known_bits_of(1, 8);
	return (struct known_bits){ 0, ~flags.known & of ? 0 : UINT64_MAX };
}

static struct known_bits differ(struct known_bits flags, uint32_t one, uint32_t other)
{
	struct known_bits a = any(flags, one), b = any(flags, other);

	if (a.known && b.known)
		return known_bits_of(a.bits ^ b.bits, 8);
	return (struct known_bits){ 0, 0 };
}

struct known_bits x86_machine_condition(const struct x86_machine *m, unsigned code)
{
	static const uint32_t flag[] = { X86_ALU_O, X86_ALU_C,
					 X86_ALU_Z, X86_ALU_C | X86_ALU_Z,
					 X86_ALU_S, X86_ALU_P };
	struct known_bits is, is_zero;
	unsigned what = code >> 1 & 7;

	if (what < 6) {
		is = any(m->flags, flag[what]);
	} else {
		is = differ(m->flags, X86_ALU_S, X86_ALU_O);
		is_zero = any(m->flags, X86_ALU_Z);
		if (what == 7 && is_zero.bits)
			is = is_zero;
		else if (what == 7 && !is_zero.known && !is.bits)
			is.known = 0;
	}
	return (struct known_bits){ (is.bits ^ code) & is.known & 1, is.known & 1 };
}
