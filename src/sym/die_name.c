/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/die_name.h"

#include <dwarf.h>

#include "sym/form.h"

/* concrete -> abstract -> declaration; more is a circle. */
#define ORIGINS_MAX 8

struct origin {
	struct debug_unit *unit;
	uint64_t entry;
};

static struct origin follow(struct debug_unit *u, const struct form_value *v)
{
	struct debug_file *f = u->file;

	if (v->class == FORM_ALT_REFERENCE)
		f = f->alternate;
	else if (v->class != FORM_REFERENCE)
		f = NULL;
	/* References inside a unit, and they are most, need no search. */
	if (f == u->file && v->v >= u->offset && v->v < u->end)
		return (struct origin){ u, v->v };
	return (struct origin){ f ? debug_file_unit(f, v->v) : NULL, v->v };
}

static void take_file(struct debug_unit *u, uint64_t file, struct die_name *ret)
{
	bool is_file = file || u->version >= 5;

	if (ret->has_decl_file || !is_file)
		return;
	ret->has_decl_file = true;
	ret->unit = u;
	ret->decl_file = file;
}

/* Fills what is still missing; where to look on. */
static struct origin read_entry(struct debug_unit *u, uint64_t entry,
				struct die_name *ret)
{
	struct reader r = debug_file_entries(u, entry);
	struct origin next = { 0 };
	const struct abbrev *a;

	if (!debug_file_abbrevs(u))
		return next;
	a = abbrev_find(u->abbrevs, reader_uleb(&r));
	for (uint32_t i = 0; a && i < a->n_attrs && !r.bad; i++) {
		const struct abbrev_attr *attr = abbrev_attrs(u->abbrevs, a) + i;
		struct form_value v = form_read(u, attr, &r);

		switch (attr->name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			if (!ret->linkage)
				ret->linkage = form_string(u, &v);
			break;
		case DW_AT_name:
			if (!ret->name)
				ret->name = form_string(u, &v);
			break;
		case DW_AT_decl_file:
			take_file(u, v.v, ret);
			break;
		case DW_AT_decl_line:
			if (!ret->decl_line)
				ret->decl_line = (uint32_t)v.v;
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			next = follow(u, &v);
			break;
		}
	}
	return next;
}

void die_name_find(struct debug_unit *u, uint64_t entry, struct die_name *ret)
{
	struct origin at = { u, entry };

	*ret = (struct die_name){ .unit = u };
	for (int i = 0; i < ORIGINS_MAX && at.unit; i++) {
		at = read_entry(at.unit, at.entry, ret);
		if (ret->linkage && ret->name && ret->decl_line)
			return;
	}
}
