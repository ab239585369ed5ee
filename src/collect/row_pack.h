/* SPDX-License-Identifier: Apache-2.0
 *
 * row_pack - a file's unwind rows in the form in which the kernel's side looks them up.
 *
 * The form is described in wire/stack_rows.h.  A pack is by itself: its rules are
 * numbered from 0, and so are its pages; both are translated when it is written to where
 * the kernel's side looks.
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

/* In every numbering of rules. */
#define ROW_PACK_RULE_NONE    0
#define ROW_PACK_RULE_COMPLEX 1

#define ROW_PACK_BLOCKS_MAX (1u << 22) /* a file of 16 GB */
#define ROW_PACK_PAGES_MAX  (STACK_ROWS_POOLS_MAX * STACK_ROWS_POOL_PAGES / 2)

struct intern;
struct unwind_image;

/* The rules that occurred, each once.  Release with row_pack_rules_fini(). */
struct row_pack_rules {
	struct intern *seen;
	struct stack_rule *at; /* STACK_ROWS_RULES_MAX; borrowed */
	uint32_t n;
};

/* at: where rules are put, zeroed. */
void row_pack_rules_init(struct row_pack_rules *r, struct stack_rule *at);
/* Those that are there already, where others may have been writing when they ended. */
void row_pack_rules_take(struct row_pack_rules *r, struct stack_rule *at);
void row_pack_rules_fini(struct row_pack_rules *r);
/* ROW_PACK_RULE_COMPLEX when there is no number left. */
uint32_t row_pack_rules_number(struct row_pack_rules *r, const struct stack_rule *rule);

struct row_pack {
	uint32_t first_block, n_blocks;
	uint32_t n_index_pages; /* the first ones */
	VEC(struct stack_rule) rules;
	VEC(uint32_t) words; /* whole pages */
};

void row_pack_fini(struct row_pack *p);
static inline uint32_t row_pack_n_pages(const struct row_pack *p)
{
	return (uint32_t)(p->words.n / STACK_ROWS_PAGE_WORDS);
}
static inline uint32_t row_pack_n_index_pages(uint32_t n_blocks)
{
	return (n_blocks + STACK_ROWS_PAGE_WORDS - 1) / STACK_ROWS_PAGE_WORDS;
}

/* A checksum of the code that makes packs: what other code has made of the same file may
 * have other rules. */
uint32_t row_pack_maker(void);

/* The rows of the table, and of small gaps in it (gap_rows.h).  ret is initialised.
 * n_blocks 0: the file has no rows. */
must_use int row_pack_build(const struct row_table *t, struct unwind_image *image,
			    struct row_pack *ret, struct err *e);

/* The same of a file; its name is for messages. */
must_use int row_pack_compile(int fd, const char *name, struct row_pack *ret,
			      struct err *e);

/* Is it as row_pack_build() makes them?  For what was read from a file. */
must_use int row_pack_check(const struct row_pack *p, struct err *e);

/* Where a pack is written to. */
struct row_pack_place {
	uint32_t first_page;
	const uint32_t *numbers; /* of its rules there */
	uint32_t *(*page)(void *ctx, uint32_t page);
	void *ctx;
};

void row_pack_write(const struct row_pack *p, const struct row_pack_place *to);

#endif
