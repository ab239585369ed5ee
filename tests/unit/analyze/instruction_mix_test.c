/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/instruction_mix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/block_flow.h"
#include "elf_builder.h"
#include "recording_builder.h"

#define CODE_AT 0x100
#define TEXT_AT 0x78 /* where the file's only section begins */

/* At 0x100; offsets behind it. */
static const uint8_t code[] = {
	0x48, 0x8b, 0x07,	/* 0 mov (%rdi),%rax */
	0x48, 0x01, 0x46, 0x08, /* 3 add %rax,8(%rsi) */
	0x31, 0xc0,		/* 7 xor %eax,%eax */
	0x75, 0xf5,		/* 9 jne 0 */
	0xff, 0x37,		/* 11 push (%rdi) */
	0xf3, 0xa4,		/* 13 rep movsb */
	0xff, 0xd2,		/* 15 call *%rdx */
	0xc3,			/* 17 ret */
};

static char elf_path[64], path[64];

static int write_elf(void **state unused)
{
	own(elf_builder_fini) struct elf_builder b = { 0 };
	own(buf_fini) struct buf bytes = { 0 };
	uint8_t text[CODE_AT - TEXT_AT + sizeof(code)] = { 0 };
	FILE *f;

	memcpy(text + CODE_AT - TEXT_AT, code, sizeof(code));

	snprintf(path, sizeof(path), "/tmp/dwell-instruction_mix-%d.dwell", getpid());
	snprintf(elf_path, sizeof(elf_path), "/tmp/dwell-instruction_mix-%d.elf",
		 getpid());
	elf_builder_add(&b, &(struct elf_builder_section){
				    .name = ".text",
				    .type = SHT_PROGBITS,
				    .flags = SHF_ALLOC | SHF_EXECINSTR,
				    .data = text,
				    .size = sizeof(text),
			    });
	elf_builder_write(&b, &bytes);

	assert_memory_equal(bytes.data + CODE_AT, code, sizeof(code));
	f = fopen(elf_path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
	fclose(f);
	return 0;
}

static int remove_files(void **state unused)
{
	unlink(path);
	unlink(elf_path);
	return 0;
}

struct loaded {
	struct profile *p;
	struct block_graph graph;
	struct instruction_mix mix;
	struct block_flow flow;
};

static void loaded_fini(struct loaded *l)
{
	instruction_mix_fini(&l->mix);
	block_graph_fini(&l->graph);
	profile_free(l->p);
}

static void load(struct loaded *ret, const char *text, const char *filter)
{
	own(freep) char *whole = NULL;
	const char *paths[] = { path };
	struct err e = { 0 };

	assert_true(asprintf(&whole,
			     "event instructions unit=count period=1 "
			     "flags=exact,pc-only\n"
			     "process 10 prog\nprocess 11 prog\nuse pid=10\n"
			     "image x %s\nimage gone /nonexistent/gone\n%s",
			     elf_path, text) > 0);
	recording_builder_write(path, whole);
	if (profile_load(paths, 1, &(struct profile_options){ .filter = filter }, &ret->p,
			 &e) < 0 ||
	    block_graph_make(&ret->graph, profile_source(ret->p, 0), NULL, &e) < 0 ||
	    instruction_mix_make(&ret->mix, ret->p, 0, &ret->graph, &e) < 0)
		fail_msg("%s", e.text);
	block_flow_sum(&ret->flow, &ret->graph, profile_source(ret->p, 0));
}

#define LOOP                                                                             \
	"x+0x100 10\nx+0x103 10\nx+0x107 10\nx+0x109 10\n"                               \
	"x+0x10b 2\nx+0x10d 2\nx+0x10f 2\nx+0x111 2\n"                                   \
	"basic-block x+0x100 11 4 branch 10\n"                                           \
	"basic-block x+0x10b 6 3 indirect-call 2\n"                                      \
	"basic-block x+0x111 1 1 return 2\n"                                             \
	"edge 0 taken 8 x+0x100\nedge 0 on 2 x+0x10b\n"                                  \
	"edge 1 indirect-call 1 x+0x111\nedge 1 indirect-call 1 x+0x100\n"               \
	"edge 2 return 2\nedge 2 returned 1 x+0x111\n"

static void check_uses(const struct instruction_mix_uses *u, uint64_t times,
		       uint64_t loads, uint64_t stores)
{
	assert_int_equal(u->times, times);
	assert_int_equal(u->loads, loads);
	assert_int_equal(u->stores, stores);
}

static void instructions_are_of_kinds_with_loads_and_stores(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };
	const struct instruction_mix *m = &l.mix;

	load(&l, LOOP, NULL);
	assert_int_equal(m->times, 48);
	assert_int_equal(m->n_distinct, 8);
	check_uses(&m->known, 48, 10 + 10 + 2 + 2 + 2, 10 + 2 + 2 + 2);
	assert_int_equal(m->bytes, 10 * 11 + 2 * 7);
	assert_int_equal(m->loads_and_stores, 10 + 2 + 2);
	check_uses(&m->kinds[INSTRUCTION_KIND_LOAD], 10, 10, 0);
	check_uses(&m->kinds[INSTRUCTION_KIND_INTEGER], 20, 10, 10);
	check_uses(&m->kinds[INSTRUCTION_KIND_BRANCH], 10, 0, 0);
	check_uses(&m->kinds[INSTRUCTION_KIND_STACK], 2, 2, 2);
	check_uses(&m->kinds[INSTRUCTION_KIND_STRING], 2, 2, 2);
	check_uses(&m->kinds[INSTRUCTION_KIND_INDIRECT_CALL], 2, 0, 2);
	check_uses(&m->kinds[INSTRUCTION_KIND_RETURN], 2, 2, 0);
	assert_int_equal(m->missing.n, 0);
}

static void operands_are_of_forms(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };
	const struct instruction_mix_uses *forms = l.mix.forms;

	load(&l, LOOP, NULL);
	check_uses(&forms[INSTRUCTION_KIND_FORM_BASE], 12, 12, 0);
	check_uses(&forms[INSTRUCTION_KIND_FORM_DISPLACED], 10, 10, 10);
	check_uses(&forms[INSTRUCTION_KIND_FORM_STRING], 2, 2, 2);
	/* push, call, return */
	check_uses(&forms[INSTRUCTION_KIND_FORM_STACK], 6, 2, 4);
}

static void registers_are_read_written_and_in_addresses(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };
	const struct instruction_mix_register *r = l.mix.registers;

	load(&l, LOOP, NULL);
	assert_int_equal(r[0].reads, 10); /* rax: not by xor of itself */
	assert_int_equal(r[0].writes, 20);
	assert_int_equal(r[0].addresses, 0);
	assert_int_equal(r[7].addresses, 14); /* rdi */
	assert_int_equal(r[OPERATION_REG_FLAGS].writes, 20);
}

static void mnemonics_come_most_frequent_first(void **state unused)
{
	static const struct {
		const char *name;
		uint64_t times;
	} want[] = { { "add", 10 }, { "jne", 10 },  { "mov", 10 }, { "xor", 10 },
		     { "call", 2 }, { "movsb", 2 }, { "push", 2 }, { "ret", 2 } };
	own(loaded_fini) struct loaded l = { 0 };

	load(&l, LOOP, NULL);
	assert_int_equal(l.mix.mnemonics.n, 8);
	for (size_t i = 0; i < 8; i++) {
		const struct instruction_mix_mnemonic *m = &l.mix.mnemonics.at[i];

		assert_string_equal(m->name, want[i].name);
		assert_int_equal(m->times, want[i].times);
		assert_int_equal(m->is_repeated, strcmp(m->name, "movsb") == 0);
	}
}

static void a_filter_chooses_instructions(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };

	load(&l,
	     LOOP "x+0x100 5 pid=11\nx+0x103 5 pid=11\nx+0x107 5 pid=11\n"
		  "x+0x109 5 pid=11\nbasic-block x+0x100 11 4 branch 5 pid=11\n",
	     "pid == 11");
	assert_int_equal(l.mix.times, 20);
	check_uses(&l.mix.kinds[INSTRUCTION_KIND_LOAD], 5, 5, 0);
	assert_int_equal(l.mix.kinds[INSTRUCTION_KIND_RETURN].times, 0);
}

static void blocks_that_overlap_have_each_instruction_once(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };

	load(&l,
	     "x+0x100 3\nx+0x103 7\nx+0x107 7\n"
	     "basic-block x+0x100 9 3 on 3\nbasic-block x+0x103 6 2 on 4\n",
	     NULL);
	assert_int_equal(l.mix.known.times, 17);
	check_uses(&l.mix.kinds[INSTRUCTION_KIND_INTEGER], 14, 7, 7);
}

static void what_was_counted_at_the_first_instruction_is_shared(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };

	load(&l, "x+0x100 40\nbasic-block x+0x100 11 4 branch 10\n", NULL);
	assert_int_equal(l.mix.known.times, 40);
	check_uses(&l.mix.kinds[INSTRUCTION_KIND_LOAD], 10, 10, 0);
	check_uses(&l.mix.kinds[INSTRUCTION_KIND_BRANCH], 10, 0, 0);
}

/* Of a file that is gone, and other code than what was executed. */
static void code_that_is_not_at_hand_is_counted_by_image(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };

	load(&l,
	     "x+0x111 2\nbasic-block x+0x111 1 1 return 2\n"
	     "gone+0x10 30\nbasic-block gone+0x10 4 3 on 10\n"
	     "x+0x100 12\nbasic-block x+0x100 11 2 branch 6\n",
	     NULL);
	assert_int_equal(l.mix.times, 44);
	assert_int_equal(l.mix.known.times, 2);
	assert_int_equal(l.mix.missing.n, 2);
	assert_int_equal(l.mix.missing.at[0].times, 30);
	assert_int_equal(l.mix.missing.at[1].times, 12);
}

static void ways_are_summed_by_site(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };
	const struct block_flow *f = &l.flow;

	load(&l, LOOP, NULL);
	assert_int_equal(f->n_blocks, 3);
	assert_int_equal(f->entered, 14);
	assert_int_equal(f->branches.times, 10);
	assert_int_equal(f->branches.n_sites, 1);
	assert_int_equal(f->branches.n_targets, 2);
	assert_int_equal(f->branches.most, 8);
	assert_int_equal(f->taken, 8);
	assert_int_equal(f->taken_backward, 8);
	assert_int_equal(f->taken_forward, 0);
	assert_int_equal(f->indirect_calls.times, 2);
	assert_int_equal(f->indirect_calls.n_sites, 1);
	assert_int_equal(f->indirect_calls.n_targets, 2);
	assert_int_equal(f->indirect_calls.most, 1);
	assert_int_equal(f->returns, 2);
	assert_int_equal(block_flow_taken(f), 8 + 2 + 2);
}

/* Entered at two places, it is one branch. */
static void blocks_with_one_end_are_one_site(void **state unused)
{
	own(loaded_fini) struct loaded l = { 0 };

	load(&l,
	     "x+0x100 3\nbasic-block x+0x100 11 4 branch 3\n"
	     "basic-block x+0x107 4 2 branch 5\nbasic-block x+0x10b 2 1 jump 1\n"
	     "edge 0 taken 3 x+0x100\nedge 1 on 1 x+0x10b\nedge 1 taken 4 x+0x100\n"
	     "edge 2 taken 1 x+0x107\n",
	     NULL);
	assert_int_equal(l.flow.branches.n_sites, 1);
	assert_int_equal(l.flow.branches.times, 8);
	assert_int_equal(l.flow.branches.most, 7);
	assert_int_equal(l.flow.jumps, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_of_kinds_with_loads_and_stores),
		cmocka_unit_test(operands_are_of_forms),
		cmocka_unit_test(registers_are_read_written_and_in_addresses),
		cmocka_unit_test(mnemonics_come_most_frequent_first),
		cmocka_unit_test(a_filter_chooses_instructions),
		cmocka_unit_test(blocks_that_overlap_have_each_instruction_once),
		cmocka_unit_test(what_was_counted_at_the_first_instruction_is_shared),
		cmocka_unit_test(code_that_is_not_at_hand_is_counted_by_image),
		cmocka_unit_test(ways_are_summed_by_site),
		cmocka_unit_test(blocks_with_one_end_are_one_site),
	};

	return cmocka_run_group_tests(tests, write_elf, remove_files);
}
