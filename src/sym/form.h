/* SPDX-License-Identifier: Apache-2.0
 *
 * form - the value of an attribute.
 *
 * form_read() takes the bytes; what needs another section (strings, addresses by
 * index) is looked up by the functions below, when it is wanted.
 */
#ifndef DWELL_SYM_FORM_H
#define DWELL_SYM_FORM_H

#include "sym/debug_file.h"

enum form_class {
	FORM_NONE, /* nothing of interest, or unreadable */
	FORM_ADDRESS,
	FORM_ADDRESS_INDEX,
	FORM_CONSTANT,
	FORM_STRING,	    /* text is it */
	FORM_STRING_OFFSET, /* in .debug_str */
	FORM_LINE_STRING_OFFSET,
	FORM_ALT_STRING_OFFSET,
	FORM_STRING_INDEX,
	FORM_REFERENCE, /* offset in .debug_info of the same file */
	FORM_ALT_REFERENCE,
	FORM_OFFSET, /* into the section that the attribute says */
	FORM_RANGE_INDEX,
};

struct form_value {
	enum form_class class;
	uint64_t v;
	const char *text;
};

struct form_value form_read(const struct debug_unit *u, const struct abbrev_attr *attr,
			    struct reader *r);
/* An offset for constants too: DWARF 2 and 3 write data4 for both. */
bool form_is_offset(const struct debug_unit *u, const struct form_value *v);
const char *form_string(const struct debug_unit *u, const struct form_value *v);
bool form_address(const struct debug_unit *u, const struct form_value *v, uint64_t *ret);
bool form_address_at(const struct debug_unit *u, uint64_t index, uint64_t *ret);

#endif
