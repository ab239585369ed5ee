/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/row_table.h"

#include "base/mem.h"
#include "unwind/unwind_image.h"

/* A good file's programs are each run once; one whose index names the same program again
 * and again would cost quadratic time. */
#define WORK_FACTOR 8
#define MAX_ROWS    (1u << 26)

static const struct cfa_row no_row = { .kind = CFA_ROW_NONE };

struct row_table {
	enum unwind_arch arch;
	uint64_t base;
	size_t n;
	struct cfa_row *rows;
};

/* Rows with full addresses while building; each ends where the next starts. */
struct wide_row {
	uint64_t start;
	struct cfa_row row;
};

struct rows {
	struct wide_row *at;
	size_t n, cap;
	uint64_t end; /* of what was added so far */
	const struct cfi_section *section;
	const struct unwind_image_fde *fde; /* being added */
};

static void rows_fini(struct rows *r)
{
	free(r->at);
}

/* Neighbours with the same rules become one. */
static void add_row(struct rows *r, uint64_t start, const struct cfa_row *row)
{
	if (r->n && cfa_row_is_same(&r->at[r->n - 1].row, row))
		return;
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 1024;
		r->at = xrealloc(r->at, r->cap, sizeof(*r->at));
	}
	r->at[r->n++] = (struct wide_row){ start, *row };
}

static void close_gap(struct rows *r, uint64_t start)
{
	if (r->n && r->end < start)
		add_row(r, r->end, &no_row);
}

static bool visit_row(void *ctx, uint64_t start, uint64_t end,
		      const struct cfa_rules *rules)
{
	struct rows *r = ctx;
	const struct unwind_image_fde *f = r->fde;

	if (start >= f->end)
		return false;
	if (end <= f->start)
		return true;
	start = start < f->start ? f->start : start;

	struct cfa_row row = cfa_row_from(r->section, &f->fde, rules);

	close_gap(r, start);
	add_row(r, start, &row);
	r->end = end < f->end ? end : f->end;
	return true;
}

static int add_table(struct rows *r, const struct unwind_image *image, size_t table,
		     struct err *e)
{
	uint64_t work = 0;

	r->section = unwind_image_section(image, table);
	for (size_t i = 0; i < unwind_image_n_fdes(image, table); i++) {
		struct unwind_image_fde f;

		if (!unwind_image_fde(image, table, i, &f))
			continue;
		work += f.fde.program.size;
		if (work / WORK_FACTOR > r->section->size || r->n > MAX_ROWS)
			return err_set(e, ERR_LIMIT,
				       "unwind index names code repeatedly");
		/* cppcheck-suppress autoVariables ; used while its rows are walked */
		r->fde = &f;
		cfa_program_rows(r->section, &f.fde, visit_row, r);
	}
	if (r->n)
		add_row(r, r->end, &no_row);
	return 0;
}

/* Cursor over rows: what is in force at increasing addresses. */
static const struct cfa_row *in_force(const struct rows *r, size_t *i, uint64_t addr)
{
	while (*i < r->n && r->at[*i].start <= addr)
		++*i;
	return *i ? &r->at[*i - 1].row : &no_row;
}

static uint64_t next_start(const struct rows *r, size_t i)
{
	return i < r->n ? r->at[i].start : UINT64_MAX;
}

/* a's rules, and b's where a has none. */
static void merge(const struct rows *a, const struct rows *b, struct rows *ret)
{
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		uint64_t x = next_start(a, i), y = next_start(b, k), at = x < y ? x : y;
		const struct cfa_row *row = in_force(a, &i, at);
		const struct cfa_row *other = in_force(b, &k, at);

		add_row(ret, at, row->kind == CFA_ROW_NONE ? other : row);
	}
}

/* rows are given away with their array. */
static int take_rows(enum unwind_arch arch, uint64_t base, struct cfa_row **rows,
		     size_t n, struct row_table **ret, struct err *e)
{
	struct row_table *t;

	for (size_t i = 0; i < n; i++)
		if (i ? (*rows)[i - 1].pc >= (*rows)[i].pc : (*rows)[i].pc != 0)
			return err_set(e, ERR_FORMAT, "unwind rows out of order");
	if (n > MAX_ROWS)
		return err_set(e, ERR_LIMIT, "too many unwind rows");
	if (n && base + (*rows)[n - 1].pc < base)
		return err_set(e, ERR_FORMAT, "unwind rows beyond the address space");
	t = xcalloc(1, sizeof(*t));
	*t = (struct row_table){
		.arch = arch, .base = base, .n = n, .rows = steal(rows)
	};
	*ret = t;
	return 0;
}

static int narrow(const struct rows *r, enum unwind_arch arch, struct row_table **ret,
		  struct err *e)
{
	uint64_t base = r->n ? r->at[0].start : 0;
	own(freep) struct cfa_row *rows = xcalloc(r->n + 1, sizeof(*rows));

	if (r->n && r->at[r->n - 1].start - base > UINT32_MAX)
		return err_set(e, ERR_LIMIT, "code of more than 4 GB");
	for (size_t i = 0; i < r->n; i++) {
		rows[i] = r->at[i].row;
		rows[i].pc = (uint32_t)(r->at[i].start - base);
	}
	return take_rows(arch, base, &rows, r->n, ret, e);
}

/* Nearly all files have one table, and that is not copied. */
static void add_rows(struct rows *all, struct rows *more)
{
	struct rows merged = { 0 };

	if (all->n) {
		merge(all, more, &merged);
	} else {
		merged = *more;
		*more = (struct rows){ 0 };
	}
	rows_fini(all);
	*all = merged;
}

int row_table_build(const struct unwind_image *image, struct row_table **ret,
		    struct err *e)
{
	own(rows_fini) struct rows all = { 0 };

	for (size_t t = 0; t < unwind_image_n_tables(image); t++) {
		own(rows_fini) struct rows r = { 0 };
		int rc = add_table(&r, image, t, e);

		if (rc < 0)
			return rc;
		add_rows(&all, &r);
	}
	return narrow(&all, unwind_image_arch(image), ret, e);
}

int row_table_new(enum unwind_arch arch, uint64_t base, const struct cfa_row *rows,
		  size_t n, struct row_table **ret, struct err *e)
{
	own(freep) struct cfa_row *copy = NULL;

	if (n > MAX_ROWS)
		return err_set(e, ERR_LIMIT, "too many unwind rows");
	copy = xcalloc(n + 1, sizeof(*copy));
	if (n)
		memcpy(copy, rows, n * sizeof(*rows));
	return take_rows(arch, base, &copy, n, ret, e);
}

void row_table_free(struct row_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t);
}

void row_table_freep(struct row_table **t)
{
	row_table_free(*t);
}

enum unwind_arch row_table_arch(const struct row_table *t)
{
	return t->arch;
}

const struct cfa_row *row_table_rows(const struct row_table *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->rows;
}

uint64_t row_table_base(const struct row_table *t)
{
	return t->base;
}

const struct cfa_row *row_table_find(const struct row_table *t, uint64_t vaddr)
{
	uint64_t off = vaddr - t->base;
	size_t lo = 0, hi = t->n;

	if (vaddr < t->base)
		return &no_row;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].pc <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &t->rows[lo - 1] : &no_row;
}
