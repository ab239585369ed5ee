/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/row_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "unwind/abi.h"
#include "unwind/unwind_image.h"

_Static_assert((int)STACK_RULE_NONE == (int)CFA_ROW_NONE, "one numbering");
_Static_assert((int)STACK_RULE_CFA == (int)CFA_ROW_CFA, "one numbering");
_Static_assert((int)STACK_RULE_BASE == (int)CFA_ROW_BASE, "one numbering");
_Static_assert((int)STACK_RULE_INDIRECT == (int)CFA_ROW_INDIRECT, "one numbering");
_Static_assert((int)STACK_RULE_PLT == (int)CFA_ROW_PLT, "one numbering");
_Static_assert((int)STACK_RULE_SIGNAL == (int)CFA_ROW_SIGNAL, "one numbering");
_Static_assert((int)STACK_RULE_END == (int)CFA_ROW_END, "one numbering");
_Static_assert((int)STACK_RULE_COMPLEX == (int)CFA_ROW_COMPLEX, "one numbering");
_Static_assert(STACK_RULE_SAME == CFA_ROW_SAME && STACK_RULE_LOST == CFA_ROW_LOST,
	       "one numbering");
_Static_assert(STACK_ROWS_N_SAVES == ABI_N_SAVES, "one order of saved registers");

/* An index of more would be a file of more than 16 GB. */
#define BLOCKS_MAX   (1u << 22)
#define ROWS_MAX     (STACK_ROWS_PAGE_WORDS - 1) /* of a block */
#define RULE_COMPLEX 1

/* From this offset in the file on the rule is in force. */
struct change {
	uint64_t offset;
	uint32_t rule;
};

struct changes {
	VEC(struct change) all;
};

static void changes_fini(struct changes *c)
{
	vec_fini(&c->all);
}

static uint32_t rule_number(struct row_pack_rules *r, const struct stack_rule *rule)
{
	uint32_t id = intern_find(r->seen, (const char *)rule, sizeof(*rule));

	if (id != UINT32_MAX)
		return id - 1;
	if (r->n == STACK_ROWS_RULES_MAX)
		return RULE_COMPLEX;
	id = intern_add(r->seen, (const char *)rule, sizeof(*rule));
	r->at[id - 1] = *rule;
	r->n++;
	return id - 1;
}

void row_pack_rules_init(struct row_pack_rules *r, struct stack_rule *at)
{
	*r = (struct row_pack_rules){ .seen = intern_new(), .at = at };
	rule_number(r, &(struct stack_rule){ .kind = STACK_RULE_NONE });
	rule_number(r, &(struct stack_rule){ .kind = STACK_RULE_COMPLEX });
}

void row_pack_rules_fini(struct row_pack_rules *r)
{
	intern_free(r->seen);
	r->seen = NULL;
}

void row_pack_fini(struct row_pack *p)
{
	vec_fini(&p->words);
}

static uint8_t rule_register(const struct abi *abi, unsigned reg)
{
	if (reg == abi->sp)
		return STACK_RULE_SP;
	for (uint8_t i = 1; i < ABI_N_SAVES; i++)
		if (abi->saves[i] == reg)
			return i;
	return (uint8_t)(STACK_RULE_OTHER + reg);
}

static uint32_t rule_of(struct row_pack_rules *rules, const struct abi *abi,
			const struct cfa_row *row)
{
	struct stack_rule r = { .kind = (uint8_t)row->kind };

	/* What the other kinds have besides is not looked at: let them be equal. */
	if (row->kind >= CFA_ROW_CFA && row->kind <= CFA_ROW_PLT) {
		r.offset = row->offset;
		r.reg = rule_register(abi, row->reg);
		memcpy(r.save, row->save, sizeof(r.save));
	}
	return rule_number(rules, &r);
}

/* What is in force where the tables say nothing. */
static uint32_t rule_of_gap(struct row_pack_rules *rules,
			    const struct unwind_image *image, uint64_t vaddr)
{
	struct stack_rule r = { .kind = STACK_RULE_NONE };

	if (unwind_image_is_hole(image, vaddr))
		r.kind = STACK_RULE_FRAME;
	return rule_number(rules, &r);
}

/* The rows by offset in the file.  What is in no segment is not there. */
static int collect(struct changes *c, const struct row_table *t,
		   const struct unwind_image *image, struct row_pack_rules *rules,
		   struct err *e)
{
	const struct abi *abi = abi_of(row_table_arch(t));
	uint64_t base = row_table_base(t), offset = 0, last = 0;
	size_t n;
	const struct cfa_row *rows = row_table_rows(t, &n);

	for (size_t i = 0; i < n; i++) {
		uint64_t vaddr = base + rows[i].pc;
		bool is_gap = rows[i].kind == CFA_ROW_NONE;

		if (is_gap && i)
			offset += rows[i].pc - rows[i - 1].pc;
		else if (!unwind_image_file_offset(image, vaddr, &offset))
			continue;
		if (c->all.n && offset <= last)
			return err_set(e, ERR_UNSUPPORTED, "segments out of order");
		last = offset;
		*vec_push(&c->all) =
			(struct change){ .offset = offset,
					 .rule = is_gap ? rule_of_gap(rules, image, vaddr)
							: rule_of(rules, abi, &rows[i]) };
	}
	return 0;
}

static uint64_t block_of(uint64_t offset)
{
	return offset >> STACK_ROWS_BLOCK_SHIFT;
}

/* Room for n words in one page, behind what is there. */
static uint32_t *add_words(struct row_pack *p, size_t *at, size_t n, uint32_t *ret_entry)
{
	size_t left = STACK_ROWS_PAGE_WORDS - *at % STACK_ROWS_PAGE_WORDS;

	if (n > left)
		*at += left;
	while (p->words.n < *at + n)
		*vec_push(&p->words) = 0;
	*ret_entry = STACK_ROWS_ENTRY(*at / STACK_ROWS_PAGE_WORDS,
				      *at % STACK_ROWS_PAGE_WORDS);
	*at += n;
	return p->words.at + *at - n;
}

/* Rows of a block: changes [from, to), begun by the rule that is in force before. */
static void add_block(struct row_pack *p, size_t *at, uint64_t block, uint32_t before,
		      const struct change *from, const struct change *to)
{
	size_t n = (size_t)(to - from);
	bool has_start = n && from->offset == block << STACK_ROWS_BLOCK_SHIFT;
	uint32_t entry, *words;

	/* Nobody's code changes its rules at every byte. */
	if (n + !has_start > ROWS_MAX) {
		before = RULE_COMPLEX;
		n = 0;
		has_start = false;
	}
	words = add_words(p, at, 1 + n + !has_start, &entry);
	*words++ = (uint32_t)n + !has_start;
	if (!has_start)
		*words++ = STACK_ROWS_ROW(before, 0);
	for (size_t i = 0; i < n; i++)
		*words++ = STACK_ROWS_ROW(from[i].rule, (uint32_t)from[i].offset);
	p->words.at[block - p->first_block] = entry;
}

static void add_blocks(struct row_pack *p, const struct changes *c)
{
	size_t at = (size_t)p->n_index_pages * STACK_ROWS_PAGE_WORDS, i = 0;
	uint32_t before = 0;

	for (uint64_t b = p->first_block; b < p->first_block + p->n_blocks; b++) {
		size_t from = i;

		while (i < c->all.n && block_of(c->all.at[i].offset) == b)
			i++;
		if (i > from || before)
			add_block(p, &at, b, before, c->all.at + from, c->all.at + i);
		if (i > from)
			before = c->all.at[i - 1].rule;
	}
	while (p->words.n % STACK_ROWS_PAGE_WORDS)
		*vec_push(&p->words) = 0;
}

int row_pack_build(const struct row_table *t, const struct unwind_image *image,
		   struct row_pack_rules *rules, struct row_pack *ret, struct err *e)
{
	own(changes_fini) struct changes c = { 0 };
	struct row_pack p = { 0 };
	int rc = collect(&c, t, image, rules, e);

	if (rc < 0)
		return rc;
	if (!c.all.n) {
		*ret = p;
		return 0;
	}

	uint64_t first = block_of(c.all.at[0].offset);
	uint64_t n = block_of(c.all.at[c.all.n - 1].offset) - first + 1;

	if (first + n > BLOCKS_MAX)
		return err_set(e, ERR_LIMIT, "code beyond 16 GB of the file");
	p.first_block = (uint32_t)first;
	p.n_blocks = (uint32_t)n;
	p.n_index_pages =
		(uint32_t)((n + STACK_ROWS_PAGE_WORDS - 1) / STACK_ROWS_PAGE_WORDS);
	for (size_t i = 0; i < (size_t)p.n_index_pages * STACK_ROWS_PAGE_WORDS; i++)
		*vec_push(&p.words) = 0;
	add_blocks(&p, &c);
	if (row_pack_n_pages(&p) > STACK_ROWS_POOLS_MAX * STACK_ROWS_POOL_PAGES / 2) {
		row_pack_fini(&p);
		return err_set(e, ERR_LIMIT, "too many unwind rows");
	}
	*ret = p;
	return 0;
}

void row_pack_move(struct row_pack *p, uint32_t first_page)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->words.at[i])
			p->words.at[i] += first_page << 16;
}
