/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "base/mem.h"
#include "collect/row_pack.h"
#include "unwind/abi.h"
#include "unwind/unwind_image.h"

struct packed {
	struct unwind_image *image;
	struct row_table *table;
	struct row_pack pack;
};

static void packed_free(struct packed *p)
{
	row_pack_fini(&p->pack);
	row_table_free(p->table);
	unwind_image_free(p->image);
}

static bool pack_file(const char *path, struct packed *ret)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct packed p = { 0 };
	struct err e;

	if (fd < 0)
		return false;
	assert_int_equal(unwind_image_open(fd, path, &p.image, &e), 0);
	assert_int_equal(row_table_build(p.image, &p.table, &e), 0);
	assert_int_equal(row_pack_build(p.table, p.image, &p.pack, &e), 0);
	assert_int_equal(row_pack_check(&p.pack, &e), 0);
	*ret = p;
	return true;
}

static const uint32_t *words_at(const struct row_pack *p, uint32_t first_page,
				uint32_t entry)
{
	return p->words.at +
	       (size_t)((entry >> 16) - first_page) * STACK_ROWS_PAGE_WORDS +
	       entry % STACK_ROWS_PAGE_WORDS;
}

/* As the header says that it is to be read, and no cleverer. */
static const struct stack_rule *look_up(const struct row_pack *p, uint32_t first_page,
					uint64_t offset)
{
	uint64_t block = (offset >> STACK_ROWS_BLOCK_SHIFT) - p->first_block;
	uint32_t entry, rule = 0;
	const uint32_t *rows;

	if (block >= p->n_blocks)
		return &p->rules.at[0];
	entry = p->words.at[block];
	if (!entry)
		return &p->rules.at[0];
	if (entry & STACK_ROWS_SPLIT)
		entry = words_at(p, first_page, entry)[STACK_ROWS_PART(offset)];
	rows = words_at(p, first_page, entry);
	assert_true((entry & 0xffff) + rows[0] < STACK_ROWS_PAGE_WORDS);
	assert_true((rows[1] & 0xffff) <= (offset & (STACK_ROWS_BLOCK_BYTES - 1)));
	for (uint32_t i = 1; i <= rows[0]; i++)
		if ((rows[i] & 0xffff) <= (offset & (STACK_ROWS_BLOCK_BYTES - 1)))
			rule = rows[i] >> 16;
	return &p->rules.at[rule];
}

static unsigned register_of(const struct abi *abi, uint8_t reg)
{
	if (reg == STACK_RULE_SP)
		return abi->sp;
	return reg < STACK_RULE_OTHER ? abi->saves[reg] : reg - STACK_RULE_OTHER;
}

static void expect_same(const struct abi *abi, const struct cfa_row *row,
			const struct stack_rule *rule)
{
	if (row->kind == CFA_ROW_NONE) {
		/* or what the code itself tells */
		assert_true(rule->kind == STACK_RULE_NONE ||
			    rule->kind == STACK_RULE_FRAME ||
			    rule->kind == STACK_RULE_CFA);
		return;
	}
	assert_int_equal(rule->kind, row->kind);
	if (row->kind < CFA_ROW_CFA || row->kind > CFA_ROW_PLT)
		return;
	assert_int_equal(rule->offset, row->offset);
	assert_int_equal(row->reg, register_of(abi, rule->reg));
	assert_memory_equal(rule->save, row->save, STACK_RULE_EXTRA);
	if (cfa_row_returns_by_register(abi, row))
		assert_int_equal(row->save[STACK_RULE_EXTRA],
				 register_of(abi, (uint8_t)rule->save[STACK_RULE_EXTRA]));
	else
		assert_int_equal(row->save[STACK_RULE_EXTRA],
				 rule->save[STACK_RULE_EXTRA]);
}

static void expect_all_same(const struct packed *p, uint32_t first_page)
{
	const struct abi *abi = abi_of(row_table_arch(p->table));
	size_t n;
	const struct cfa_row *rows = row_table_rows(p->table, &n);

	for (size_t i = 0; i < n; i++) {
		uint64_t vaddr = row_table_base(p->table) + rows[i].pc, offset;

		if (!unwind_image_file_offset(p->image, vaddr, &offset))
			continue;
		expect_same(abi, &rows[i], look_up(&p->pack, first_page, offset));
		if (i && rows[i - 1].kind != CFA_ROW_NONE)
			expect_same(abi, &rows[i - 1],
				    look_up(&p->pack, first_page, offset - 1));
	}
}

/* Where it is written to: further up in pages, rules numbered backwards. */
struct target {
	struct row_pack pack;
	uint32_t first_page;
};

static uint32_t *target_page(void *ctx, uint32_t page)
{
	struct target *t = ctx;

	assert_true(page >= t->first_page);
	page -= t->first_page;
	assert_true(page < row_pack_n_pages(&t->pack));
	return t->pack.words.at + (size_t)page * STACK_ROWS_PAGE_WORDS;
}

static void write_elsewhere(struct packed *p, uint32_t first_page)
{
	struct row_pack *from = &p->pack;
	struct target t = { .pack = *from, .first_page = first_page };
	uint32_t *numbers = xcalloc(from->rules.n, sizeof(*numbers));
	struct row_pack_place to = { .first_page = first_page,
				     .numbers = numbers,
				     .page = target_page,
				     .ctx = &t };

	t.pack.rules.at = xcalloc(from->rules.n, sizeof(*t.pack.rules.at));
	t.pack.words.at = xcalloc(from->words.n, sizeof(*t.pack.words.at));
	for (size_t i = 0; i < from->rules.n; i++) {
		numbers[i] = (uint32_t)(from->rules.n - 1 - i);
		t.pack.rules.at[numbers[i]] = from->rules.at[i];
	}
	row_pack_write(from, &to);
	free(numbers);
	row_pack_fini(from);
	p->pack = t.pack;
}

static void packs_say_what_the_tables_say(unused void **state)
{
	static const char *const patterns[] = {
		"/lib*/*/libc.so.6",	     "/lib*/ld-linux-*.so.*",
		"/usr/lib/*/libstdc++.so.6", "/usr/lib/*/libcrypto.so.3",
		"/usr/lib/gcc/*/*/cc1",	     "/proc/self/exe",
	};
	size_t n_packed = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct packed p;
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found) != 0)
			continue;
		if (pack_file(found.gl_pathv[0], &p)) {
			assert_true(p.pack.n_blocks > 0);
			expect_all_same(&p, 0);
			packed_free(&p);
			n_packed++;
		}
		globfree(&found);
	}
	assert_true(n_packed >= 2);
}

/* From the C library's crti.o, before the tables and behind them. */
void _init(void);
void _fini(void);
extern const char __executable_start[];

static void code_at_the_ends_of_the_tables_has_rules(unused void **state)
{
	void (*const functions[])(void) = { _init, _fini };
	struct packed p;

	if (ABI_NATIVE->arch != UNWIND_X86_64)
		skip();
	assert_true(pack_file("/proc/self/exe", &p));
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		uint64_t vaddr = (uint64_t)functions[i] - (uint64_t)__executable_start;
		uint64_t offset;

		assert_true(unwind_image_file_offset(p.image, vaddr, &offset));
		assert_int_equal(look_up(&p.pack, 0, offset)->kind, STACK_RULE_CFA);
	}
	packed_free(&p);
}

static void a_row_takes_four_bytes(unused void **state)
{
	struct packed p;
	size_t n;

	assert_true(pack_file("/proc/self/exe", &p));
	row_table_rows(p.table, &n);
	/* One more for each block, its number of rows, its index, and the last page. */
	assert_true(p.pack.words.n <=
		    n + (size_t)p.pack.n_blocks * 3 + 3 * STACK_ROWS_PAGE_WORDS);
	packed_free(&p);
}

/* Rules that change with every so many bytes of this program's code, from its start on.
 */
static void pack_dense(uint32_t step, struct packed *ret)
{
	struct packed p;
	struct row_table *dense;
	struct err e;
	uint64_t base;
	size_t n;
	const struct cfa_row *rows;
	struct cfa_row *all;

	assert_true(pack_file("/proc/self/exe", &p));
	rows = row_table_rows(p.table, &n);
	base = row_table_base(p.table);
	n = 3 * STACK_ROWS_BLOCK_BYTES / step;
	all = xcalloc(n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = rows[1];
		all[i].kind = CFA_ROW_CFA;
		all[i].offset = (int32_t)(8 * (i % 1000));
		all[i].pc = (uint32_t)i * step;
	}
	assert_int_equal(row_table_new(row_table_arch(p.table), base, all, n, &dense, &e),
			 0);
	free(all);
	row_table_free(p.table);
	row_pack_fini(&p.pack);
	p.table = dense;
	assert_int_equal(row_pack_build(p.table, p.image, &p.pack, &e), 0);
	assert_int_equal(row_pack_check(&p.pack, &e), 0);
	*ret = p;
}

static size_t n_split(const struct row_pack *p)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		n += (p->words.at[i] & STACK_ROWS_SPLIT) != 0;
	return n;
}

static void a_block_with_a_row_for_every_byte_has_them_all(unused void **state)
{
	struct packed p;

	for (uint32_t step = 1; step <= 8; step++) {
		pack_dense(step, &p);
		assert_true((n_split(&p.pack) > 0) == (step <= 4));
		expect_all_same(&p, 0);
		write_elsewhere(&p, 99);
		expect_all_same(&p, 99);
		packed_free(&p);
	}
}

static void what_is_written_elsewhere_says_the_same(unused void **state)
{
	struct packed p;

	assert_true(pack_file("/proc/self/exe", &p));
	write_elsewhere(&p, 77);
	expect_all_same(&p, 77);
	packed_free(&p);
}

static void rules_beyond_the_last_number_are_complex(unused void **state)
{
	own(freep) struct stack_rule *at = xcalloc(STACK_ROWS_RULES_MAX, sizeof(*at));
	own(row_pack_rules_fini) struct row_pack_rules rules;
	struct stack_rule rule = { .kind = STACK_RULE_CFA };

	row_pack_rules_init(&rules, at);
	assert_int_equal(rules.at[ROW_PACK_RULE_COMPLEX].kind, STACK_RULE_COMPLEX);
	for (rule.offset = 0; rules.n < STACK_ROWS_RULES_MAX; rule.offset++)
		assert_int_equal(row_pack_rules_number(&rules, &rule), rule.offset + 2);
	assert_int_equal(row_pack_rules_number(&rules, &rule), ROW_PACK_RULE_COMPLEX);
	rule.offset = 7;
	assert_int_equal(row_pack_rules_number(&rules, &rule), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_say_what_the_tables_say),
		cmocka_unit_test(code_at_the_ends_of_the_tables_has_rules),
		cmocka_unit_test(a_row_takes_four_bytes),
		cmocka_unit_test(a_block_with_a_row_for_every_byte_has_them_all),
		cmocka_unit_test(what_is_written_elsewhere_says_the_same),
		cmocka_unit_test(rules_beyond_the_last_number_are_complex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
