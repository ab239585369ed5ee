/* SPDX-License-Identifier: Apache-2.0
 *
 * row_pack - a file's unwind rows in the form in which the kernel's side looks them up.
 *
 * The form is described in wire/stack_rows.h.  Rules are numbered over all files; a pack
 * is made of whole pages whose numbers start at 0, and is moved to where it will lie.
 */
#ifndef DWELL_COLLECT_ROW_PACK_H
#define DWELL_COLLECT_ROW_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "unwind/row_table.h"
#include "wire/stack_rows.h"

struct intern;
struct unwind_image;

/* The rules that occurred, each once.  Release with rule_set_fini(). */
struct row_pack_rules {
	struct intern *seen;
	struct stack_rule *at; /* STACK_ROWS_RULES_MAX; borrowed */
	uint32_t n;
};

/* at: where rules are put, zeroed. */
void row_pack_rules_init(struct row_pack_rules *r, struct stack_rule *at);
void row_pack_rules_fini(struct row_pack_rules *r);

struct row_pack {
	uint32_t first_block, n_blocks;
	uint32_t n_index_pages; /* the first ones */
	VEC(uint32_t) words;	/* whole pages */
};

void row_pack_fini(struct row_pack *p);
static inline uint32_t row_pack_n_pages(const struct row_pack *p)
{
	return (uint32_t)(p->words.n / STACK_ROWS_PAGE_WORDS);
}

/* ret is initialised.  n_blocks 0: the file has no rows. */
must_use int row_pack_build(const struct row_table *t, const struct unwind_image *image,
			    struct row_pack_rules *rules, struct row_pack *ret,
			    struct err *e);
/* Its first page will be this one. */
void row_pack_move(struct row_pack *p, uint32_t first_page);

#endif
