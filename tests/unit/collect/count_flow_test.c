/* SPDX-License-Identifier: Apache-2.0
 * Programs at random are executed at random; ways are left uncounted as the engine does
 * it, and have to be told from the others. */
#include "collect/count_flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_BLOCKS 40
#define N_STEPS	 5000
#define BYTES	 16

static uint64_t state_of_random = 88172645463325252ULL;

static unsigned below(unsigned n)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return (unsigned)(state_of_random >> 20) % n;
}

struct program {
	struct count_file_block blocks[N_BLOCKS + 1];
	struct count_file_extra extras[2 * N_STEPS];
	struct count_flow_block truth[N_BLOCKS + 1];
	uint64_t counters[4 * N_BLOCKS];
	size_t n_extras, n_counters;
	unsigned parts[N_BLOCKS + 1]; /* joined by ways without a counter; 0: outside */
};

static uint64_t addr_of(unsigned i)
{
	return 0x1000 + i * BYTES;
}

static bool join(struct program *p, unsigned a, unsigned b)
{
	unsigned from = p->parts[a], to = p->parts[b];

	if (from == to)
		return false;
	for (unsigned i = 0; i <= N_BLOCKS; i++)
		if (p->parts[i] == from)
			p->parts[i] = to;
	return true;
}

static uint32_t counter_unless_joined(struct program *p, unsigned a, unsigned b)
{
	return join(p, a, b) ? 0 : (uint32_t)p->n_counters++;
}

/* The last block has none behind it. */
static uint8_t end_at_random(unsigned i)
{
	static const uint8_t ends[] = { COUNT_END_CONDITIONAL, COUNT_END_CONDITIONAL,
					COUNT_END_JUMP,	       COUNT_END_ON,
					COUNT_END_CALL,	       COUNT_END_RETURN };

	return i == N_BLOCKS ? COUNT_END_JUMP : ends[below(sizeof(ends))];
}

static void make(struct program *p)
{
	memset(p, 0, sizeof(*p));
	p->n_counters = 1;
	for (unsigned i = 0; i <= N_BLOCKS; i++)
		p->parts[i] = i;
	for (unsigned i = 1; i <= N_BLOCKS; i++) {
		struct count_file_block *b = &p->blocks[i];
		unsigned target = 1 + below(N_BLOCKS);

		*b = (struct count_file_block){ .addr = addr_of(i),
						.size_bytes = BYTES,
						.n_insns = 1,
						.end = end_at_random(i),
						.target = addr_of(target) };
		if (b->end == COUNT_END_CONDITIONAL || b->end == COUNT_END_ON)
			b->on = counter_unless_joined(p, i, i + 1);
		if (b->end == COUNT_END_RETURN)
			b->to = counter_unless_joined(p, i, 0);
		else if (b->end != COUNT_END_ON)
			b->to = counter_unless_joined(p, i, target);
	}
}

static void add_extra(struct program *p, unsigned i, enum count_extra kind)
{
	p->extras[p->n_extras++] = (struct count_file_extra){
		.addr = kind == COUNT_EXTRA_ENTER ? addr_of(i) : addr_of(i) + BYTES - 1,
		.block = kind == COUNT_EXTRA_ENTER ? 0 : i,
		.kind = kind,
		.n = 1
	};
}

/* Returns where it goes, 0: outside. */
static unsigned step(struct program *p, unsigned i)
{
	const struct count_file_block *b = &p->blocks[i];
	bool is_on =
		b->end == COUNT_END_ON || (b->end == COUNT_END_CONDITIONAL && below(3));
	uint32_t counter = is_on ? b->on : b->to;

	p->truth[i].n++;
	(*(is_on ? &p->truth[i].on : &p->truth[i].to))++;
	if (counter)
		p->counters[counter]++;
	if (is_on)
		return i + 1;
	return b->end == COUNT_END_RETURN ? 0 : (unsigned)((b->target - 0x1000) / BYTES);
}

static void execute(struct program *p)
{
	unsigned at = 0;

	for (unsigned i = 0; i < N_STEPS; i++) {
		if (!at) {
			at = 1 + below(N_BLOCKS);
			add_extra(p, at, COUNT_EXTRA_ENTER);
		}
		at = step(p, at);
	}
	if (at) {
		p->truth[at].n++;
		add_extra(p, at, COUNT_EXTRA_LEAVE);
	}
}

static struct count_flow solve(const struct program *p)
{
	struct count_flow_input in = { .blocks = p->blocks,
				       .extras = p->extras,
				       .counters = p->counters,
				       .n_blocks = N_BLOCKS + 1,
				       .n_extras = p->n_extras,
				       .n_counters = p->n_counters };
	struct count_flow flow;

	count_flow_solve(&in, &flow);
	return flow;
}

static void what_has_no_counter_is_told_from_the_rest(void **state)
{
	static struct program p;

	(void)state;
	for (unsigned trial = 0; trial < 300; trial++) {
		struct count_flow flow;

		make(&p);
		execute(&p);
		flow = solve(&p);
		assert_int_equal(flow.n_unbalanced, 0);
		assert_int_equal(flow.n_unknown, 0);
		for (unsigned i = 1; i <= N_BLOCKS; i++) {
			assert_int_equal(flow.blocks[i].n, p.truth[i].n);
			assert_int_equal(flow.blocks[i].on, p.truth[i].on);
			assert_int_equal(flow.blocks[i].to, p.truth[i].to);
		}
		count_flow_fini(&flow);
	}
}

/* With counters everywhere, each of them can be held against the others. */
static void what_does_not_add_up_is_noticed(void **state)
{
	struct count_file_block blocks[] = {
		{ 0 },
		{ .addr = 0x1000,
		  .size_bytes = 16,
		  .end = COUNT_END_ON,
		  .inside = 1,
		  .on = 2 },
		{ .addr = 0x1010,
		  .size_bytes = 16,
		  .end = COUNT_END_RETURN,
		  .inside = 3,
		  .to = 4 },
	};
	struct count_file_extra enter = { .addr = 0x1000,
					  .kind = COUNT_EXTRA_ENTER,
					  .n = 5 };
	uint64_t counters[] = { 0, 5, 5, 4, 4 };
	struct count_flow_input in = { .blocks = blocks,
				       .extras = &enter,
				       .counters = counters,
				       .n_blocks = 3,
				       .n_extras = 1,
				       .n_counters = 5 };
	struct count_flow flow;

	(void)state;
	count_flow_solve(&in, &flow);
	assert_int_equal(flow.n_unbalanced, 1);
	count_flow_fini(&flow);
}

/* A caller calls a chosen function four times, twice under it already: its first block is
 * there twice, and one without instructions leads from the one to the other. */
static void nests_are_told_apart(void **state)
{
	struct count_file_block blocks[] = {
		{ 0 },
		{ .addr = 0x1000,
		  .size_bytes = 16,
		  .end = COUNT_END_CALL,
		  .target = 0x2000,
		  .inside = 1 },
		{ .addr = 0x2000,
		  .target = 0x2000,
		  .end = COUNT_END_ENTER,
		  .nest = 0,
		  .entered = 1 },
		{ .addr = 0x2000, .size_bytes = 16, .end = COUNT_END_RETURN, .nest = 1 },
		{ .addr = 0x1000,
		  .size_bytes = 16,
		  .end = COUNT_END_CALL,
		  .target = 0x2000,
		  .nest = 1,
		  .inside = 2 },
		{ .addr = 0x1010, .size_bytes = 16, .end = COUNT_END_STOP, .inside = 3 },
	};
	const struct count_file_extra extras[] = {
		{ .addr = 0x1000, .kind = COUNT_EXTRA_ENTER, .n = 4 },
		{ .addr = 0x1000, .kind = COUNT_EXTRA_ENTER, .nest = 1, .n = 2 },
		{ .addr = 0x1020, .block = 5, .kind = COUNT_EXTRA_LEAVE, .n = 6 },
	};
	const struct count_file_return returns[] = { { 5, 0 } };
	const uint64_t counters[] = { 0, 4, 2, 6 };
	struct count_flow_input in = { .blocks = blocks,
				       .returns = returns,
				       .extras = extras,
				       .counters = counters,
				       .n_blocks = 6,
				       .n_returns = 1,
				       .n_extras = 3,
				       .n_counters = 4 };
	struct count_flow flow;

	(void)state;
	count_flow_solve(&in, &flow);
	assert_int_equal(flow.n_unbalanced, 0);
	assert_int_equal(flow.n_unknown, 0);
	assert_int_equal(flow.blocks[2].to, 4);
	assert_int_equal(flow.blocks[3].n, 6);
	assert_int_equal(flow.blocks[4].n, 2);
	assert_int_equal(flow.blocks[5].returned_to, 6);
	count_flow_fini(&flow);
}

static void indices_out_of_range_count_as_nothing(void **state)
{
	struct count_file_block blocks[] = {
		{ 0 },
		{ .addr = 1,
		  .size_bytes = 1,
		  .end = 77,
		  .inside = 99,
		  .on = 98,
		  .to = 97 },
		{ .addr = 2, .size_bytes = 0, .end = COUNT_END_JUMP, .target = 2 },
	};
	struct count_file_pair pair = { .block = 55, .counter = 66, .target = 1 };
	struct count_file_return back = { .block = 9, .counter = 9 };
	struct count_file_extra extra = { .block = 77, .kind = 5, .n = 1 };
	struct count_flow_input in = { .blocks = blocks,
				       .pairs = &pair,
				       .returns = &back,
				       .extras = &extra,
				       .n_blocks = 3,
				       .n_pairs = 1,
				       .n_returns = 1,
				       .n_extras = 1 };
	struct count_flow flow;

	(void)state;
	count_flow_solve(&in, &flow);
	assert_int_equal(flow.blocks[1].n, 0);
	assert_int_equal(flow.n_unknown, 1); /* a block that only leads to itself */
	count_flow_fini(&flow);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_counter_is_told_from_the_rest),
		cmocka_unit_test(what_does_not_add_up_is_noticed),
		cmocka_unit_test(nests_are_told_apart),
		cmocka_unit_test(indices_out_of_range_count_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
