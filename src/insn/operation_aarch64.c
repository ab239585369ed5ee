/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation_aarch64.h"

#include "insn/operation_aarch64_table.h"

#define SP	 31 /* where it is one */
#define NONE	 31 /* elsewhere */
#define LINK	 30
#define USE(use) (uses & OPERATION_AARCH64_##use)

static uint32_t field(uint32_t w, unsigned from, unsigned n)
{
	return w >> from & ((1u << n) - 1);
}

static int64_t signed_field(uint32_t w, unsigned from, unsigned n)
{
	return (int64_t)((uint64_t)field(w, from, n) << (64 - n)) >> (64 - n);
}

static operation_registers general(uint32_t n)
{
	return n == NONE ? 0 : operation_register_bit(n);
}

static operation_registers general_or_sp(uint32_t n)
{
	return operation_register_bit(n);
}

static operation_registers vector(uint32_t n)
{
	return operation_register_bit(OPERATION_REG_VECTOR + n % 32);
}

/* Of products with an element of 16 bits one bit more says which. */
static operation_registers vector_m(uint32_t w)
{
	bool is_element = (w & 0x0f000400) == 0x0f000000 && field(w, 22, 2) == 1;

	return vector(is_element ? field(w, 16, 4) : field(w, 16, 5));
}

/* Vectors whose places are beside each other in memory: ld1 to ld4. */
static unsigned list_length(uint32_t w)
{
	static const uint8_t of_many[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2
	};
	bool is_one_element = field(w, 24, 1);

	if (is_one_element)
		return (field(w, 13, 1) << 1 | field(w, 21, 1)) + 1;
	return of_many[field(w, 12, 4)] ? of_many[field(w, 12, 4)] : 1;
}

/* Registers that are used as d is. */
static operation_registers all_d(uint32_t w, uint32_t uses, bool is_vector)
{
	operation_registers set = is_vector ? vector(w & 31) : general(w & 31);
	unsigned n = USE(LIST) ? list_length(w) : 1;

	for (unsigned i = 1; i < n; i++)
		set |= vector((w & 31) + i);
	if (USE(PAIR))
		set |= is_vector ? vector(field(w, 10, 5)) : general(field(w, 10, 5));
	return set;
}

static operation_registers flags(void)
{
	return operation_register_bit(OPERATION_REG_FLAGS);
}

static operation_registers all_read(uint32_t w, uint32_t uses)
{
	uint32_t n = field(w, 5, 5), m = field(w, 16, 5), a = field(w, 10, 5);
	operation_registers set = 0;

	set |= USE(D_READ) ? all_d(w, uses, false) : 0;
	set |= USE(D_VECTOR_READ) ? all_d(w, uses, true) : 0;
	set |= USE(N_READ) ? general(n) : 0;
	set |= USE(N_OR_SP_READ) ? general_or_sp(n) : 0;
	set |= USE(N_VECTOR_READ) ? vector(n) : 0;
	set |= USE(M_READ) ? general(m) : 0;
	set |= USE(M_VECTOR_READ) ? vector_m(w) : 0;
	set |= USE(A_READ) ? general(a) : 0;
	set |= USE(A_VECTOR_READ) ? vector(a) : 0;
	return set | (USE(FLAGS_READ) ? flags() : 0);
}

static operation_registers all_written(uint32_t w, uint32_t uses)
{
	operation_registers set = 0;

	set |= USE(D_WRITTEN) ? all_d(w, uses, false) : 0;
	set |= USE(D_OR_SP_WRITTEN) ? general_or_sp(w & 31) : 0;
	set |= USE(D_VECTOR_WRITTEN) ? all_d(w, uses, true) : 0;
	set |= USE(M_WRITTEN) ? general(field(w, 16, 5)) : 0;
	set |= USE(LINK_WRITTEN) ? general(LINK) : 0;
	return set | (USE(FLAGS_WRITTEN) ? flags() : 0);
}

/* Memory. */

static bool has_vectors(uint32_t uses)
{
	return USE(D_VECTOR_READ) || USE(D_VECTOR_WRITTEN);
}

/* Of all elements of a register, or of one: that is loaded into all of them, or into the
 * one that it is stored from. */
static unsigned list_bytes(uint32_t w)
{
	bool is_one_element = field(w, 24, 1);
	unsigned scale = field(w, 14, 2);

	if (!is_one_element)
		return 8u << field(w, 30, 1);
	if (scale == 3)
		return 1u << field(w, 10, 2);
	return scale == 2 && field(w, 10, 1) ? 8 : 1u << scale;
}

/* Bytes of one register that is loaded or stored. */
static unsigned operand_bytes(uint32_t w, uint32_t uses)
{
	unsigned size = field(w, 30, 2);

	if ((USE(OFF_LITERAL) || USE(PAIR)) && has_vectors(uses))
		return 4u << size;
	if (USE(OFF_LITERAL))
		return size == 1 ? 8 : 4;
	if (USE(PAIR))
		return size & 2 ? 8 : 4;
	if (USE(LIST))
		return list_bytes(w);
	if (has_vectors(uses) && field(w, 27, 3) == 7)
		size |= field(w, 23, 1) << 2;
	return 1u << (size > 4 ? 4 : size);
}

static int64_t offset_of(uint32_t w, uint32_t uses, unsigned bytes, uint64_t address)
{
	if (USE(OFF_12))
		return (int64_t)field(w, 10, 12) * bytes;
	if (USE(OFF_9))
		return signed_field(w, 12, 9);
	if (USE(OFF_7))
		return signed_field(w, 15, 7) * bytes;
	return USE(OFF_LITERAL) ? (int64_t)address + signed_field(w, 5, 19) * 4 : 0;
}

static void move_base(uint32_t w, uint32_t uses, int64_t offset, struct operation *o)
{
	bool is_by_register = USE(LIST) && field(w, 16, 5) != NONE;

	o->moves_base = true;
	o->writes |= general_or_sp(o->base);
	if (USE(MOVES_BEHIND))
		o->disp = 0;
	if (is_by_register) {
		o->reads |= general(field(w, 16, 5));
		return;
	}
	o->from = o->to = o->base;
	o->offset = USE(LIST) ? o->width : offset;
}

static void take_memory(uint32_t w, uint32_t uses, uint64_t address, struct operation *o)
{
	unsigned bytes = operand_bytes(w, uses);

	o->has_memory = true;
	o->loads = USE(LOADS);
	o->stores = USE(STORES);
	o->is_ip_relative = USE(OFF_LITERAL);
	o->width = (uint8_t)(bytes * (USE(PAIR) ? 2 : USE(LIST) ? list_length(w) : 1));
	o->disp = offset_of(w, uses, bytes, address);
	if (USE(N_BASE)) {
		o->base = (uint8_t)field(w, 5, 5);
		o->address |= general_or_sp(o->base);
	}
	if (USE(M_INDEX) && field(w, 16, 5) != NONE) {
		o->index = (uint8_t)field(w, 16, 5);
		o->address |= general(o->index);
		o->scale = (uint8_t)(field(w, 12, 1) ? bytes : 1);
	}
	o->is_in_frame = o->base == SP && o->index == OPERATION_NO_REG;
	if (USE(MOVES_BEFORE) || USE(MOVES_BEHIND))
		move_base(w, uses, o->disp, o);
}

/* The rest. */

/* The sum of a register and a constant, so that addresses are known to be the same. */
static void find_sum(uint32_t w, struct operation *o)
{
	int64_t n = (int64_t)field(w, 10, 12) << 12 * field(w, 22, 1);

	if (!(w >> 31))
		return;
	if (o->class == OPERATION_MOVE) {
		if (field(w, 16, 5) == NONE || (w & 31) == NONE)
			return;
		o->from = (uint8_t)field(w, 16, 5);
	} else {
		o->from = (uint8_t)field(w, 5, 5);
		o->offset = field(w, 30, 1) ? -n : n;
	}
	o->to = (uint8_t)(w & 31);
}

static bool is_vector_code(uint32_t w)
{
	return field(w, 25, 3) == 7;
}

/* One number of a register, as bit 28 says of vectors' instructions. */
static bool is_scalar(uint32_t w, unsigned class)
{
	return is_vector_code(w) && field(w, 28, 1) && class >= OPERATION_FP_ADD &&
	       class <= OPERATION_CONVERT_FROM_GENERAL;
}

static uint8_t width_of(uint32_t w)
{
	if ((w & 0x1e000000) == 0x04000000)
		return 32; /* SVE: of how many bits is the machine's */
	if (is_vector_code(w) && !field(w, 28, 1))
		return field(w, 30, 1) ? 16 : 8;
	return w >> 31 || is_vector_code(w) ? 8 : 4;
}

bool operation_aarch64_describe(const uint8_t *code, uint64_t address,
				struct operation *ret)
{
	uint32_t w = (uint32_t)code[0] | (uint32_t)code[1] << 8 |
		     (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
	const struct operation_aarch64_row *row = operation_aarch64_table_find(w);
	uint32_t uses;

	if (!row)
		return false;
	uses = row->uses;
	*ret = (struct operation){
		.id = operation_aarch64_table_id(row),
		.size = 4,
		.base = OPERATION_NO_REG,
		.index = OPERATION_NO_REG,
		.from = OPERATION_NO_REG,
		.reads = all_read(w, uses),
		.writes = all_written(w, uses),
		.width = width_of(w),
		.has_immediate = USE(CONSTANT),
		.may_fuse_with_branch = USE(FUSES),
	};
	ret->class = (uint8_t)(row->refine ? row->refine(w, row->class) : row->class);
	ret->is_scalar = is_scalar(w, ret->class);
	if (USE(LOADS) || USE(STORES))
		take_memory(w, uses, address, ret);
	if (USE(SUM))
		find_sum(w, ret);
	if (USE(D_READ) && USE(D_WRITTEN) && ret->class == OPERATION_MOVE)
		ret->merges = general(w & 31);
	return true;
}

const char *operation_aarch64_mnemonic(uint16_t id)
{
	const struct operation_aarch64_row *row = operation_aarch64_table_at(id);

	return row ? row->name : NULL;
}
