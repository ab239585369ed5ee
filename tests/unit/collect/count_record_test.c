/* SPDX-License-Identifier: Apache-2.0
 * A process that is given as tables, and what a recording holds of it. */
#include "collect/count_record.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "store/recording.h"
#include "scratch_file.h"

/* Compiled in memory, without a file: main calls leaf five times and ends in a system
 * call; the second block of leaf begins within its first. */
static const struct count_file_block blocks[] = {
	{ 0 },
	{ .addr = 0x1000,
	  .size_bytes = 8,
	  .n_insns = 3,
	  .end = COUNT_END_CALL,
	  .target = 0x2000,
	  .inside = 1 },
	{ .addr = 0x2000,
	  .size_bytes = 6,
	  .n_insns = 2,
	  .end = COUNT_END_RETURN,
	  .inside = 1 },
	{ .addr = 0x2004,
	  .size_bytes = 2,
	  .n_insns = 1,
	  .end = COUNT_END_RETURN,
	  .inside = 2 },
	{ .addr = 0x1008,
	  .size_bytes = 2,
	  .n_insns = 1,
	  .end = COUNT_END_JUMP_TO,
	  .inside = 3 },
	{ .addr = 0x100a,
	  .size_bytes = 2,
	  .n_insns = 1,
	  .end = COUNT_END_SYSCALL,
	  .inside = 4 },
};
static const struct count_file_pair pairs[] = { { 4, 5, 0x1000 }, { 4, 6, 0x2004 } };
static const struct count_file_return returns[] = { { 4, 3 }, { 5, 4 } };
static const struct count_file_extra extras[] = {
	{ .addr = 0x1000, .kind = COUNT_EXTRA_ENTER, .n = 1 },
	{ .addr = 0x100c, .block = 5, .kind = COUNT_EXTRA_LEAVE, .n = 1 },
};
static const uint64_t counters[] = { 0, 5, 1, 5, 1, 4, 1 };

static int print_block(void *ctx, uint32_t id, const struct model_basic_block *b,
		       struct err *e)
{
	(void)e;
	buf_printf(ctx, "%u %u+%u %u %u %" PRIu64 "\n", id, b->location, b->size_bytes,
		   b->n_instructions, b->end, b->times);
	return 0;
}

static int print_edge(void *ctx, const struct model_edge *x, struct err *e)
{
	(void)e;
	buf_printf(ctx, "%u %u %d %" PRIu64 "\n", x->block, x->kind, (int)x->location,
		   x->times);
	return 0;
}

static void print_samples(const struct recording *r, struct buf *out)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++) {
			const struct model_stack *s = &recording_stacks(r)[b.stack[k]];

			assert_int_equal(s->parent, 0);
			buf_printf(out, "%" PRIx64 " %" PRIu64 "\n",
				   recording_locations(r)[s->location].offset,
				   b.weight[k]);
		}
	}
}

static void write_it(struct count_record *c, const struct count_reader *r)
{
	struct writer *w = NULL;

	assert_int_equal(writer_create(scratch_file_path, NULL, &w, NULL), 0);
	c->writer = w;
	c->tracker = tracker_new(w);
	c->event = writer_event(w, &(struct model_event){ .flags = EVENT_EXACT });
	tracker_exec(c->tracker, 1, 0x7ffffff0, 0x7ffffff0, "test");
	count_record_take(c, 0x7ffffff0, 1, 2, r);
	tracker_free(c->tracker);
	assert_int_equal(writer_close(w, NULL), 0);
}

static void what_a_process_left_is_in_the_recording(void **state)
{
	const struct count_reader r = {
		.flow = { .blocks = blocks,
			  .pairs = pairs,
			  .returns = returns,
			  .extras = extras,
			  .counters = counters,
			  .n_blocks = 6,
			  .n_pairs = 2,
			  .n_returns = 2,
			  .n_extras = 2,
			  .n_counters = 7 },
		.n_lost = 3,
		.is_cut = true,
	};
	own(count_record_fini) struct count_record c = { .directory = "/" };
	own(recording_freep) struct recording *back = NULL;
	own(buf_fini) struct buf out = { 0 };

	(void)state;
	write_it(&c, &r);
	assert_int_equal(recording_open(scratch_file_path, &back, NULL), 0);
	assert_int_equal(recording_each_basic_block(back, print_block, &out, NULL), 0);
	buf_puts(&out, "-\n");
	assert_int_equal(recording_each_edge(back, print_edge, &out, NULL), 0);
	buf_puts(&out, "-\n");
	print_samples(back, &out);
	assert_string_equal(buf_str(&out), "0 0+8 3 3 5\n"
					   "1 1+6 2 6 5\n"
					   "2 2+2 1 6 1\n"
					   "3 3+2 1 4 5\n"
					   "4 4+2 1 7 1\n"
					   "-\n"
					   "0 2 1 5\n"
					   "1 5 -1 5\n"
					   "2 5 -1 1\n"
					   "3 6 -1 5\n"
					   "4 6 -1 1\n"
					   "3 3 0 4\n"
					   "3 3 2 1\n"
					   "0 8 -1 1\n"
					   "4 9 5 1\n"
					   "-\n"
					   "1000 15\n"
					   "1008 5\n"
					   "100a 1\n"
					   "2000 10\n"
					   "2004 1\n");
	assert_int_equal(c.n_unbalanced, 0);
	assert_int_equal(c.n_unknown, 0);
	assert_int_equal(c.n_lost, 3);
	assert_int_equal(c.n_cut, 1);
	assert_int_equal(c.n_undecoded, 5);
	assert_int_equal(c.n_samples, 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_process_left_is_in_the_recording,
						scratch_file_make, scratch_file_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
