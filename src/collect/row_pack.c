/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/row_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "unwind/abi.h"
#include "unwind/gap_rows.h"
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
_Static_assert(STACK_ROWS_N_SAVES == ABI_N_SAVES && STACK_RULE_EXTRA == CFA_ROW_EXTRA,
	       "one order of saved registers");

#define ROWS_MAX   (STACK_ROWS_PAGE_WORDS - 1) /* of a block, or of a part of one */
#define PART_BYTES (1u << STACK_ROWS_PART_SHIFT)
/* Compiled rows whose rules' numbers are remembered; a power of two. */
#define N_RECENT 512
/* Of code in gaps, of a file: libraries have up to 20 KB of it, and it takes time. */
#define GAPS_MAX_BYTES (128u << 10)
#define HASH_FACTOR    UINT64_C(0x9e3779b97f4a7c15)

_Static_assert(PART_BYTES <= ROWS_MAX, "a row a byte fits");

/* From this offset in the file on the rule is in force. */
struct change {
	uint64_t offset;
	uint32_t rule;
};

/* A compiled row's rule has this number. */
struct recent {
	struct cfa_row row;
	bool is_used;
	uint32_t rule;
};

struct changes {
	VEC(struct change) all;
	struct unwind_image *image;
	const struct abi *abi;
	struct row_pack_rules *rules;
	uint64_t gap_bytes; /* that were looked at */
	struct recent recent[N_RECENT];
};

static void changes_fini(struct changes *c)
{
	vec_fini(&c->all);
}

uint32_t row_pack_rules_number(struct row_pack_rules *r, const struct stack_rule *rule)
{
	uint32_t id = intern_find(r->seen, (const char *)rule, sizeof(*rule));

	if (id != UINT32_MAX)
		return id - 1;
	if (r->n == STACK_ROWS_RULES_MAX)
		return ROW_PACK_RULE_COMPLEX;
	id = intern_add(r->seen, (const char *)rule, sizeof(*rule));
	r->at[id - 1] = *rule;
	r->n++;
	return id - 1;
}

void row_pack_rules_init(struct row_pack_rules *r, struct stack_rule *at)
{
	*r = (struct row_pack_rules){ .seen = intern_new(), .at = at };
	row_pack_rules_number(r, &(struct stack_rule){ .kind = STACK_RULE_NONE });
	row_pack_rules_number(r, &(struct stack_rule){ .kind = STACK_RULE_COMPLEX });
}

void row_pack_rules_take(struct row_pack_rules *r, struct stack_rule *at)
{
	row_pack_rules_init(r, at);
	while (r->n < STACK_ROWS_RULES_MAX && at[r->n].kind != STACK_RULE_NONE) {
		const struct stack_rule rule = at[r->n];

		/* Half of one that nobody uses yet may be the same as another. */
		if (intern_find(r->seen, (const char *)&rule, sizeof(rule)) != UINT32_MAX)
			break;
		row_pack_rules_number(r, &rule);
	}
	memset(at + r->n, 0, (STACK_ROWS_RULES_MAX - r->n) * sizeof(*at));
}

void row_pack_rules_fini(struct row_pack_rules *r)
{
	intern_free(r->seen);
	r->seen = NULL;
}

void row_pack_fini(struct row_pack *p)
{
	vec_fini(&p->rules);
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

static uint32_t rule_of(struct changes *c, const struct cfa_row *row)
{
	struct stack_rule r = { .kind = (uint8_t)row->kind };

	/* What the other kinds have besides is not looked at: let them be equal. */
	if (row->kind >= CFA_ROW_CFA && row->kind <= CFA_ROW_PLT) {
		r.offset = row->offset;
		r.reg = rule_register(c->abi, row->reg);
		memcpy(r.save, row->save, sizeof(r.save));
		if (cfa_row_returns_by_register(c->abi, row))
			r.save[STACK_RULE_EXTRA] = (int8_t)rule_register(
				c->abi, (unsigned)row->save[CFA_ROW_EXTRA]);
	}
	return row_pack_rules_number(c->rules, &r);
}

/* Most rows of a file have one of some hundred rules. */
static uint32_t rule_of_row(struct changes *c, const struct cfa_row *row)
{
	uint64_t bytes;
	uint32_t first;
	struct recent *r;

	memcpy(&first, (const char *)row + sizeof(row->pc), sizeof(first));
	memcpy(&bytes, row->save, sizeof(bytes));
	r = &c->recent[((bytes ^ (uint64_t)first << 13) * HASH_FACTOR >> 32) % N_RECENT];
	if (!r->is_used || !cfa_row_is_same(&r->row, row))
		*r = (struct recent){ .row = *row,
				      .is_used = true,
				      .rule = rule_of(c, row) };
	return r->rule;
}

static void add_change(struct changes *c, uint64_t offset, uint32_t rule)
{
	*vec_push(&c->all) = (struct change){ .offset = offset, .rule = rule };
}

/* Where the tables say nothing: vaddr is at that offset. */
struct gap {
	struct changes *changes;
	uint64_t vaddr, offset;
};

static void add_gap_row(void *ctx, uint64_t vaddr, const struct cfa_row *row)
{
	const struct gap *g = ctx;

	add_change(g->changes, g->offset + vaddr - g->vaddr,
		   rule_of_row(g->changes, row));
}

/* Is what is between in the file, too? */
static bool is_contiguous(const struct gap *g, uint64_t end)
{
	uint64_t offset;

	return unwind_image_file_offset(g->changes->image, end, &offset) &&
	       offset - g->offset == end - g->vaddr;
}

/* least: bytes that are worth it. */
static bool add_gap_rows(struct gap *g, uint64_t end, uint64_t least)
{
	struct changes *c = g->changes;

	if (end - g->vaddr < least || c->gap_bytes + (end - g->vaddr) > GAPS_MAX_BYTES ||
	    !gap_rows(c->image, g->vaddr, end, add_gap_row, g))
		return false;
	c->gap_bytes += end - g->vaddr;
	return true;
}

static void add_unknown(const struct gap *g)
{
	struct changes *c = g->changes;
	struct stack_rule r = { .kind = STACK_RULE_NONE };

	if (unwind_image_is_hole(c->image, g->vaddr))
		r.kind = STACK_RULE_FRAME;
	add_change(c, g->offset, row_pack_rules_number(c->rules, &r));
}

/* Where the tables go on at end. */
static void add_gap(struct gap *g, uint64_t end)
{
	if (!is_contiguous(g, end) || !add_gap_rows(g, end, GAP_ROWS_MIN_BYTES))
		add_unknown(g);
}

/* What is in the segment before the tables begin at end: _init, mostly. */
static void add_front(struct changes *c, uint64_t end)
{
	struct gap g = { .changes = c };
	uint64_t segment_end;

	if (unwind_image_segment(c->image, end, &g.vaddr, &segment_end) &&
	    unwind_image_file_offset(c->image, g.vaddr, &g.offset))
		add_gap_rows(&g, end, 1);
}

/* What is in the segment behind the tables: _fini, mostly. */
static void add_back(struct gap *g)
{
	uint64_t start, end;

	if (unwind_image_segment(g->changes->image, g->vaddr, &start, &end) &&
	    add_gap_rows(g, end, 1)) {
		g->offset += end - g->vaddr;
		g->vaddr = end;
	}
	add_unknown(g);
}

/* The rows by offset in the file.  What is in no segment is not there. */
static int collect(struct changes *c, const struct row_table *t, struct err *e)
{
	uint64_t base = row_table_base(t), offset = 0;
	size_t n;
	const struct cfa_row *rows = row_table_rows(t, &n);

	vec_reserve(&c->all, n);
	if (n)
		add_front(c, base + rows[0].pc);
	for (size_t i = 0; i < n; i++) {
		uint64_t vaddr = base + rows[i].pc;
		bool is_gap = rows[i].kind == CFA_ROW_NONE;

		if (is_gap && i)
			offset += rows[i].pc - rows[i - 1].pc;
		else if (!unwind_image_file_offset(c->image, vaddr, &offset))
			continue;
		if (c->all.n && offset <= c->all.at[c->all.n - 1].offset)
			return err_set(e, ERR_UNSUPPORTED, "segments out of order");
		if (is_gap && i + 1 < n)
			add_gap(&(struct gap){ c, vaddr, offset }, base + rows[i + 1].pc);
		else if (is_gap)
			add_back(&(struct gap){ c, vaddr, offset });
		else
			add_change(c, offset, rule_of_row(c, &rows[i]));
	}
	return 0;
}

static uint64_t block_of(uint64_t offset)
{
	return offset >> STACK_ROWS_BLOCK_SHIFT;
}

/* Changes that are left, and the rule in force before them. */
struct rest {
	const struct change *at, *end;
	uint32_t rule;
};

/* Of a pack that is being built. */
struct building {
	struct row_pack *pack;
	size_t at; /* the next free word */
};

/* Room for n words in one page, behind what is there. */
static uint32_t *add_words(struct building *b, size_t n, uint32_t *ret_entry)
{
	size_t left = STACK_ROWS_PAGE_WORDS - b->at % STACK_ROWS_PAGE_WORDS;

	if (n > left)
		b->at += left;
	while (b->pack->words.n < b->at + n)
		*vec_push(&b->pack->words) = 0;
	*ret_entry = STACK_ROWS_ENTRY(b->at / STACK_ROWS_PAGE_WORDS,
				      b->at % STACK_ROWS_PAGE_WORDS);
	b->at += n;
	return b->pack->words.at + b->at - n;
}

static size_t n_before(const struct rest *r, uint64_t end)
{
	const struct change *c = r->at;

	while (c < r->end && c->offset < end)
		c++;
	return (size_t)(c - r->at);
}

/* The rows of [start, end), of which there are not too many.  Returns where they are. */
static uint32_t add_rows(struct building *b, struct rest *r, uint64_t start, uint64_t end)
{
	size_t n = n_before(r, end);
	bool has_start = n && r->at->offset == start;
	uint32_t entry, *words = add_words(b, 1 + n + !has_start, &entry);

	*words++ = (uint32_t)n + !has_start;
	if (!has_start)
		*words++ = STACK_ROWS_ROW(r->rule, (uint32_t)start);
	for (size_t i = 0; i < n; i++)
		*words++ = STACK_ROWS_ROW(r->at[i].rule, (uint32_t)r->at[i].offset);
	if (n)
		r->rule = r->at[n - 1].rule;
	r->at += n;
	return entry;
}

static uint32_t add_parts(struct building *b, struct rest *r, uint64_t start)
{
	uint32_t entry, part;
	size_t at;

	add_words(b, STACK_ROWS_PARTS, &entry);
	at = b->at - STACK_ROWS_PARTS;
	for (uint32_t i = 0; i < STACK_ROWS_PARTS; i++, start += PART_BYTES) {
		part = add_rows(b, r, start, start + PART_BYTES);
		b->pack->words.at[at + i] = part;
	}
	return entry | STACK_ROWS_SPLIT;
}

static uint32_t add_block(struct building *b, struct rest *r, uint64_t block)
{
	uint64_t start = block << STACK_ROWS_BLOCK_SHIFT;
	uint64_t end = start + STACK_ROWS_BLOCK_BYTES;
	size_t n = n_before(r, end);

	if (!n && r->rule == ROW_PACK_RULE_NONE)
		return 0;
	return n < ROWS_MAX ? add_rows(b, r, start, end) : add_parts(b, r, start);
}

static void add_blocks(struct row_pack *p, const struct changes *c)
{
	struct building b = { .pack = p, .at = p->words.n };
	struct rest r = { .at = c->all.at, .end = c->all.at + c->all.n };

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		uint32_t entry = add_block(&b, &r, (uint64_t)p->first_block + i);

		p->words.at[i] = entry;
	}
	while (p->words.n % STACK_ROWS_PAGE_WORDS)
		*vec_push(&p->words) = 0;
}

static int pack(const struct changes *c, struct row_pack *p, struct err *e)
{
	uint64_t first = block_of(c->all.at[0].offset);
	uint64_t n = block_of(c->all.at[c->all.n - 1].offset) - first + 1;

	if (first + n > ROW_PACK_BLOCKS_MAX)
		return err_set(e, ERR_LIMIT, "code beyond 16 GB of the file");
	p->first_block = (uint32_t)first;
	p->n_blocks = (uint32_t)n;
	p->n_index_pages = row_pack_n_index_pages(p->n_blocks);
	vec_reserve(&p->words, n + 2 * c->all.n);
	for (size_t i = 0; i < (size_t)p->n_index_pages * STACK_ROWS_PAGE_WORDS; i++)
		*vec_push(&p->words) = 0;
	add_blocks(p, c);
	if (row_pack_n_pages(p) > ROW_PACK_PAGES_MAX)
		return err_set(e, ERR_LIMIT, "too many unwind rows");
	for (uint32_t i = 0; i < c->rules->n; i++)
		*vec_push(&p->rules) = c->rules->at[i];
	return 0;
}

int row_pack_build(const struct row_table *t, struct unwind_image *image,
		   struct row_pack *ret, struct err *e)
{
	own(freep) struct stack_rule *at = xcalloc(STACK_ROWS_RULES_MAX, sizeof(*at));
	own(row_pack_rules_fini) struct row_pack_rules rules = { 0 };
	own(row_pack_fini) struct row_pack p = { 0 };
	own(changes_fini) struct changes c = { .image = image,
					       .abi = abi_of(row_table_arch(t)),
					       .rules = &rules };
	int rc;

	row_pack_rules_init(&rules, at);
	rc = collect(&c, t, e);
	if (rc == 0 && c.all.n)
		rc = pack(&c, &p, e);
	if (rc < 0)
		return rc;
	*ret = p;
	p = (struct row_pack){ 0 };
	return 0;
}

/* Of a pack: every set of rows, in the order in which they lie. */

static size_t place_of(uint32_t entry)
{
	return (size_t)(entry >> 16) * STACK_ROWS_PAGE_WORDS +
	       entry % STACK_ROWS_PAGE_WORDS;
}

/* n words at a place, behind those before and in one page. */
static const uint32_t *check_words(const struct row_pack *p, size_t *at, uint32_t entry,
				   size_t n)
{
	size_t place = place_of(entry);

	if ((entry & 0xffff & ~(STACK_ROWS_PAGE_WORDS - 1)) || place < *at ||
	    place % STACK_ROWS_PAGE_WORDS + n > STACK_ROWS_PAGE_WORDS ||
	    place + n > p->words.n)
		return NULL;
	*at = place + n;
	return p->words.at + place;
}

static bool check_rows(const struct row_pack *p, size_t *at, uint32_t entry,
		       uint32_t start, uint32_t end)
{
	const uint32_t *words = check_words(p, at, entry, 1);
	size_t n = words ? *words : 0;
	uint32_t next = start;

	if (!n || n > ROWS_MAX || (*words & ~0xffffu))
		return false;
	*at -= 1;
	words = check_words(p, at, entry, 1 + n);
	for (size_t i = 1; words && i <= n; i++) {
		uint32_t pc = words[i] & 0xffff;

		if ((i == 1 ? pc != start : pc < next) || pc >= end ||
		    words[i] >> 16 >= p->rules.n)
			return false;
		next = pc + 1;
	}
	return words != NULL;
}

static bool check_entry(const struct row_pack *p, size_t *at, uint32_t entry)
{
	const uint32_t *parts;

	if (!(entry & STACK_ROWS_SPLIT))
		return check_rows(p, at, entry, 0, STACK_ROWS_BLOCK_BYTES);
	parts = check_words(p, at, entry & ~STACK_ROWS_SPLIT, STACK_ROWS_PARTS);
	for (uint32_t i = 0; parts && i < STACK_ROWS_PARTS; i++)
		if (!check_rows(p, at, parts[i], i * PART_BYTES, (i + 1) * PART_BYTES))
			return false;
	return parts != NULL;
}

static bool check_rule(const struct stack_rule *r)
{
	return r->kind <= STACK_RULE_FRAME && !r->zero[0] && !r->zero[1];
}

static bool check_rules(const struct row_pack *p)
{
	if (p->rules.n <= ROW_PACK_RULE_COMPLEX || p->rules.n > STACK_ROWS_RULES_MAX ||
	    p->rules.at[ROW_PACK_RULE_NONE].kind != STACK_RULE_NONE ||
	    p->rules.at[ROW_PACK_RULE_COMPLEX].kind != STACK_RULE_COMPLEX)
		return false;
	vec_each(r, &p->rules)
		if (!check_rule(r))
			return false;
	return true;
}

static bool check_sizes(const struct row_pack *p)
{
	return p->n_blocks <= ROW_PACK_BLOCKS_MAX &&
	       p->first_block <= ROW_PACK_BLOCKS_MAX - p->n_blocks &&
	       p->n_index_pages == row_pack_n_index_pages(p->n_blocks) &&
	       p->words.n % STACK_ROWS_PAGE_WORDS == 0 &&
	       p->words.n / STACK_ROWS_PAGE_WORDS <= ROW_PACK_PAGES_MAX &&
	       p->words.n / STACK_ROWS_PAGE_WORDS >= p->n_index_pages;
}

int row_pack_check(const struct row_pack *p, struct err *e)
{
	size_t at = (size_t)p->n_index_pages * STACK_ROWS_PAGE_WORDS;

	if (!check_sizes(p) || (p->n_blocks && !check_rules(p)))
		return err_set(e, ERR_FORMAT, "packed unwind rows are damaged");
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->words.at[i] && !check_entry(p, &at, p->words.at[i]))
			return err_set(e, ERR_FORMAT,
				       "packed unwind rows are damaged at block %u", i);
	return 0;
}

static uint32_t *target(const struct row_pack_place *to, size_t place)
{
	return to->page(to->ctx,
			to->first_page + (uint32_t)(place / STACK_ROWS_PAGE_WORDS)) +
	       place % STACK_ROWS_PAGE_WORDS;
}

static void write_rows(const struct row_pack *p, const struct row_pack_place *to,
		       uint32_t entry)
{
	size_t place = place_of(entry);
	const uint32_t *words = p->words.at + place;
	uint32_t *t = target(to, place);

	t[0] = words[0];
	for (uint32_t i = 1; i <= words[0]; i++)
		t[i] = STACK_ROWS_ROW(to->numbers[words[i] >> 16], words[i]);
}

static void write_entry(const struct row_pack *p, const struct row_pack_place *to,
			uint32_t entry)
{
	size_t place = place_of(entry);

	if (!(entry & STACK_ROWS_SPLIT)) {
		write_rows(p, to, entry);
		return;
	}
	for (uint32_t i = 0; i < STACK_ROWS_PARTS; i++) {
		uint32_t part = p->words.at[place + i];

		target(to, place)[i] = part + (to->first_page << 16);
		write_rows(p, to, part);
	}
}

void row_pack_write(const struct row_pack *p, const struct row_pack_place *to)
{
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		uint32_t entry = p->words.at[i];

		*target(to, i) = entry ? entry + (to->first_page << 16) : 0;
		if (entry)
			write_entry(p, to, entry);
	}
}

int row_pack_compile(int fd, const char *name, struct row_pack *ret, struct err *e)
{
	own(unwind_image_freep) struct unwind_image *u = NULL;
	own(row_table_freep) struct row_table *t = NULL;
	int rc = unwind_image_open(fd, name, &u, e);

	if (rc == 0)
		rc = row_table_build(u, &t, e);
	return rc < 0 ? rc : row_pack_build(t, u, ret, e);
}
