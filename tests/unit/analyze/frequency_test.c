/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency.h"

#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/function_code.h"
#include "insn/flow_solve.h"
#include "insn/machine_model.h"

#define BEGIN  0x1000
#define TURNS  1e6
#define SAMPLE 100000.0 /* cycles */
#define STEPS  16

/* A loop; what each of its instructions takes, and at best. */
struct loop {
	const char *name, *code;
	size_t size;
	double cycles[STEPS], ideal[STEPS];
};

#define CODE(text) text, sizeof(text) - 1

/* dec %rcx; jne back to the begin; ret. */
#define IMUL   "\x48\x0f\xaf\xc0" /* %rax, %rax */
#define ADD    "\x48\x01\xc0"	  /* %rax, %rax */
#define LOAD   "\x48\x8b\x07"	  /* (%rdi), %rax */
#define END(x) "\x48\xff\xc9\x75" x "\xc3"

static const struct loop loops[] = {
	{ "multiplications, one after the other",
	  CODE(IMUL IMUL IMUL IMUL IMUL IMUL IMUL END("\xdf")),
	  { 3, 3, 3, 3, 3, 3, 3 },
	  { 3, 3, 3, 3, 3, 3, 3 } },
	{ "additions, one after the other",
	  CODE(ADD ADD ADD ADD ADD ADD ADD ADD END("\xe3")),
	  { 1, 1, 1, 1, 1, 1, 1, 1 },
	  { 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ "a load from memory, and sums of it",
	  CODE(LOAD ADD ADD ADD ADD ADD ADD ADD ADD END("\xe0")),
	  { 200, 1, 1, 1, 1, 1, 1, 1, 1 },
	  { 0.2, 1, 1, 1, 1, 1, 1, 1, 1 } },
};

static void set_up(struct function_code *c, const struct loop *l)
{
	struct procedure_range range = { BEGIN, (const uint8_t *)l->code, l->size };
	struct procedure_options o = {
		.machine = EM_X86_64, .ranges = &range, .n_ranges = 1, .entry = BEGIN
	};
	own(operation_reader_freep) struct operation_reader *r = NULL;
	const struct procedure *p;

	*c = (struct function_code){ .model = machine_model_find("zen4"), .times = -1 };
	assert_int_equal(procedure_new(&o, &c->procedure, NULL), 0);
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	p = c->procedure;
	c->steps = calloc(p->n_steps, sizeof(*c->steps));
	c->blocks = calloc(p->n_blocks, sizeof(*c->blocks));
	c->ways = calloc(p->n_ways, sizeof(*c->ways));
	for (uint32_t i = 0; i < p->n_steps; i++) {
		size_t at = p->steps[i].address - BEGIN;

		assert_true(operation_read(r, (const uint8_t *)l->code + at, l->size - at,
					   p->steps[i].address, &c->steps[i].operation));
		c->steps[i].ideal = l->ideal[i];
		c->steps[i].cycles = l->cycles[i] * TURNS;
		c->steps[i].times = -1;
	}
}

static void add_up(struct function_code *c, double sample)
{
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		const struct procedure_block *b = &c->procedure->blocks[i];

		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
			c->blocks[i].cycles += c->steps[k].cycles;
		c->blocks[i].samples = (uint64_t)(c->blocks[i].cycles / sample);
		c->cycles += c->blocks[i].cycles;
		c->samples += c->blocks[i].samples;
	}
}

static void estimate(struct function_code *c, double cycles_of_sample)
{
	own(flow_solve_fini) struct flow_solve near = { 0 };

	frequency_estimate(c, cycles_of_sample, &near);
}

static void what_waits_for_latencies_is_in_the_range(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		own(function_code_fini) struct function_code c;

		set_up(&c, &loops[i]);
		add_up(&c, SAMPLE);
		estimate(&c, SAMPLE);
		assert_true(c.is_estimated && c.confidence == FREQUENCY_LOW);
		if (c.blocks[0].times_low > TURNS || c.blocks[0].times_high < TURNS)
			fail_msg("%s: between %g and %g", loops[i].name,
				 c.blocks[0].times_low, c.blocks[0].times_high);
		assert_true(c.blocks[0].times_low < c.blocks[0].times &&
			    c.blocks[0].times < c.blocks[0].times_high);
		assert_true(c.steps[0].times == c.blocks[0].times);
	}
}

static void where_nothing_is_missing_the_number_is_near(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		own(function_code_fini) struct function_code c;

		set_up(&c, &loops[i]);
		add_up(&c, SAMPLE);
		estimate(&c, SAMPLE);
		assert_true(fabs(c.blocks[0].times / TURNS - 1) < 0.2);
	}
}

/* Where all samples are on one of many instructions, that one is not all that waits. */
static void what_is_cut_off_leaves_something(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[0]);
	c.steps[0].cycles *= 7;
	for (uint32_t i = 1; i < c.procedure->n_steps; i++)
		c.steps[i].cycles = 0;
	add_up(&c, SAMPLE);
	estimate(&c, SAMPLE);
	assert_true(c.is_estimated && c.blocks[0].times > TURNS / 2 &&
		    c.blocks[0].times < TURNS * 2);
}

static void what_comes_into_a_block_leaves_it(void **state)
{
	own(function_code_fini) struct function_code c;
	double in = 0, out = 0;

	(void)state;
	set_up(&c, &loops[2]);
	add_up(&c, SAMPLE);
	estimate(&c, SAMPLE);
	for (uint32_t i = 0; i < c.procedure->n_ways; i++) {
		in += c.procedure->ways[i].to == 0 ? c.ways[i].times : 0;
		out += c.procedure->ways[i].from == 0 ? c.ways[i].times : 0;
		assert_true(c.ways[i].times_low <= c.ways[i].times &&
			    c.ways[i].times <= c.ways[i].times_high);
	}
	assert_true(fabs(in / c.blocks[0].times - 1) < 1e-6);
	assert_true(fabs(out / c.blocks[0].times - 1) < 1e-6);
}

/* Whatever the model has for these instructions. */
static void no_more_is_executed_than_can_retire(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[1]);
	for (uint32_t i = 0; i < c.procedure->n_steps; i++) {
		c.steps[i].ideal = 0;
		c.steps[i].cycles /= 50;
	}
	add_up(&c, SAMPLE / 50);
	estimate(&c, SAMPLE / 50);
	/* Nine of these, eight at once; and chance. */
	assert_true(c.blocks[0].times_high <= c.blocks[0].cycles * 8 / 9 * 1.2);
}

/* Whoever waits for ages has next to nothing of what is expected of it. */
static void what_was_sampled_was_executed_once_at_least(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[0]);
	for (uint32_t i = 0; i < c.procedure->n_steps; i++)
		c.steps[i].ideal = 1e18;
	add_up(&c, SAMPLE);
	estimate(&c, SAMPLE);
	assert_true(c.is_estimated && c.blocks[0].samples > 0);
	assert_true(c.blocks[0].times_low >= 1);
	assert_true(c.blocks[0].times_low <= c.blocks[0].times);
	assert_true(c.blocks[0].times < c.blocks[0].times_high);
}

/* The return is executed once, and no sample tells of it, nor any branch: that it fits
 * best to be executed now and then is no reason to say so. */
static void what_nobody_saw_may_have_been_once(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[0]);
	add_up(&c, SAMPLE);
	estimate(&c, SAMPLE);
	assert_true(c.is_estimated && c.blocks[1].samples == 0);
	assert_true(c.blocks[1].times_low <= 1 && 1 <= c.blocks[1].times_high);
	assert_true(c.times_low <= 1 && 1 <= c.times_high);
	assert_true(c.blocks[0].times_low > 1);
}

/* Of the load's loop, which all guesses have too often. */
static void a_counter_of_instructions_is_the_scale(void **state)
{
	static const struct {
		double samples;
		enum frequency_confidence confidence;
		double most; /* of the range, one end beside the other */
	} cases[] = {
		{ 5000, FREQUENCY_HIGH, 1.2 },
		{ 100, FREQUENCY_MEDIUM, 1.5 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		own(function_code_fini) struct function_code c;
		const struct function_code_block *b;

		set_up(&c, &loops[2]);
		add_up(&c, SAMPLE);
		c.retired = 11 * TURNS;
		c.retired_samples = cases[i].samples;
		estimate(&c, SAMPLE);
		b = &c.blocks[0];
		assert_true(fabs(b->times / TURNS - 1) < 0.01);
		assert_int_equal(b->confidence, cases[i].confidence);
		assert_true(b->times_low < TURNS && TURNS < b->times_high);
		assert_true(b->times_high / b->times_low < cases[i].most);
		assert_true(c.retired_low < c.retired && c.retired < c.retired_high);
	}
}

static void a_few_samples_of_it_are_not(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[2]);
	add_up(&c, SAMPLE);
	c.retired = 11 * TURNS;
	c.retired_samples = 10;
	estimate(&c, SAMPLE);
	assert_int_equal(c.confidence, FREQUENCY_LOW);
	assert_true(c.retired_high == 0);
}

static void without_samples_nothing_is_told(void **state)
{
	own(function_code_fini) struct function_code c;

	(void)state;
	set_up(&c, &loops[0]);
	estimate(&c, SAMPLE);
	assert_false(c.is_estimated);
	assert_true(c.steps[0].times < 0 && c.times < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_for_latencies_is_in_the_range),
		cmocka_unit_test(where_nothing_is_missing_the_number_is_near),
		cmocka_unit_test(what_is_cut_off_leaves_something),
		cmocka_unit_test(what_comes_into_a_block_leaves_it),
		cmocka_unit_test(no_more_is_executed_than_can_retire),
		cmocka_unit_test(what_was_sampled_was_executed_once_at_least),
		cmocka_unit_test(what_nobody_saw_may_have_been_once),
		cmocka_unit_test(a_counter_of_instructions_is_the_scale),
		cmocka_unit_test(a_few_samples_of_it_are_not),
		cmocka_unit_test(without_samples_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
