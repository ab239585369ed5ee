/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/abbrev.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#define INDIRECTIONS_MAX 4

struct abbrev_table {
	VEC(struct abbrev) abbrevs;
	VEC(struct abbrev_attr) attrs;
	VEC(struct abbrev_step) steps;
	bool is_dense; /* code i + 1 is at i, as all compilers write it */
	struct map by_code;
	struct abbrev_sizes sizes;
};

/* Sizes that depend on the unit. */
enum { SIZE_ADDRESS = 100, SIZE_OFFSET, SIZE_REFERENCE };

/* How far each form reaches; absent: no such form. n of FIXED may be a SIZE_…. */
static const struct form_shape {
	bool is_known;
	uint8_t kind, n;
} shapes[] = {
	[DW_FORM_addr] = { true, ABBREV_FIXED, SIZE_ADDRESS },
	[DW_FORM_block2] = { true, ABBREV_BLOCK2, 0 },
	[DW_FORM_block4] = { true, ABBREV_BLOCK4, 0 },
	[DW_FORM_data2] = { true, ABBREV_FIXED, 2 },
	[DW_FORM_data4] = { true, ABBREV_FIXED, 4 },
	[DW_FORM_data8] = { true, ABBREV_FIXED, 8 },
	[DW_FORM_string] = { true, ABBREV_STRING, 0 },
	[DW_FORM_block] = { true, ABBREV_BLOCK_LEB, 0 },
	[DW_FORM_block1] = { true, ABBREV_BLOCK1, 0 },
	[DW_FORM_data1] = { true, ABBREV_FIXED, 1 },
	[DW_FORM_flag] = { true, ABBREV_FIXED, 1 },
	[DW_FORM_sdata] = { true, ABBREV_LEB, 0 },
	[DW_FORM_strp] = { true, ABBREV_FIXED, SIZE_OFFSET },
	[DW_FORM_udata] = { true, ABBREV_LEB, 0 },
	[DW_FORM_ref_addr] = { true, ABBREV_FIXED, SIZE_REFERENCE },
	[DW_FORM_ref1] = { true, ABBREV_FIXED, 1 },
	[DW_FORM_ref2] = { true, ABBREV_FIXED, 2 },
	[DW_FORM_ref4] = { true, ABBREV_FIXED, 4 },
	[DW_FORM_ref8] = { true, ABBREV_FIXED, 8 },
	[DW_FORM_ref_udata] = { true, ABBREV_LEB, 0 },
	[DW_FORM_indirect] = { true, ABBREV_INDIRECT, 0 },
	[DW_FORM_sec_offset] = { true, ABBREV_FIXED, SIZE_OFFSET },
	[DW_FORM_exprloc] = { true, ABBREV_BLOCK_LEB, 0 },
	[DW_FORM_flag_present] = { true, ABBREV_FIXED, 0 },
	[DW_FORM_strx] = { true, ABBREV_LEB, 0 },
	[DW_FORM_addrx] = { true, ABBREV_LEB, 0 },
	[DW_FORM_ref_sup4] = { true, ABBREV_FIXED, 4 },
	[DW_FORM_strp_sup] = { true, ABBREV_FIXED, SIZE_OFFSET },
	[DW_FORM_data16] = { true, ABBREV_FIXED, 16 },
	[DW_FORM_line_strp] = { true, ABBREV_FIXED, SIZE_OFFSET },
	[DW_FORM_ref_sig8] = { true, ABBREV_FIXED, 8 },
	[DW_FORM_implicit_const] = { true, ABBREV_FIXED, 0 },
	[DW_FORM_loclistx] = { true, ABBREV_LEB, 0 },
	[DW_FORM_rnglistx] = { true, ABBREV_LEB, 0 },
	[DW_FORM_ref_sup8] = { true, ABBREV_FIXED, 8 },
	[DW_FORM_strx1] = { true, ABBREV_FIXED, 1 },
	[DW_FORM_strx2] = { true, ABBREV_FIXED, 2 },
	[DW_FORM_strx3] = { true, ABBREV_FIXED, 3 },
	[DW_FORM_strx4] = { true, ABBREV_FIXED, 4 },
	[DW_FORM_addrx1] = { true, ABBREV_FIXED, 1 },
	[DW_FORM_addrx2] = { true, ABBREV_FIXED, 2 },
	[DW_FORM_addrx3] = { true, ABBREV_FIXED, 3 },
	[DW_FORM_addrx4] = { true, ABBREV_FIXED, 4 },
};

static struct abbrev_step step_of(struct abbrev_sizes sizes, uint64_t form)
{
	struct form_shape s = { 0 };

	if (form < sizeof(shapes) / sizeof(shapes[0]))
		s = shapes[form];
	else if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		s = (struct form_shape){ true, ABBREV_LEB, 0 };
	else if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		s = (struct form_shape){ true, ABBREV_FIXED, SIZE_OFFSET };
	if (!s.is_known)
		return (struct abbrev_step){ ABBREV_UNKNOWN, 0 };
	if (s.n == SIZE_ADDRESS)
		s.n = sizes.address;
	else if (s.n == SIZE_OFFSET)
		s.n = sizes.offset;
	else if (s.n == SIZE_REFERENCE)
		s.n = sizes.reference;
	return (struct abbrev_step){ s.kind, s.n };
}

static void add_step(struct abbrev_table *t, struct abbrev *a, uint64_t form)
{
	struct abbrev_step step = step_of(t->sizes, form);
	struct abbrev_step *last = a->n_steps ? &t->steps.at[t->steps.n - 1] : NULL;

	if (step.kind == ABBREV_FIXED && last && last->kind == ABBREV_FIXED) {
		last->n += step.n;
		return;
	}
	*vec_push(&t->steps) = step;
	a->n_steps++;
}

static void parse_attrs(struct abbrev_table *t, struct abbrev *a, struct reader *r)
{
	a->first_attr = (uint32_t)t->attrs.n;
	a->first_step = (uint32_t)t->steps.n;
	for (;;) {
		uint64_t name = reader_uleb(r), form = reader_uleb(r);
		int64_t implicit = form == DW_FORM_implicit_const ? reader_sleb(r) : 0;

		if (r->bad || (!name && !form))
			return;
		*vec_push(&t->attrs) =
			(struct abbrev_attr){ name > UINT16_MAX ? 0 : (uint16_t)name,
					      form > UINT16_MAX ? 0 : (uint16_t)form,
					      implicit };
		a->n_attrs++;
		add_step(t, a, form);
	}
}

struct abbrev_table *abbrev_parse(const void *data, size_t size,
				  struct abbrev_sizes sizes, size_t *used)
{
	struct abbrev_table *t = xcalloc(1, sizeof(*t));
	struct reader r = reader_over(data, size);

	t->sizes = sizes;
	t->is_dense = true;
	while (reader_left(&r)) {
		struct abbrev a = { .code = reader_uleb(&r) };

		if (!a.code || r.bad)
			break;
		a.tag = (uint32_t)reader_uleb(&r);
		a.has_children = reader_u8(&r);
		parse_attrs(t, &a, &r);
		if (r.bad)
			break;
		if (a.code != t->abbrevs.n + 1)
			t->is_dense = false;
		*vec_push(&t->abbrevs) = a;
	}
	for (size_t i = t->abbrevs.n; !t->is_dense && i-- > 0;)
		*map_slot(&t->by_code, t->abbrevs.at[i].code, NULL) = i;
	*used = reader_offset(&r);
	return t;
}

void abbrev_free(struct abbrev_table *t)
{
	if (!t)
		return;
	vec_fini(&t->abbrevs);
	vec_fini(&t->attrs);
	vec_fini(&t->steps);
	map_fini(&t->by_code);
	free(t);
}

const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	const uint64_t *i;

	if (t->is_dense)
		return code - 1 < t->abbrevs.n ? &t->abbrevs.at[code - 1] : NULL;
	i = map_find(&t->by_code, code);
	return i ? &t->abbrevs.at[*i] : NULL;
}

const struct abbrev_attr *abbrev_attrs(const struct abbrev_table *t,
				       const struct abbrev *a)
{
	return a->n_attrs ? t->attrs.at + a->first_attr : NULL;
}

/* Signed or not, and however wide: the reader's numbers end at 64 bits. */
static void skip_leb(struct reader *r)
{
	while (reader_u8(r) & 0x80)
		;
}

static void skip_step(struct abbrev_sizes sizes, struct abbrev_step step,
		      struct reader *r, int depth)
{
	switch (step.kind) {
	case ABBREV_FIXED:
		reader_skip(r, step.n);
		break;
	case ABBREV_LEB:
		skip_leb(r);
		break;
	case ABBREV_STRING:
		reader_cstr(r);
		break;
	case ABBREV_BLOCK1:
		reader_skip(r, reader_u8(r));
		break;
	case ABBREV_BLOCK2:
		reader_skip(r, reader_u16le(r));
		break;
	case ABBREV_BLOCK4:
		reader_skip(r, reader_u32le(r));
		break;
	case ABBREV_BLOCK_LEB:
		reader_skip(r, reader_uleb(r));
		break;
	case ABBREV_INDIRECT:
		if (depth < INDIRECTIONS_MAX)
			skip_step(sizes, step_of(sizes, reader_uleb(r)), r, depth + 1);
		else
			r->bad = true;
		break;
	case ABBREV_UNKNOWN:
		r->bad = true;
		break;
	}
}

void abbrev_skip(const struct abbrev_table *t, const struct abbrev *a, struct reader *r)
{
	for (uint32_t i = 0; i < a->n_steps; i++)
		skip_step(t->sizes, t->steps.at[a->first_step + i], r, 0);
}

void abbrev_skip_form(struct abbrev_sizes sizes, uint64_t form, struct reader *r)
{
	skip_step(sizes, step_of(sizes, form), r, 0);
}
