/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/form.h"

#include <dwarf.h>

/* Little-endian numbers of 1, 2, 3, 4 or 8 bytes. */
static uint64_t read_sized(struct reader *r, unsigned size)
{
	const uint8_t *p = reader_bytes(r, size);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < size; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* Forms whose value is a number of so many bytes (0: a ULEB) of one class. */
enum { BY_OFFSET = 100, BY_ADDRESS, BY_REFERENCE, BY_LEB };

static const struct {
	uint8_t class, size;
	bool is_relative; /* to the unit */
} numbers[] = {
	[DW_FORM_addr] = { FORM_ADDRESS, BY_ADDRESS, false },
	[DW_FORM_data1] = { FORM_CONSTANT, 1, false },
	[DW_FORM_data2] = { FORM_CONSTANT, 2, false },
	[DW_FORM_data4] = { FORM_CONSTANT, 4, false },
	[DW_FORM_data8] = { FORM_CONSTANT, 8, false },
	[DW_FORM_udata] = { FORM_CONSTANT, BY_LEB, false },
	[DW_FORM_strp] = { FORM_STRING_OFFSET, BY_OFFSET, false },
	[DW_FORM_line_strp] = { FORM_LINE_STRING_OFFSET, BY_OFFSET, false },
	[DW_FORM_strp_sup] = { FORM_ALT_STRING_OFFSET, BY_OFFSET, false },
	[DW_FORM_strx] = { FORM_STRING_INDEX, BY_LEB, false },
	[DW_FORM_strx1] = { FORM_STRING_INDEX, 1, false },
	[DW_FORM_strx2] = { FORM_STRING_INDEX, 2, false },
	[DW_FORM_strx3] = { FORM_STRING_INDEX, 3, false },
	[DW_FORM_strx4] = { FORM_STRING_INDEX, 4, false },
	[DW_FORM_addrx] = { FORM_ADDRESS_INDEX, BY_LEB, false },
	[DW_FORM_addrx1] = { FORM_ADDRESS_INDEX, 1, false },
	[DW_FORM_addrx2] = { FORM_ADDRESS_INDEX, 2, false },
	[DW_FORM_addrx3] = { FORM_ADDRESS_INDEX, 3, false },
	[DW_FORM_addrx4] = { FORM_ADDRESS_INDEX, 4, false },
	[DW_FORM_ref1] = { FORM_REFERENCE, 1, true },
	[DW_FORM_ref2] = { FORM_REFERENCE, 2, true },
	[DW_FORM_ref4] = { FORM_REFERENCE, 4, true },
	[DW_FORM_ref8] = { FORM_REFERENCE, 8, true },
	[DW_FORM_ref_udata] = { FORM_REFERENCE, BY_LEB, true },
	[DW_FORM_ref_addr] = { FORM_REFERENCE, BY_REFERENCE, false },
	[DW_FORM_ref_sup4] = { FORM_ALT_REFERENCE, 4, false },
	[DW_FORM_ref_sup8] = { FORM_ALT_REFERENCE, 8, false },
	[DW_FORM_sec_offset] = { FORM_OFFSET, BY_OFFSET, false },
	[DW_FORM_rnglistx] = { FORM_RANGE_INDEX, BY_LEB, false },
};

static uint64_t read_number(const struct debug_unit *u, unsigned size, struct reader *r)
{
	switch (size) {
	case BY_LEB:
		return reader_uleb(r);
	case BY_OFFSET:
		return read_sized(r, u->sizes.offset);
	case BY_ADDRESS:
		return read_sized(r, u->sizes.address);
	case BY_REFERENCE:
		return read_sized(r, u->sizes.reference);
	}
	return read_sized(r, size);
}

static struct form_value read_rare(const struct debug_unit *u,
				   const struct abbrev_attr *attr, uint64_t form,
				   struct reader *r)
{
	switch (form) {
	case DW_FORM_string:
		return (struct form_value){ FORM_STRING, 0, reader_cstr(r) };
	case DW_FORM_sdata:
		return (struct form_value){ FORM_CONSTANT, (uint64_t)reader_sleb(r),
					    NULL };
	case DW_FORM_implicit_const:
		return (struct form_value){ FORM_CONSTANT, (uint64_t)attr->implicit,
					    NULL };
	case DW_FORM_flag_present:
		return (struct form_value){ FORM_CONSTANT, 1, NULL };
	case DW_FORM_flag:
		return (struct form_value){ FORM_CONSTANT, reader_u8(r), NULL };
	case DW_FORM_GNU_addr_index:
		return (struct form_value){ FORM_ADDRESS_INDEX, reader_uleb(r), NULL };
	case DW_FORM_GNU_str_index:
		return (struct form_value){ FORM_STRING_INDEX, reader_uleb(r), NULL };
	case DW_FORM_GNU_strp_alt:
		return (struct form_value){ FORM_ALT_STRING_OFFSET,
					    read_sized(r, u->sizes.offset), NULL };
	case DW_FORM_GNU_ref_alt:
		return (struct form_value){ FORM_ALT_REFERENCE,
					    read_sized(r, u->sizes.offset), NULL };
	}
	abbrev_skip_form(u->sizes, form, r);
	return (struct form_value){ 0 };
}

struct form_value form_read(const struct debug_unit *u, const struct abbrev_attr *attr,
			    struct reader *r)
{
	uint64_t form = attr->form;

	if (form == DW_FORM_indirect) {
		form = reader_uleb(r);
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) {
			r->bad = true;
			return (struct form_value){ 0 };
		}
	}
	if (form >= sizeof(numbers) / sizeof(numbers[0]) || !numbers[form].class)
		return read_rare(u, attr, form, r);

	struct form_value v = { numbers[form].class,
				read_number(u, numbers[form].size, r), NULL };

	if (numbers[form].is_relative)
		v.v += u->offset;
	return v;
}

bool form_is_offset(const struct debug_unit *u, const struct form_value *v)
{
	return v->class == FORM_OFFSET || (v->class == FORM_CONSTANT && u->version < 4);
}

static const char *indexed_string(const struct debug_unit *u, uint64_t index)
{
	struct object_bytes b = u->file->sections[DEBUG_STR_OFFSETS];
	struct reader r = reader_over(b.data, b.size);

	if (index > b.size)
		return NULL;
	reader_seek(&r, u->part[DEBUG_STR_OFFSETS] + u->str_offsets_base +
				index * u->sizes.offset);
	index = read_sized(&r, u->sizes.offset);
	return r.bad ? NULL : debug_file_string(u->file, DEBUG_STR, index);
}

const char *form_string(const struct debug_unit *u, const struct form_value *v)
{
	switch (v->class) {
	case FORM_STRING:
		return v->text;
	case FORM_STRING_OFFSET:
		return debug_file_string(u->file, DEBUG_STR, v->v);
	case FORM_LINE_STRING_OFFSET:
		return debug_file_string(u->file, DEBUG_LINE_STR, v->v);
	case FORM_ALT_STRING_OFFSET:
		return u->file->alternate
			       ? debug_file_string(u->file->alternate, DEBUG_STR, v->v)
			       : NULL;
	case FORM_STRING_INDEX:
		return indexed_string(u, v->v);
	default:
		return NULL;
	}
}

/* A split unit has its addresses in the file of its skeleton. */
bool form_address_at(const struct debug_unit *u, uint64_t index, uint64_t *ret)
{
	const struct debug_unit *owner = u->skeleton ? u->skeleton : u;
	struct object_bytes b = owner->file->sections[DEBUG_ADDR];
	struct reader r = reader_over(b.data, b.size);

	if (index > b.size || owner->addr_base > b.size)
		return false;
	reader_seek(&r, owner->addr_base + index * u->sizes.address);
	*ret = read_sized(&r, u->sizes.address);
	return !r.bad;
}

bool form_address(const struct debug_unit *u, const struct form_value *v, uint64_t *ret)
{
	if (v->class == FORM_ADDRESS_INDEX)
		return form_address_at(u, v->v, ret);
	*ret = v->v;
	return v->class == FORM_ADDRESS;
}
