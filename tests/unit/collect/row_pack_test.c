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
#include "unwind/unwind_image.h"

struct packed {
	struct unwind_image *image;
	struct row_table *table;
	struct stack_rule *rules;
	struct row_pack_rules set;
	struct row_pack pack;
};

static void packed_free(struct packed *p)
{
	row_pack_fini(&p->pack);
	row_pack_rules_fini(&p->set);
	free(p->rules);
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
	p.rules = xcalloc(STACK_ROWS_RULES_MAX, sizeof(*p.rules));
	row_pack_rules_init(&p.set, p.rules);
	assert_int_equal(row_pack_build(p.table, p.image, &p.set, &p.pack, &e), 0);
	*ret = p;
	return true;
}

/* As the header says that it is to be read, and no cleverer. */
static const struct stack_rule *look_up(const struct packed *p, uint32_t first_page,
					uint64_t offset)
{
	uint64_t block = (offset >> STACK_ROWS_BLOCK_SHIFT) - p->pack.first_block;
	uint32_t entry, rule = 0;
	const uint32_t *rows;

	if (block >= p->pack.n_blocks)
		return &p->rules[0];
	entry = p->pack.words.at[block];
	if (!entry)
		return &p->rules[0];
	rows = p->pack.words.at +
	       (size_t)((entry >> 16) - first_page) * STACK_ROWS_PAGE_WORDS +
	       (entry & 0xffff);
	assert_true((entry & 0xffff) + rows[0] < STACK_ROWS_PAGE_WORDS);
	assert_int_equal(rows[1] & 0xffff, 0);
	for (uint32_t i = 1; i <= rows[0]; i++)
		if ((rows[i] & 0xffff) <= (offset & (STACK_ROWS_BLOCK_BYTES - 1)))
			rule = rows[i] >> 16;
	return &p->rules[rule];
}

static void expect_same(const struct abi *abi, const struct cfa_row *row,
			const struct stack_rule *rule)
{
	if (row->kind == CFA_ROW_NONE) {
		assert_true(rule->kind == STACK_RULE_NONE ||
			    rule->kind == STACK_RULE_FRAME);
		return;
	}
	assert_int_equal(rule->kind, row->kind);
	if (row->kind < CFA_ROW_CFA || row->kind > CFA_ROW_PLT)
		return;
	assert_int_equal(rule->offset, row->offset);
	assert_memory_equal(rule->save, row->save, sizeof(rule->save));
	if (rule->reg == STACK_RULE_SP)
		assert_int_equal(row->reg, abi->sp);
	else if (rule->reg < STACK_RULE_OTHER)
		assert_int_equal(row->reg, abi->saves[rule->reg]);
	else
		assert_int_equal(row->reg, rule->reg - STACK_RULE_OTHER);
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
		expect_same(abi, &rows[i], look_up(p, first_page, offset));
		if (i && rows[i - 1].kind != CFA_ROW_NONE)
			expect_same(abi, &rows[i - 1],
				    look_up(p, first_page, offset - 1));
	}
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
			row_pack_move(&p.pack, 77);
			expect_all_same(&p, 77);
			packed_free(&p);
			n_packed++;
		}
		globfree(&found);
	}
	assert_true(n_packed >= 2);
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

static void rules_beyond_the_last_number_are_complex(unused void **state)
{
	struct stack_rule *rules = xcalloc(STACK_ROWS_RULES_MAX, sizeof(*rules));
	struct row_pack_rules set;
	struct packed p;
	struct row_pack pack = { 0 };
	struct err e;

	assert_true(pack_file("/proc/self/exe", &p));
	row_pack_rules_init(&set, rules);
	set.n = STACK_ROWS_RULES_MAX;
	assert_int_equal(row_pack_build(p.table, p.image, &set, &pack, &e), 0);
	for (uint32_t i = 0; i < pack.n_blocks; i++) {
		const uint32_t *rows =
			pack.words.at +
			(size_t)(pack.words.at[i] >> 16) * STACK_ROWS_PAGE_WORDS +
			(pack.words.at[i] & 0xffff);

		if (pack.words.at[i])
			for (uint32_t k = 1; k <= rows[0]; k++)
				assert_true(rules[rows[k] >> 16].kind ==
						    STACK_RULE_COMPLEX ||
					    rules[rows[k] >> 16].kind == STACK_RULE_NONE);
	}
	row_pack_fini(&pack);
	row_pack_rules_fini(&set);
	free(rules);
	packed_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_say_what_the_tables_say),
		cmocka_unit_test(a_row_takes_four_bytes),
		cmocka_unit_test(rules_beyond_the_last_number_are_complex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
