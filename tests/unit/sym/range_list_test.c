/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "sym/debug_file.h"
#include "sym/range_list.h"

/* Addresses by index: 0x2000, 0x2100, 0x3000. */
static const uint8_t addresses[] = { 0, 0x20, 0, 0, 0, 0,    0, 0, 0, 0x21, 0, 0,
				     0, 0,    0, 0, 0, 0x30, 0, 0, 0, 0,    0, 0 };

struct list {
	struct debug_file file;
	struct debug_unit unit;
	struct buf text;
	size_t limit; /* ranges wanted, 0 all */
};

static void make(struct list *l, unsigned version, const char *bytes, size_t size)
{
	enum debug_section section = version < 5 ? DEBUG_RANGES : DEBUG_RNGLISTS;

	*l = (struct list){ .file = { .code_start = 0x1000 },
			    .unit = { .version = (uint16_t)version,
				      .low_pc = 0x1000,
				      .sizes = { .address = 8, .offset = 4 } } };
	l->unit.file = &l->file;
	l->file.sections[section] = (struct object_bytes){ (const uint8_t *)bytes, size };
	l->file.sections[DEBUG_ADDR] =
		(struct object_bytes){ addresses, sizeof(addresses) };
}

static bool note(void *ctx, uint64_t start, uint64_t end)
{
	struct list *l = ctx;

	buf_printf(&l->text, "%llx-%llx ", (unsigned long long)start,
		   (unsigned long long)end);
	return !l->limit || --l->limit > 0;
}

static void expect(struct list *l, uint64_t value, bool is_index, const char *want)
{
	range_list_each(&l->unit, value, is_index, note, l);
	assert_string_equal(buf_str(&l->text), want);
	buf_fini(&l->text);
}

static void every_entry_of_dwarf_5_gives_its_range(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *want;
	} t[] = {
		{ "\4\x10\x20\0", 4, "1010-1020 " }, /* from the unit's low pc */
		{ "\1\1\4\x10\x20\0", 6, "2110-2120 " },
		{ "\5\0\x50\0\0\0\0\0\0\4\1\2\0", 13, "5001-5002 " },
		{ "\2\0\1\0", 4, "2000-2100 " },
		{ "\3\2\x10\0", 4, "3000-3010 " },
		{ "\6\0\x40\0\0\0\0\0\0\x80\x40\0\0\0\0\0\0\0", 18, "4000-4080 " },
		{ "\7\0\x40\0\0\0\0\0\0\x10\0", 11, "4000-4010 " },
		{ "\4\1\2\3\2\x10\0\4\1\2", 10, "1001-1002 3000-3010 " },
		/* what the linker left out, what is empty and what is cut */
		{ "\7\0\0\0\0\0\0\0\0\x10\3\2\x10\0", 14, "3000-3010 " },
		{ "\4\x10\x10\3\2\x10\0", 7, "3000-3010 " },
		{ "\3\2", 2, "" },
		{ "\3\x63\x10\0", 4, "" }, /* an address that is not there */
		{ "\x7f\3\2\x10\0", 5, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct list l;

		make(&l, 5, t[i].bytes, t[i].size);
		expect(&l, 0, false, t[i].want);
	}
}

static void a_list_may_be_named_by_its_index(void **state)
{
	static const char bytes[] = "\x08\0\0\0\x0b\0\0\0\4\1\2\4\3\4\0";
	struct list l;

	(void)state;
	make(&l, 5, bytes, sizeof(bytes) - 1);
	expect(&l, 1, true, "1003-1004 ");
	expect(&l, 99, true, "");
	expect(&l, UINT64_MAX, true, "");
}

static void older_ranges_are_pairs_of_addresses(void **state)
{
	static const char bytes[] = "\x10\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0"
				    "\xff\xff\xff\xff\xff\xff\xff\xff"
				    "\0\x50\0\0\0\0\0\0" /* a new base */
				    "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				    "\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0";
	struct list l;

	(void)state;
	make(&l, 4, bytes, sizeof(bytes) - 1);
	expect(&l, 0, false, "1010-1020 5001-5002 ");
	expect(&l, 32, false, "1001-1002 ");
	expect(&l, 48, false, "");
	expect(&l, 64, false, "1003-1004 "); /* cut: the section ends it */
	expect(&l, sizeof(bytes) + 9, false, "");
}

static void addresses_of_32_bits_are_read(void **state)
{
	static const char bytes[] = "\x10\0\0\0\x20\0\0\0\xff\xff\xff\xff\0\x50\0\0"
				    "\1\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0";
	struct list l;

	(void)state;
	make(&l, 4, bytes, sizeof(bytes) - 1);
	l.unit.sizes.address = 4;
	expect(&l, 0, false, "1010-1020 5001-5002 ");
}

static void whoever_has_enough_ends_it(void **state)
{
	static const char bytes[] = "\4\1\2\4\3\4\4\5\6\0";
	struct list l;

	(void)state;
	make(&l, 5, bytes, sizeof(bytes) - 1);
	l.limit = 2;
	expect(&l, 0, false, "1001-1002 1003-1004 ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_of_dwarf_5_gives_its_range),
		cmocka_unit_test(a_list_may_be_named_by_its_index),
		cmocka_unit_test(older_ranges_are_pairs_of_addresses),
		cmocka_unit_test(addresses_of_32_bits_are_read),
		cmocka_unit_test(whoever_has_enough_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
