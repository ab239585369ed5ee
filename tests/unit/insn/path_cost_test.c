/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/path_cost.h"

#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_BLOCKS 3

/* A loop of two blocks behind one that is executed once: imul %rax,%rax twice, then add
 * %rcx,%rdx and jmp. */
static const char code[] = "\x90"
			   "\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0"
			   "\x48\x01\xca\xeb\xf3";
static const uint32_t first[N_BLOCKS] = { 0, 1, 3 }, n_operations[N_BLOCKS] = { 1, 2, 2 };

struct loop {
	struct operation operations[8];
	double heat[N_BLOCKS];
	uint32_t unknown; /* a block that nobody knows the way to; N_BLOCKS: none */
	unsigned n_begun, n_jumps;
};

static void read_code(struct loop *l)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	size_t n = 0;

	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t at = 0; at < sizeof(code) - 1; at += l->operations[n++].size)
		assert_true(operation_read(r, (const uint8_t *)code + at,
					   sizeof(code) - 1 - at, at, &l->operations[n]));
}

static void begin(void *ctx)
{
	((struct loop *)ctx)->n_begun++;
}

/* The loop was begun once in a thousand turns. */
static uint32_t before(void *ctx, uint32_t block, struct path_cost_chance *chance)
{
	struct loop *l = ctx;

	if (block == l->unknown || block == 0)
		return PATH_COST_NONE;
	if (block == 2)
		return 1;
	return path_cost_choose(chance, 1000) ? 2 : 0;
}

static bool is_jump(void *ctx, uint32_t block, uint32_t next)
{
	struct loop *l = ctx;

	(void)next;
	l->n_jumps += block == 2;
	return block == 2;
}

static struct path_cost ask(struct loop *l, double cycles[8],
			    double (*waits)[SCHEDULE_N_WAITS])
{
	return (struct path_cost){ .n_blocks = N_BLOCKS,
				   .operations = l->operations,
				   .first = first,
				   .n = n_operations,
				   .heat = l->heat,
				   .cycles = cycles,
				   .waits = waits,
				   .ctx = l,
				   .begin = begin,
				   .before = before,
				   .is_jump = is_jump };
}

static void measure_waits(struct loop *l, double cycles[8],
			  double (*waits)[SCHEDULE_N_WAITS])
{
	struct path_cost c = ask(l, cycles, waits);

	memset(cycles, 0, 8 * sizeof(*cycles));
	path_cost_measure(&c, machine_model_find("zen4"));
}

static void measure(struct loop *l, double cycles[8])
{
	measure_waits(l, cycles, NULL);
}

static void a_loop_takes_what_its_chain_takes(void **state)
{
	struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS };
	double cycles[8], again[8];

	(void)state;
	read_code(&l);
	measure(&l, cycles);
	/* Multiplications wait for each other; what is beside them costs nothing. */
	assert_true(cycles[1] + cycles[2] + cycles[3] + cycles[4] > 5.8);
	assert_true(cycles[1] + cycles[2] + cycles[3] + cycles[4] < 6.2);
	assert_true(cycles[3] < 0.5);
	assert_true(l.n_begun >= N_BLOCKS && l.n_jumps > 10);
	measure(&l, again);
	assert_memory_equal(cycles, again, sizeof(cycles));
}

static void less_work_is_nearly_as_good(void **state)
{
	static const struct {
		bool is_draft;
		unsigned most_visits;
	} ways[] = { { true, 0 }, { false, 4 }, { false, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS },
			    whole = l;
		double cycles[8] = { 0 }, all[8], sum = 0, of_all = 0;
		struct path_cost c = ask(&l, cycles, NULL);

		read_code(&l);
		read_code(&whole);
		measure(&whole, all);
		c.is_draft = ways[i].is_draft;
		c.most_visits = ways[i].most_visits;
		path_cost_measure(&c, machine_model_find("zen4"));
		for (size_t k = 1; k < 5; k++) {
			sum += cycles[k];
			of_all += all[k];
		}
		assert_true(l.n_jumps <= whole.n_jumps);
		assert_true(!c.is_draft || l.n_jumps < whole.n_jumps);
		assert_true(fabs(sum / of_all - 1) < 0.3);
	}
}

static void where_nobody_knows_the_way_the_block_stands_alone(void **state)
{
	struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = 1 };
	double cycles[8];

	(void)state;
	read_code(&l);
	measure(&l, cycles);
	/* From nothing on: until the first is done takes the whole depth of the machine.
	 */
	assert_true(cycles[1] >= 3);
	assert_true(cycles[2] > 2.9 && cycles[2] < 3.1);
}

static void what_a_chain_takes_is_waited_for(void **state)
{
	struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS };
	double cycles[8], without[8], waits[8][SCHEDULE_N_WAITS] = { 0 };

	(void)state;
	read_code(&l);
	measure(&l, without);
	measure_waits(&l, cycles, waits);
	assert_memory_equal(cycles, without, sizeof(cycles));
	assert_true(waits[1][SCHEDULE_WAIT_DEPENDENCY] > 2.4);
	assert_true(waits[2][SCHEDULE_WAIT_DEPENDENCY] > 2.5);
	for (int i = 0; i < 5; i++) {
		double all = 0;

		for (int w = 0; w < SCHEDULE_N_WAITS; w++)
			all += waits[i][w];
		assert_true(all <= cycles[i] + 1e-9);
	}
}

/* Each multiplication waits for the one before, the first of a turn for the last turn's.
 */
static void who_is_waited_for_is_named(void **state)
{
	struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS };
	double cycles[8] = { 0 }, waits[8][SCHEDULE_N_WAITS] = { 0 };
	uint32_t waits_for[8];
	struct path_cost c = ask(&l, cycles, waits);

	(void)state;
	read_code(&l);
	c.waits_for = waits_for;
	path_cost_measure(&c, machine_model_find("zen4"));
	assert_int_equal(waits_for[0], PATH_COST_NONE);
	assert_int_equal(waits_for[1], 2);
	assert_int_equal(waits_for[2], 1);
	assert_int_equal(waits_for[4], PATH_COST_NONE);
}

static bool is_apart(void *ctx, uint32_t block, uint32_t next)
{
	(void)ctx;
	(void)next;
	return block == 2;
}

/* Each turn is another call, then: of its own the first multiplication waits for none. */
static void who_is_called_again_has_new_arguments(void **state)
{
	struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS };
	double cycles[8] = { 0 };
	struct path_cost c = ask(&l, cycles, NULL);

	(void)state;
	read_code(&l);
	c.is_apart = is_apart;
	path_cost_measure(&c, machine_model_find("zen4"));
	assert_true(cycles[1] + cycles[2] + cycles[3] + cycles[4] < 3);
}

static void who_calls_waits_for_nothing_from_before(void **state)
{
	static const struct {
		operation_registers changed;
		double least, most;
	} t[] = {
		{ 0, 5.8, 6.2 },
		{ ~(operation_registers)0, 0, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct loop l = { .heat = { 1, 2000, 2000 }, .unknown = N_BLOCKS };
		double cycles[8] = { 0 }, sum;
		struct path_cost c = ask(&l, cycles, NULL);

		read_code(&l);
		l.operations[3].class = OPERATION_CALL; /* add %rcx,%rdx, it was */
		c.changed_by_calls = t[i].changed;
		path_cost_measure(&c, machine_model_find("zen4"));
		sum = cycles[1] + cycles[2] + cycles[3] + cycles[4];
		assert_true(sum > t[i].least && sum < t[i].most);
	}
}

static void chance_stays_below(void **state)
{
	struct path_cost_chance c = { 7 };
	unsigned seen[10] = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		seen[path_cost_choose(&c, 10)]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_takes_what_its_chain_takes),
		cmocka_unit_test(less_work_is_nearly_as_good),
		cmocka_unit_test(where_nobody_knows_the_way_the_block_stands_alone),
		cmocka_unit_test(what_a_chain_takes_is_waited_for),
		cmocka_unit_test(who_is_waited_for_is_named),
		cmocka_unit_test(who_is_called_again_has_new_arguments),
		cmocka_unit_test(who_calls_waits_for_nothing_from_before),
		cmocka_unit_test(chance_stays_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
