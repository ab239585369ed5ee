/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfa_row.h"

#include "unwind/eh_cursor.h"

#define OFFSET_LIMIT (1 << 23)

static const struct cfa_row complex_row = { .kind = CFA_ROW_COMPLEX };

/* `breg reg, offset`, optionally followed by `deref`, and nothing else. */
static bool match_breg(const struct cfi_section *s, const struct cfa_rule *rule,
		       bool with_deref, unsigned *ret_reg, int64_t *ret_offset)
{
	const uint8_t *bytes = s->bytes + rule->value;
	struct eh_cursor c = eh_cursor_over(bytes, rule->expr_size, 0);
	uint8_t op = eh_cursor_u8(&c);
	int64_t offset = eh_cursor_sleb(&c);

	if (with_deref && eh_cursor_u8(&c) != 0x06)
		return false;
	if (c.bad || eh_cursor_left(&c) || op < 0x70 || op > 0x8f)
		return false;
	*ret_reg = op - 0x70;
	*ret_offset = offset;
	return true;
}

static bool pack_save(int64_t offset, int8_t *ret)
{
	int64_t words = offset / 8;

	if (offset % 8 || words < -CFA_ROW_SAVE_MAX || words > CFA_ROW_SAVE_MAX)
		return false;
	*ret = (int8_t)words;
	return true;
}

/* One save slot, relative to the CFA (bias 0) or to the CFA's register. */
static bool pack_rule(const struct cfa_rule *rule, int64_t bias, int8_t *ret)
{
	switch (rule->kind) {
	case CFA_SAME:
		*ret = CFA_ROW_SAME;
		return true;
	case CFA_UNDEFINED:
		*ret = CFA_ROW_LOST;
		return true;
	case CFA_AT:
		return pack_save(rule->value + bias, ret);
	default:
		return false;
	}
}

/* Does the function hand over exceptions? */
static void note_landing(const struct abi *abi, const struct cfa_rules *rules,
			 struct cfa_row *row)
{
	const struct cfa_rule *rule = &rules->reg[abi->landing];
	int8_t save;

	if (rule->kind == CFA_AT && pack_save(rule->value, &save))
		row->save[CFA_ROW_EXTRA] = save;
}

static struct cfa_row pack_register(const struct abi *abi, const struct cfa_rules *rules)
{
	/* Large aarch64 frames save near sp, not near the CFA. */
	bool from_base = abi->has_link_register;
	struct cfa_row row = { .kind = from_base ? CFA_ROW_BASE : CFA_ROW_CFA,
			       .reg = rules->cfa.reg & 31,
			       .offset = rules->cfa.value };

	for (unsigned i = 0; i < ABI_N_SAVES; i++) {
		unsigned reg = abi->saves[i];

		row.save[i] = CFA_ROW_SAME;
		if (reg == ABI_NO_REG ||
		    (i == 0 && rules->reg[reg].kind == CFA_REGISTER && !from_base))
			continue;
		if (!pack_rule(&rules->reg[reg], from_base ? rules->cfa.value : 0,
			       &row.save[i]))
			return complex_row;
	}
	if (abi->landing != ABI_NO_REG)
		note_landing(abi, rules, &row);
	if (!cfa_row_returns_by_register(abi, &row))
		return row;
	if (rules->reg[abi->ra].kind != CFA_REGISTER)
		return complex_row; /* nobody said where the return address is */
	row.save[CFA_ROW_EXTRA] = (int8_t)rules->reg[abi->ra].reg;
	return row;
}

/* A realigned frame (DRAP): CFA = *(rbp - 8), saves at rbp + n. */
static struct cfa_row pack_indirect(const struct cfi_section *s, const struct abi *abi,
				    const struct cfa_rules *rules, unsigned reg,
				    int64_t offset)
{
	struct cfa_row row = { .kind = CFA_ROW_INDIRECT,
			       .reg = reg & 31,
			       .offset = (int32_t)offset };
	const struct cfa_rule *ra = &rules->reg[abi->ra];

	if (abi->has_link_register || ra->kind != CFA_AT || ra->value != -8)
		return complex_row;
	row.save[0] = -1;
	for (unsigned i = 1; i < ABI_N_SAVES; i++) {
		const struct cfa_rule *rule =
			abi->saves[i] == ABI_NO_REG ? NULL : &rules->reg[abi->saves[i]];
		unsigned base;
		int64_t at;

		row.save[i] = CFA_ROW_SAME;
		if (!rule || rule->kind == CFA_SAME)
			continue;
		if (rule->kind != CFA_AT_EXPR ||
		    !match_breg(s, rule, false, &base, &at) || base != reg ||
		    !pack_save(at, &row.save[i]))
			return complex_row;
	}
	return row;
}

static struct cfa_row pack_plt(const struct abi *abi, const struct cfa_rules *rules,
			       uint8_t boundary)
{
	struct cfa_row row = { .kind = CFA_ROW_PLT,
			       .reg = abi->sp & 31,
			       .offset = boundary };

	for (unsigned i = 0; i < ABI_N_SAVES; i++)
		row.save[i] = CFA_ROW_SAME;
	if (rules->reg[abi->ra].kind != CFA_AT || rules->reg[abi->ra].value != -8)
		return complex_row;
	row.save[0] = -1;
	for (unsigned i = 1; i < ABI_N_SAVES; i++)
		if (abi->saves[i] != ABI_NO_REG &&
		    rules->reg[abi->saves[i]].kind != CFA_SAME)
			return complex_row;
	return row;
}

/* What linkers write for .plt: rsp + 8 + ((pc & 15 >= literal) << 3). */
static bool match_plt(const struct cfi_section *s, const struct cfa_rule *rule,
		      uint8_t *ret_boundary)
{
	struct eh_cursor c = eh_cursor_over(s->bytes + rule->value, rule->expr_size, 0);
	const uint8_t *head = eh_cursor_bytes(&c, 6);
	uint8_t literal = eh_cursor_u8(&c);
	const uint8_t *tail = eh_cursor_bytes(&c, 4);

	if (!head || !tail || eh_cursor_left(&c) ||
	    memcmp(head, "\x77\x08\x80\x00\x3f\x1a", 6) != 0 ||
	    memcmp(tail, "\x2a\x33\x24\x22", 4) != 0 || literal < 0x30 || literal > 0x3f)
		return false;
	*ret_boundary = literal - 0x30;
	return true;
}

static struct cfa_row pack_expression(const struct cfi_section *s, const struct abi *abi,
				      const struct cfa_rules *rules)
{
	unsigned reg;
	int64_t offset;
	uint8_t boundary;

	if (match_breg(s, &rules->cfa, true, &reg, &offset) && offset < OFFSET_LIMIT &&
	    offset >= -OFFSET_LIMIT)
		return pack_indirect(s, abi, rules, reg, offset);
	if (!abi->has_link_register && match_plt(s, &rules->cfa, &boundary))
		return pack_plt(abi, rules, boundary);
	return complex_row;
}

/* Does the table agree with the layout of the kernel's signal frame? */
static bool is_kernel_frame(const struct cfi_section *s, const struct abi *abi,
			    const struct cfa_rules *rules)
{
	unsigned reg;
	int64_t offset;

	/* aarch64's tables name only the frame record; the layout is fixed. */
	if (abi->has_link_register)
		return true;
	return rules->reg[abi->pc].kind == CFA_AT_EXPR &&
	       match_breg(s, &rules->reg[abi->pc], false, &reg, &offset) &&
	       reg == abi->sp && offset == abi->context[abi->pc] &&
	       rules->cfa.kind == CFA_IS_EXPR &&
	       match_breg(s, &rules->cfa, true, &reg, &offset) && reg == abi->sp &&
	       offset == abi->context[abi->sp];
}

struct cfa_row cfa_row_from(const struct cfi_section *s, const struct cfi_fde *fde,
			    const struct cfa_rules *rules)
{
	const struct abi *abi = abi_of(s->arch);

	if (fde->ra != abi->ra)
		return complex_row;
	if (rules->reg[abi->ra].kind == CFA_UNDEFINED)
		return (struct cfa_row){ .kind = CFA_ROW_END };
	if (!fde->is_signal_frame && rules->reg[abi->sp].kind != CFA_SAME)
		return complex_row; /* the caller's sp is not the CFA */
	if (fde->is_signal_frame)
		return is_kernel_frame(s, abi, rules)
			       ? (struct cfa_row){ .kind = CFA_ROW_SIGNAL,
						   .reg = abi->sp & 31 }
			       : complex_row;
	if (rules->cfa.kind == CFA_IS_EXPR)
		return pack_expression(s, abi, rules);
	if (rules->cfa.kind != CFA_REGISTER || rules->cfa.reg > 31 ||
	    rules->cfa.value >= OFFSET_LIMIT || rules->cfa.value < -OFFSET_LIMIT)
		return complex_row;
	return pack_register(abi, rules);
}
