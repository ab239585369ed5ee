/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_machine.h"

#include "decode/arm_alu.h"

bool arm_machine_apply(const struct arm_rule *rules, size_t n, struct arm_step *s)
{
	for (size_t i = 0; i < n; i++)
		if ((s->code & rules[i].mask) == rules[i].bits)
			return rules[i].execute && rules[i].execute(s);
	return false;
}

unsigned arm_machine_bytes(const struct arm_step *s)
{
	return s->code >> 31 ? 8 : 4;
}

struct known_bits arm_machine_reg(const struct arm_step *s, unsigned at, unsigned bytes)
{
	if (arm_machine_field(s, at, 5) == ARM_MACHINE_SP)
		return known_bits_of(0, bytes);
	return arm_machine_reg_or_sp(s, at, bytes);
}

struct known_bits arm_machine_reg_or_sp(const struct arm_step *s, unsigned at,
					unsigned bytes)
{
	return known_bits_part(s->m->regs[arm_machine_field(s, at, 5)], bytes);
}

void arm_machine_set_reg(struct arm_step *s, unsigned at, unsigned bytes,
			 struct known_bits v)
{
	if (arm_machine_field(s, at, 5) != ARM_MACHINE_SP)
		arm_machine_set_reg_or_sp(s, at, bytes, v);
}

void arm_machine_set_reg_or_sp(struct arm_step *s, unsigned at, unsigned bytes,
			       struct known_bits v)
{
	v = known_bits_part(v, bytes);
	v.known |= ~known_bits_mask(bytes);
	s->m->regs[arm_machine_field(s, at, 5)] = v;
}

/* Those with bit 55 are the kernel's, and have none. */
struct known_bits arm_machine_untagged(struct known_bits addr)
{
	if (addr.bits >> 55 & 1)
		return addr;
	return (struct known_bits){ known_bits_signed(addr.bits, 7),
				    known_bits_signed(addr.known, 7) };
}

struct known_bits arm_machine_load(const struct arm_machine *m, struct known_bits addr,
				   unsigned bytes)
{
	return path_memory_load(&m->memory, arm_machine_untagged(addr), bytes);
}

void arm_machine_store(struct arm_machine *m, struct known_bits addr, unsigned bytes,
		       struct known_bits v)
{
	path_memory_store(&m->memory, arm_machine_untagged(addr), bytes, v);
}

void arm_machine_spoil(struct arm_machine *m, struct known_bits addr, unsigned bytes)
{
	path_memory_spoil(&m->memory, arm_machine_untagged(addr), bytes);
}

struct known_bits arm_machine_plus(struct known_bits v, int64_t more)
{
	return arm_alu_add(v, known_bits_of((uint64_t)more, 8), known_bits_of(0, 1), 8)
		.value;
}

/* Is it set? */
static struct known_bits flag(const struct arm_machine *m, uint32_t which)
{
	return (struct known_bits){ (m->flags.bits & which) != 0,
				    (m->flags.known & which) != 0 };
}

static struct known_bits differ(struct known_bits a, struct known_bits b)
{
	return (struct known_bits){ (a.bits ^ b.bits) & a.known & b.known,
				    a.known & b.known };
}

static struct known_bits neither(struct known_bits a, struct known_bits b)
{
	if (a.bits | b.bits)
		return (struct known_bits){ 0, 1 };
	return (struct known_bits){ a.known & b.known, a.known & b.known };
}

struct known_bits arm_machine_carry(const struct arm_machine *m)
{
	return flag(m, ARM_ALU_C);
}

struct known_bits arm_machine_condition(const struct arm_machine *m, unsigned code)
{
	static const uint32_t simple[] = { ARM_ALU_Z, ARM_ALU_C, ARM_ALU_N, ARM_ALU_V };
	struct known_bits none = { 0, 1 }, zero = flag(m, ARM_ALU_Z), is;
	struct known_bits less = differ(flag(m, ARM_ALU_N), flag(m, ARM_ALU_V));
	unsigned what = code >> 1 & 7;

	if (what == 7)
		return (struct known_bits){ 1, 1 };
	if (what < 4)
		is = flag(m, simple[what]);
	else if (what == 4)
		is = neither(differ(flag(m, ARM_ALU_C), (struct known_bits){ 1, 1 }),
			     zero);
	else
		is = neither(less, what == 6 ? zero : none);
	return (struct known_bits){ (is.bits ^ code) & is.known & 1, is.known & 1 };
}

/* Addresses of programs have 48 bits, unless they ask for more, and bit 55 clear. */
struct known_bits arm_machine_signed(struct known_bits addr)
{
	addr = known_bits_part(addr, 6);
	addr.known |= UINT64_C(1) << 55;
	return addr;
}

struct known_bits arm_machine_stripped(struct known_bits addr)
{
	addr = known_bits_part(addr, 6);
	addr.known |= ~known_bits_mask(6);
	return addr;
}
