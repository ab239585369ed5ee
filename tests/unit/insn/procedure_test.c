/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/procedure.h"

#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

/* All code begins at 0x1000, all tables at 0x2000; what is called there never returns. */
#define CODE  0x1000
#define TABLE 0x2000

struct memory {
	const char *bytes;
	size_t size;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct memory *m = ctx;

	if (address < TABLE || address - TABLE + bytes > m->size)
		return false;
	memcpy(to, m->bytes + (address - TABLE), bytes);
	return true;
}

static bool never_returns(void *ctx, uint64_t function)
{
	(void)ctx;
	return function == TABLE;
}

static const char *const ends[] = { "on",   "branch", "jump", "indirect",
				    "tail", "return", "stop", "lost" };

/* "*1000 branch >2 +1; ?1004 return ^": * the entry, ? unknown ways in and, behind the
 * end, out; ~ guessed; > taken, + on, # of a table, ^ outside. */
static void describe(const struct procedure *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *k = &p->blocks[i];

		buf_printf(b, "%s%s%s%" PRIx64 " %s%s%s", i ? "; " : "",
			   k->is_entry ? "*" : "", k->has_unknown_ways_in ? "?" : "",
			   k->start, ends[k->end_kind],
			   k->has_unknown_ways_out ? "?" : "", k->is_guessed ? "~" : "");
		for (uint32_t w = k->first_out; w < k->first_out + k->n_out; w++) {
			const struct procedure_way *y = &p->ways[w];

			if (y->to == PROCEDURE_OUTSIDE)
				buf_printf(b, " ^");
			else
				buf_printf(b, " %c%" PRIu32, "+>#"[y->kind], y -> to);
		}
	}
	buf_printf(b, "%c", 0);
}

struct expected {
	const char *name, *code;
	size_t size;
	const char *table;
	size_t table_size;
	const char *blocks;
};

#define BYTES(s) s, sizeof(s) - 1

static void check(unsigned machine, const struct expected *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct memory m = { t[i].table, t[i].table_size };
		struct procedure_range r = { CODE, (const uint8_t *)t[i].code,
					     t[i].size };
		struct procedure_options o = { machine,	      &r, 1, CODE, read_memory,
					       never_returns, &m };
		own(procedure_freep) struct procedure *p = NULL;
		struct buf b = { 0 };

		assert_int_equal(procedure_new(&o, &p, NULL), 0);
		describe(p, &b);
		if (strcmp((char *)b.data, t[i].blocks))
			print_message("%s\n", t[i].name);
		assert_string_equal((char *)b.data, t[i].blocks);
		buf_fini(&b);
	}
}

#define CHECK(machine, t) check(machine, t, sizeof(t) / sizeof((t)[0]))

static void x86_is_parted_into_blocks(void **state)
{
	static const struct expected t[] = {
		{ "a branch: test %edi,%edi; je; xor %eax,%eax; ret; mov $1,%eax; ret",
		  BYTES("\x85\xff\x74\x03\x31\xc0\xc3\xb8\x01\0\0\0\xc3"), BYTES(""),
		  "*1000 branch >2 +1; 1004 return ^; 1007 return ^" },
		{ "calls go on: call; ret", BYTES("\xe8\0\0\0\0\xc3"), BYTES(""),
		  "*1000 return ^" },
		{ "but the last one does not: call; nop", BYTES("\xe8\0\0\0\0\x90"),
		  BYTES(""), "*1000 stop ^" },
		{ "nor does one of which it is known", BYTES("\xe8\xfb\x0f\0\0\xc3"),
		  BYTES(""), "*1000 stop ^; ?1005 return ^" },
		{ "jumps elsewhere are tail calls: je; jmp",
		  BYTES("\x0f\x84\0\x10\0\0\xe9\0\x10\0\0"), BYTES(""),
		  "*1000 branch ^ +1; 1006 tail ^" },
		{ "what fills up is no block: ret; nopl (%rax); int3; xor; ret",
		  BYTES("\xc3\x0f\x1f\x00\xcc\x31\xc0\xc3"), BYTES(""),
		  "*1000 return ^; ?1005 return ^" },
		{ "but where something leads through it is: je; nop; ret",
		  BYTES("\x74\x01\x90\xc3"), BYTES(""),
		  "*1000 branch >2 +1; 1002 on +2; 1003 return ^" },
		{ "a jump into the middle: je; mov $...,%eax; ret",
		  BYTES("\x74\x01\xb8\xc3\x90\x90\x90\xc3"), BYTES(""),
		  "*1000 branch >2 +1; 1002 return ^; 1003 return ^" },
		{ "two ways to read that meet: je; mov $0x90909090,%eax; ret",
		  BYTES("\x74\x01\xb8\x90\x90\x90\x90\xc3"), BYTES(""),
		  "*1000 branch >2 +1; 1002 on +3; 1003 on +3; 1007 return ^" },
		{ "a loop: jmp", BYTES("\xeb\xfe"), BYTES(""), "*1000 jump >0" },
		{ "a trap: ud2; ret", BYTES("\x0f\x0b\xc3"), BYTES(""),
		  "*1000 stop ^; ?1002 return ^" },
		{ "it is cut off: nop; mov", BYTES("\x90\xb8\x01"), BYTES(""),
		  "*1000 lost? ^" },
		{ "it runs into what follows: xor %eax,%eax", BYTES("\x31\xc0"),
		  BYTES(""), "*1000 lost ^" },
		{ "nothing", BYTES(""), BYTES(""), "" },
		{ "no instruction", BYTES("\x06\x06"), BYTES(""), "" },
		{ "jmp *%rax", BYTES("\xff\xe0"), BYTES(""), "*1000 indirect? ^" },
		{ "jmp *16(%rdi)", BYTES("\xff\x67\x10"), BYTES(""),
		  "*1000 indirect? ^" },
	};

	(void)state;
	CHECK(EM_X86_64, t);
}

/* cmp $2,%edi; ja; mov %edi,%edi; lea TABLE(%rip),%rax; movslq (%rax,%rdi,4),%rdx; add
 * %rdx,%rax; notrack jmp *%rax; and three blocks. */
#define PIC_SWITCH                                                                       \
	"\x89\xff\x48\x8d\x05\xf2\x0f\0\0\x48\x63\x14\xb8\x48\x01\xd0\x3e\xff\xe0"       \
	"\x31\xc0\xc3\xff\xc0\xc3\xc3"

static void x86_tables_are_found(void **state)
{
	static const struct expected t[] = {
		{ "relative, compared", BYTES("\x83\xff\x02\x77\x19" PIC_SWITCH),
		  BYTES("\x18\xf0\xff\xff\x1b\xf0\xff\xff\x18\xf0\xff\xff\x1e\xf0\xff"
			"\xff"),
		  "*1000 branch >4 +1; 1005 indirect #2 #3; 1018 return ^; 101b return ^;"
		  " 101e return ^" },
		{ "relative, of unknown length", BYTES("\x0f\x1f\x44\x00\x00" PIC_SWITCH),
		  BYTES("\x18\xf0\xff\xff\x1b\xf0\xff\xff\xff\xf0\xff\xff\x1e\xf0\xff"
			"\xff"),
		  "*1000 indirect~ #1 #2; 1018 return ^; 101b return ^; ?101e return ^" },
		{ "that cannot be read", BYTES("\x83\xff\x02\x77\x19" PIC_SWITCH),
		  BYTES("\x18\xf0\xff\xff"),
		  "*1000 branch >4 +1; 1005 indirect? ^; ?1018 return ^; ?101b return ^;"
		  " 101e return ^" },
		{ "absolute: cmp $1,%edi; ja; jmp *TABLE(,%rdi,8); ret; ret; ret",
		  BYTES("\x83\xff\x01\x77\x09\xff\x24\xfd\x00\x20\0\0\xc3\xc3\xc3"),
		  BYTES("\x0c\x10\0\0\0\0\0\0\x0d\x10\0\0\0\0\0\0"),
		  "*1000 branch >4 +1; 1005 indirect #2 #3; 100c return ^; 100d return ^;"
		  " 100e return ^" },
		{ "partly to elsewhere",
		  BYTES("\x83\xff\x01\x77\x09\xff\x24\xfd\x00\x20\0\0\xc3\xc3\xc3"),
		  BYTES("\x0c\x10\0\0\0\0\0\0\x00\x50\0\0\0\0\0\0"),
		  "*1000 branch >4 +1; 1005 indirect ^ #2; 100c return ^; ?100d return ^;"
		  " 100e return ^" },
		{ "with the index on the stack, as without optimization",
		  BYTES("\x83\x7d\xec\x01\x77\x26\x8b\x45\xec\x48\x8d\x14\x85\0\0\0\0"
			"\x48\x8d\x05\xe8\x0f\0\0\x8b\x04\x02\x48\x98"
			"\x48\x8d\x15\xdc\x0f\0\0\x48\x01\xd0\x3e\xff\xe0\xc3\xc3\xc3"),
		  BYTES("\x2a\xf0\xff\xff\x2b\xf0\xff\xff"),
		  "*1000 branch >4 +1; 1006 indirect #2 #3; 102a return ^; 102b return ^;"
		  " 102c return ^" },
		{ "of an interpreter: lea TABLE(%rip),%rdx; movzbl (%rdi),%eax; "
		  "jmp *(%rdx,%rax,8); inc %rdi; jmp; ret",
		  BYTES("\x48\x8d\x15\xf9\x0f\0\0\x0f\xb6\x07\xff\x24\xc2\x48\xff\xc7"
			"\xeb\xf5\xc3"),
		  BYTES("\x0d\x10\0\0\0\0\0\0\x12\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		  "*1000 on +1; 1007 indirect~ #2 #3; 100d jump >1; 1012 return ^" },
	};

	(void)state;
	CHECK(EM_X86_64, t);
}

static void aarch64_is_parted_into_blocks(void **state)
{
	static const struct expected t[] = {
		{ "cbz w0; bl, which never returns; ret; b",
		  BYTES("\x60\0\0\x34\xff\x03\0\x94\xc0\x03\x5f\xd6\xff\xff\xff\x17"),
		  BYTES(""),
		  "*1000 branch >3 +1; 1004 stop ^; 1008 return ^; 100c jump >2" },
		{ "ret; udf; nop; brk",
		  BYTES("\xc0\x03\x5f\xd6\0\0\0\0\x1f\x20\x03\xd5"
			"\0\0\x20\xd4"),
		  BYTES(""), "*1000 return ^; ?100c stop ^" },
		{ "cut off: ret", BYTES("\xc0\x03\x5f"), BYTES(""), "" },
		{ "cmp w0,#2; b.hi; adrp; add; ldrb w1,[x1,w0,uxtw]; adr x0; "
		  "add x1,x0,w1,sxtb #2; br x1; ret; ret",
		  BYTES("\x1f\x08\0\x71\x08\x01\0\x54\x01\0\0\xb0\x21\0\0\x91"
			"\x21\x48\x60\x38\x60\0\0\x10\x01\x88\x21\x8b\x20\0\x1f\xd6"
			"\xc0\x03\x5f\xd6\xc0\x03\x5f\xd6"),
		  BYTES("\0\x01\0\x05"),
		  "*1000 branch >3 +1; 1008 indirect #2 #3; 1020 return ^; 1024 return "
		  "^" },
		{ "adrp x1; add; ldr x2,[x1,w0,uxtw #3]; br x2; ret; ret",
		  BYTES("\x01\0\0\xb0\x21\0\0\x91\x22\x58\x60\xf8\x40\0\x1f\xd6"
			"\xc0\x03\x5f\xd6\xc0\x03\x5f\xd6"),
		  BYTES("\x10\x10\0\0\0\0\0\0\x14\x10\0\0\0\0\0\0"),
		  "*1000 indirect~ #1 #2; 1010 return ^; 1014 return ^" },
		{ "blr x1; br x1", BYTES("\x20\0\x3f\xd6\x20\0\x1f\xd6"), BYTES(""),
		  "*1000 indirect? ^" },
	};

	(void)state;
	CHECK(EM_AARCH64, t);
}

static void ranges_belong_together(void **state)
{
	/* je to the other; ret | jmp back to the ret */
	static const uint8_t hot[] = { 0x0f, 0x84, 0xfa, 0x1f, 0, 0, 0xc3 };
	static const uint8_t cold[] = { 0x90, 0xe9, 0x00, 0xe0, 0xff, 0xff };
	struct procedure_range ranges[] = { { 0x1000, hot, sizeof(hot) },
					    { 0x3000, cold, sizeof(cold) } };
	struct procedure_options o = {
		.machine = EM_X86_64, .ranges = ranges, .n_ranges = 2, .entry = 0x1000
	};
	own(procedure_freep) struct procedure *p = NULL;
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(procedure_new(&o, &p, NULL), 0);
	describe(p, &b);
	assert_string_equal((char *)b.data,
			    "*1000 branch >2 +1; 1006 return ^; 3000 jump >1");
	assert_int_equal(procedure_block_at(p, 0x3001), 2);
	assert_int_equal(procedure_block_at(p, 0x3002), PROCEDURE_OUTSIDE);
	assert_int_equal(procedure_block_at(p, 0x900), PROCEDURE_OUTSIDE);
	buf_fini(&b);
}

static void odd_ranges_are_refused(void **state)
{
	static const uint8_t code[16];
	struct procedure_range ranges[] = { { 0x1000, code, 16 }, { 0x100f, code, 16 } };
	struct procedure_options o = { .machine = EM_X86_64,
				       .ranges = ranges,
				       .n_ranges = 2 };
	struct procedure *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(procedure_new(&o, &p, &e), ERR_USAGE);
	ranges[1] = (struct procedure_range){ UINT64_MAX - 3, code, 16 };
	assert_int_equal(procedure_new(&o, &p, &e), ERR_USAGE);
	ranges[1] = (struct procedure_range){ 0x2000, code, PROCEDURE_MAX_BYTES };
	assert_int_equal(procedure_new(&o, &p, &e), ERR_LIMIT);
	o.machine = EM_S390;
	o.n_ranges = 1;
	assert_int_equal(procedure_new(&o, &p, &e), ERR_UNSUPPORTED);
	assert_null(p);
}

static void large_ones_take_no_more_than_their_share_of_time(void **state)
{
	enum { SIZE = 1 << 20 };
	static const char *const kinds[] = {
		"\xff\xe0",		    /* jmp *%rax */
		"\x74\xff\xe0",		    /* je into itself */
		"\xe8\x90\x90\x90\x90\x90", /* call */
		"\xff\x24\xc2",		    /* jmp *(%rdx,%rax,8) */
		"\xb8\x00\x10\x00\x00\xff\x24\xc2",
		"\x74\x70\xff\x24\xc5\x00\x20\x01\x01",
	};
	own(freep) uint8_t *code = calloc(1, SIZE);

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct memory m = { (const char *)code, SIZE };
		struct procedure_range r = { CODE, code, SIZE };
		struct procedure_options o = { EM_X86_64,   &r,	  1, CODE,
					       read_memory, NULL, &m };
		own(procedure_freep) struct procedure *p = NULL;
		size_t n = k == 4 ? 8 : strlen(kinds[k]);

		for (size_t i = 0; i < SIZE; i++)
			code[i] = (uint8_t)kinds[k][i % n];
		assert_int_equal(procedure_new(&o, &p, NULL), 0);
		assert_true(p->n_blocks > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_is_parted_into_blocks),
		cmocka_unit_test(x86_tables_are_found),
		cmocka_unit_test(aarch64_is_parted_into_blocks),
		cmocka_unit_test(ranges_belong_together),
		cmocka_unit_test(odd_ranges_are_refused),
		cmocka_unit_test(large_ones_take_no_more_than_their_share_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
