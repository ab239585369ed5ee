/* SPDX-License-Identifier: Apache-2.0
 *
 * abbrev - the shapes of debugging information entries (.debug_abbrev).
 *
 * Beside the attributes each shape has the steps to get past it: most entries of a
 * walk are not looked at, and a run of fixed-size attributes is one step.
 */
#ifndef DWELL_SYM_ABBREV_H
#define DWELL_SYM_ABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

/* What the sizes of forms depend on. */
struct abbrev_sizes {
	uint8_t address, offset, reference; /* reference: DW_FORM_ref_addr */
};

struct abbrev_attr {
	uint16_t name, form;
	int64_t implicit; /* of DW_FORM_implicit_const */
};

enum abbrev_step_kind {
	ABBREV_FIXED, /* n bytes */
	ABBREV_LEB,
	ABBREV_STRING,
	ABBREV_BLOCK1,
	ABBREV_BLOCK2,
	ABBREV_BLOCK4,
	ABBREV_BLOCK_LEB,
	ABBREV_INDIRECT, /* the form is in the entry */
	ABBREV_UNKNOWN,	 /* a form nobody defined: the unit cannot be read on */
};

struct abbrev_step {
	enum abbrev_step_kind kind;
	uint32_t n;
};

struct abbrev {
	uint64_t code;
	uint32_t tag;
	bool has_children;
	uint32_t first_attr, n_attrs, first_step, n_steps;
};

struct abbrev_table;

/* The table at the start of the bytes; *used tells how many it took. */
struct abbrev_table *abbrev_parse(const void *data, size_t size,
				  struct abbrev_sizes sizes, size_t *used);
void abbrev_free(struct abbrev_table *t);

/* NULL: no such code. */
const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code);
const struct abbrev_attr *abbrev_attrs(const struct abbrev_table *t,
				       const struct abbrev *a);
void abbrev_skip(const struct abbrev_table *t, const struct abbrev *a, struct reader *r);
void abbrev_skip_form(struct abbrev_sizes sizes, uint64_t form, struct reader *r);

#endif
