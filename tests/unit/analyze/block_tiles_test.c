/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_tiles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#include "base/own.h"

#define MAX 8

struct row {
	const char *what;
	struct block_span spans[MAX]; /* until one without times */
	struct block_tile tiles[MAX]; /* of [100, 200), until one without start */
};

#define MOST UINT64_MAX

static const struct row rows[] = {
	{ "no block", { { 0 } }, { { 100, 0 } } },
	{ "one block", { { 110, 120, 7 } }, { { 100, 0 }, { 110, 7 }, { 120, 0 } } },
	{ "all of the range", { { 100, 200, 7 } }, { { 100, 7 } } },
	{ "adjacent",
	  { { 110, 120, 7 }, { 120, 130, 7 } },
	  { { 100, 0 }, { 110, 7 }, { 120, 7 }, { 130, 0 } } },
	{ "apart",
	  { { 140, 150, 2 }, { 110, 120, 7 } },
	  { { 100, 0 }, { 110, 7 }, { 120, 0 }, { 140, 2 }, { 150, 0 } } },
	{ "identical, of two processes",
	  { { 110, 120, 7 }, { 110, 120, 5 } },
	  { { 100, 0 }, { 110, 12 }, { 120, 0 } } },
	{ "entered in the middle",
	  { { 110, 120, 7 }, { 114, 120, 5 } },
	  { { 100, 0 }, { 110, 7 }, { 114, 12 }, { 120, 0 } } },
	{ "ended in the middle",
	  { { 110, 120, 7 }, { 110, 114, 5 } },
	  { { 100, 0 }, { 110, 12 }, { 114, 7 }, { 120, 0 } } },
	{ "nested",
	  { { 112, 116, 5 }, { 110, 120, 7 } },
	  { { 100, 0 }, { 110, 7 }, { 112, 12 }, { 116, 7 }, { 120, 0 } } },
	{ "nested twice",
	  { { 114, 115, 1 }, { 112, 116, 5 }, { 110, 120, 7 } },
	  { { 100, 0 },
	    { 110, 7 },
	    { 112, 12 },
	    { 114, 13 },
	    { 115, 12 },
	    { 116, 7 },
	    { 120, 0 } } },
	{ "overlapping in part",
	  { { 110, 120, 7 }, { 115, 130, 5 } },
	  { { 100, 0 }, { 110, 7 }, { 115, 12 }, { 120, 5 }, { 130, 0 } } },
	{ "chained, each over the next",
	  { { 110, 120, 1 }, { 115, 130, 2 }, { 125, 140, 4 } },
	  { { 100, 0 },
	    { 110, 1 },
	    { 115, 3 },
	    { 120, 2 },
	    { 125, 6 },
	    { 130, 4 },
	    { 140, 0 } } },
	{ "a prefix that is skipped",
	  { { 110, 114, 3 }, { 111, 114, 9 } },
	  { { 100, 0 }, { 110, 3 }, { 111, 12 }, { 114, 0 } } },
	{ "as often as can be told",
	  { { 110, 120, MOST }, { 120, 130, MOST - 1 } },
	  { { 100, 0 }, { 110, MOST }, { 120, MOST - 1 }, { 130, 0 } } },
	{ "together oftener than can be told, then no more",
	  { { 110, 140, MOST - 1 }, { 120, 130, MOST - 1 }, { 125, 128, 1 } },
	  { { 100, 0 },
	    { 110, MOST - 1 },
	    { 120, MOST },
	    { 125, MOST },
	    { 128, MOST },
	    { 130, MOST - 1 },
	    { 140, 0 } } },
	{ "to the edges",
	  { { 100, 110, 7 }, { 190, 200, 5 } },
	  { { 100, 7 }, { 110, 0 }, { 190, 5 } } },
	{ "cut off at the edges",
	  { { 90, 110, 7 }, { 190, 210, 5 } },
	  { { 100, 7 }, { 110, 0 }, { 190, 5 } } },
	{ "outside, or of no size",
	  { { 80, 100, 7 }, { 200, 210, 5 }, { 150, 150, 3 }, { 160, 150, 2 } },
	  { { 100, 0 } } },
};

static size_t n_spans(const struct row *r)
{
	size_t n = 0;

	while (n < MAX && r->spans[n].times)
		n++;
	return n;
}

static void blocks_become_pieces_that_do_not_overlap(void **state unused)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct block_tiles t;
		size_t n = 0;

		block_tiles_make(&t, r->spans, n_spans(r), 100, 200);
		vec_each(tile, &t.all) {
			if (n == MAX || tile->start != r->tiles[n].start ||
			    tile->times != r->tiles[n].times)
				fail_msg("%s: piece %zu is %llu from %llu", r->what, n,
					 (unsigned long long)tile->times,
					 (unsigned long long)tile->start);
			n++;
		}
		if (n < MAX && r->tiles[n].start)
			fail_msg("%s: %zu pieces only", r->what, n);
		block_tiles_fini(&t);
	}
}

static void an_empty_range_has_no_piece(void **state unused)
{
	static const struct block_span span = { 0, UINT64_MAX, 1 };
	struct block_tiles t;

	block_tiles_make(&t, &span, 1, 100, 100);
	assert_int_equal(t.all.n, 0);
	block_tiles_make(&t, &span, 1, 200, 100);
	assert_int_equal(t.all.n, 0);
}

/* Each address for itself, of blocks that are anywhere. */
static void every_address_has_the_sum_of_its_blocks(void **state unused)
{
	struct block_span spans[40];
	unsigned seed = 1;

	for (int round = 0; round < 200; round++) {
		struct block_tiles t;
		size_t at = 0;

		for (size_t i = 0; i < 40; i++) {
			uint64_t start = (uint64_t)rand_r(&seed) % 120;

			spans[i] =
				(struct block_span){ start,
						     start + (uint64_t)rand_r(&seed) % 20,
						     (uint64_t)rand_r(&seed) % 5 };
		}
		block_tiles_make(&t, spans, 40, 10, 110);
		for (uint64_t a = 10; a < 110; a++) {
			uint64_t sum = 0;

			for (size_t i = 0; i < 40; i++)
				if (spans[i].start <= a && a < spans[i].end)
					sum += spans[i].times;
			if (at + 1 < t.all.n && t.all.at[at + 1].start <= a)
				at++;
			assert_int_equal(t.all.at[at].times, sum);
		}
		assert_int_equal(at, t.all.n - 1);
		block_tiles_fini(&t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_become_pieces_that_do_not_overlap),
		cmocka_unit_test(an_empty_range_has_no_piece),
		cmocka_unit_test(every_address_has_the_sum_of_its_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
