/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_forward.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

#define START	   0x1000
#define TIMES	   1e6
#define CODE(text) (const uint8_t *)text, sizeof(text) - 1

struct forward_case {
	const char *what;
	const uint8_t *code;
	size_t size;
	double taken; /* share of branches that lead ahead */
	uint32_t load;
	const char *stores; /* "4 at 0.50": offset, share */
};

static double times_of(const struct procedure *p, uint32_t way, double taken)
{
	const struct procedure_way *w = &p->ways[way];
	const struct procedure_block *b;

	if (w->from == PROCEDURE_OUTSIDE || w->to == PROCEDURE_OUTSIDE)
		return 1;
	b = &p->blocks[w->from];
	if (b->n_out < 2 && b->n_in == 1)
		return times_of(p, p->ways_in[b->first_in], taken);
	if (b->n_out < 2 || p->blocks[w->to].start <= b->start)
		return TIMES;
	return (p->blocks[w->to].start == b->end ? 1 - taken : taken) * TIMES;
}

static void make(struct function_code *c, const struct forward_case *t)
{
	struct procedure_range range = { .address = START,
					 .code = t->code,
					 .size = t->size };
	struct procedure_options o = {
		.machine = EM_X86_64, .ranges = &range, .n_ranges = 1, .entry = START
	};
	own(operation_reader_freep) struct operation_reader *r = NULL;

	*c = (struct function_code){ 0 };
	assert_int_equal(procedure_new(&o, &c->procedure, NULL), 0);
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	c->steps = xcalloc(c->procedure->n_steps + 1, sizeof(*c->steps));
	c->blocks = xcalloc(c->procedure->n_blocks + 1, sizeof(*c->blocks));
	c->ways = xcalloc(c->procedure->n_ways + 1, sizeof(*c->ways));
	for (uint32_t i = 0; i < c->procedure->n_steps; i++) {
		uint64_t at = c->procedure->steps[i].address - START;

		assert_true(operation_read(r, t->code + at, t->size - at, START + at,
					   &c->steps[i].operation));
	}
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		c->ways[i].times = times_of(c->procedure, i, t->taken);
}

static uint32_t step_at(const struct procedure *p, uint64_t offset)
{
	for (uint32_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].address == START + offset)
			return i;
	fail_msg("no instruction at %u", (unsigned)offset);
	return 0;
}

static void describe(const struct function_code *c, uint32_t offset, struct buf *to)
{
	struct stall_forward found[STALL_FORWARD_MAX];
	uint32_t step = step_at(c->procedure, offset);
	uint32_t block = procedure_block_at(c->procedure, START + offset);
	unsigned n = stall_forward_find(c, block, step, found);

	for (unsigned i = 0; i < n; i++)
		buf_printf(
			to, "%s%u at %.2f", i ? ", " : "",
			(unsigned)(c->procedure->steps[found[i].store].address - START),
			found[i].share);
}

/* All end in dec %rdi; jnz 0; ret. */
static void stores_are_looked_for_on_the_ways_that_lead_to_a_load(void **state)
{
	static const struct forward_case t[] = {
		{ "mov %al,(%rsi); mov (%rsi),%rax",
		  CODE("\x88\x06\x48\x8b\x06\x48\xff\xcf\x75\xf6\xc3"), 0, 2,
		  "0 at 1.00" },
		{ "the other way round: of the turn before",
		  CODE("\x48\x8b\x06\x88\x06\x48\xff\xcf\x75\xf6\xc3"), 0, 0,
		  "3 at 1.00" },
		{ "mov %al,(%rsi); jz 7; nop; 5: mov (%rsi),%rax",
		  CODE("\x88\x06\x74\x01\x90\x48\x8b\x06\x48\xff\xcf\x75\xf3\xc3"), .3, 5,
		  "0 at 1.00" },
		{ "test %eax,%eax; jz 6; mov %al,(%rsi); 6: mov (%rsi),%rax",
		  CODE("\x85\xc0\x74\x02\x88\x06\x48\x8b\x06\x48\xff\xcf\x75\xf2\xc3"),
		  .25, 6, "4 at 0.94" },
		{ "the same without a turn before that it may be of: inc %rsi first",
		  CODE("\x48\xff\xc6\x74\x02\x88\x06\x48\x8b\x06\x48\xff\xcf\x75\xf1"
		       "\xc3"),
		  .25, 7, "5 at 0.75" },
		{ "hardly ever",
		  CODE("\x48\xff\xc6\x74\x02\x88\x06\x48\x8b\x06\x48\xff\xcf\x75\xf1"
		       "\xc3"),
		  .99, 7, "" },
		{ "mov %al,(%rsi); jz 5; nop; 5: inc %rsi; mov (%rsi),%rax",
		  CODE("\x88\x06\x74\x01\x90\x48\xff\xc6\x48\x8b\x06\x48\xff\xcf\x75"
		       "\xf0\xc3"),
		  .3, 8, "" },
		{ "mov %rax,(%rsi); jz 6; nop; 6: mov 4(%rsi),%eax: all of it is there",
		  CODE("\x48\x89\x06\x74\x01\x90\x8b\x46\x04\x48\xff\xcf\x75\xf2\xc3"),
		  .3, 6, "" },
		{ "mov %rax,(%rsi); jz 6; nop; 6: mov 4(%rsi),%rax: half of it is",
		  CODE("\x48\x89\x06\x74\x01\x90\x48\x8b\x46\x04\x48\xff\xcf\x75\xf1"
		       "\xc3"),
		  .3, 6, "0 at 1.00" },
		{ "mov %rax,(%rsi,%rcx,8); jz 7; nop; 7: mov 8(%rsi),%rax",
		  CODE("\x48\x89\x04\xce\x74\x01\x90\x48\x8b\x46\x08\x48\xff\xcf\x75"
		       "\xf0\xc3"),
		  .3, 7, "0 at 1.00" },
		{ "mov %al,(%rsi); jz 5; 22 times nop; mov (%rsi),%rax",
		  CODE("\x88\x06\x74\x00"
		       "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		       "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		       "\x48\x8b\x06\x48\xff\xcf\x75\xde\xc3"),
		  .3, 26, "0 at 1.00" },
		{ "push 0x2000(%rip); mov 0x2000(%rip),%rax; pop %rcx: no store there",
		  CODE("\xff\x35\0\x20\0\0\x48\x8b\x05\xf9\x1f\0\0\x59\x48\xff\xcf\x75"
		       "\xed\xc3"),
		  0, 6, "" },
		{ "mov %al,0x2003(%rip); mov 0x2000(%rip),%rax",
		  CODE("\x88\x05\xfd\x0f\0\0\x48\x8b\x05\xf3\x0f\0\0\x48\xff\xcf\x75"
		       "\xee\xc3"),
		  0, 6, "0 at 1.00" },
		{ "mov %al,0x2003(%rip); mov 0x2010(%rip),%rax",
		  CODE("\x88\x05\xfd\x0f\0\0\x48\x8b\x05\x03\x10\0\0\x48\xff\xcf\x75"
		       "\xee\xc3"),
		  0, 6, "" },
		{ "mov %al,%fs:0x2000; mov 0x2000,%rax: another segment",
		  CODE("\x64\x88\x04\x25\0\x20\0\0\x48\x8b\x04\x25\0\x20\0\0\x48\xff"
		       "\xcf\x75\xeb\xc3"),
		  0, 8, "" },
		{ "once more",
		  CODE("\x88\x06\x74\x00"
		       "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		       "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		       "\x48\x8b\x06\x48\xff\xcf\x75\xdd\xc3"),
		  .3, 27, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(buf_fini) struct buf b = { 0 };

		make(&c, &t[i]);
		describe(&c, t[i].load, &b);
		if (strcmp(buf_str(&b), t[i].stores) != 0)
			print_error("# %s: %s\n", t[i].what, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].stores);
	}
}

/* Where a step was seen, in so many lines of 64 bytes from there on. */
struct seen {
	uint32_t offset;
	uint64_t low, lines, samples;
};

static void see(struct function_code *c, const struct seen *t)
{
	uint32_t step = step_at(c->procedure, t->offset);
	uint64_t high = t->low + (t->lines - 1) * 64;
	const struct model_access rows[] = {
		{ .what = ACCESS_MET, .value = t->samples, .times = t->samples },
		{ .what = ACCESS_LOWEST, .value = t->low, .times = 1 },
		{ .what = ACCESS_HIGHEST, .value = high, .times = 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		access_places_add(&c->accesses, step, &rows[i]);
	for (uint64_t line = t->low / 64; line <= high / 64; line++)
		access_places_add(&c->accesses, step,
				  &(struct model_access){ .what = ACCESS_LINE,
							  .value = distinct_hash(line),
							  .times = t->samples });
}

static void places_that_were_seen_tell_of_addresses_that_differ(void **state)
{
	static const struct {
		struct forward_case code;
		struct seen seen[2];
	} t[] = {
		{ { "mov %al,(%rsi); mov (%rdx),%rax",
		    CODE("\x88\x06\x48\x8b\x02\x48\xff"
			 "\xcf\x75\xf6\xc3"),
		    0, 2, "0 at 1.00" },
		  { { 0, 0x4063, 1, 50 }, { 2, 0x4060, 1, 50 } } },
		{ { "other bytes of the line",
		    CODE("\x88\x06\x48\x8b\x02\x48\xff\xcf\x75"
			 "\xf6\xc3"),
		    0, 2, "" },
		  { { 0, 0x4063, 1, 50 }, { 2, 0x4068, 1, 50 } } },
		{ { "seldom seen", CODE("\x88\x06\x48\x8b\x02\x48\xff\xcf\x75\xf6\xc3"),
		    0, 2, "" },
		  { { 0, 0x4063, 1, 50 }, { 2, 0x4060, 1, 15 } } },
		{ { "not seen", CODE("\x88\x06\x48\x8b\x02\x48\xff\xcf\x75\xf6\xc3"), 0,
		    2, "" },
		  { { 0, 0x4063, 1, 50 } } },
		{ { "one of four lines",
		    CODE("\x88\x06\x48\x8b\x02\x48\xff\xcf\x75\xf6"
			 "\xc3"),
		    0, 2, "0 at 0.25" },
		  { { 0, 0x4023, 4, 50 }, { 2, 0x4060, 1, 50 } } },
		{ { "a table of which not all lines are known",
		    CODE("\x88\x06\x48\x8b\x02\x48\xff\xcf\x75\xf6\xc3"), 0, 2, "" },
		  { { 0, 0x4023, 40, 50 }, { 2, 0x4060, 1, 50 } } },
		{ { "mov %al,(%rsi); dec %rsi; mov (%rsi),%rax",
		    CODE("\x88\x06\x48\xff\xce\x48\x8b\x06\x48\xff\xcf\x75\xf3\xc3"), 0,
		    5, "0 at 1.00" },
		  { { 0, 0x4063, 1, 50 }, { 5, 0x4062, 1, 50 } } },
		{ { "mov %al,8(%rsi); mov (%rsi),%rax: the code knows better",
		    CODE("\x88\x46\x08\x48\x8b\x06\x48\xff\xcf\x75\xf5\xc3"), 0, 3, "" },
		  { { 0, 0x4048, 4, 50 }, { 3, 0x4040, 4, 50 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(buf_fini) struct buf b = { 0 };

		make(&c, &t[i].code);
		access_places_init(&c.accesses, c.procedure->n_steps);
		for (size_t k = 0; k < 2 && t[i].seen[k].samples; k++)
			see(&c, &t[i].seen[k]);
		describe(&c, t[i].code.load, &b);
		if (strcmp(buf_str(&b), t[i].code.stores) != 0)
			print_error("# %s: %s\n", t[i].code.what, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].code.stores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_looked_for_on_the_ways_that_lead_to_a_load),
		cmocka_unit_test(places_that_were_seen_tell_of_addresses_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
