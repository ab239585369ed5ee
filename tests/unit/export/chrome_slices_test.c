/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#include "base/own.h"

static void check_slices(const struct chrome_slices *s, const struct chrome_slice *want,
			 size_t n)
{
	assert_int_equal(s->slices.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(s->slices.at[i].from_ns, want[i].from_ns);
		assert_int_equal(s->slices.at[i].to_ns, want[i].to_ns);
		assert_int_equal(s->slices.at[i].frame, want[i].frame);
		assert_int_equal(s->slices.at[i].depth, want[i].depth);
	}
}

/* A piece of time, whose gap is as long, and its frames; the last n_own its own. */
static void add(struct chrome_slices *s, uint64_t from_ns, uint64_t to_ns,
		const uint32_t *frames, size_t n, size_t n_own)
{
	const struct chrome_span piece = { .from_ns = from_ns,
					   .to_ns = to_ns,
					   .gap_ns = to_ns - from_ns };

	chrome_slices_add(s, &piece, &(struct chrome_frames){ frames, n, n_own });
}

static void neighbours_share_their_outer_frames(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 90, 120, 1, 0 },
						    { 90, 110, 2, 1 },
						    { 110, 120, 3, 1 },
						    { 115, 120, 4, 2 } };

	(void)state;
	add(&s, 90, 100, (const uint32_t[]){ 1, 2 }, 2, 0);
	add(&s, 100, 110, (const uint32_t[]){ 1, 2 }, 2, 0);
	add(&s, 110, 115, (const uint32_t[]){ 1, 3 }, 2, 0);
	add(&s, 115, 120, (const uint32_t[]){ 1, 3, 4 }, 3, 0);
	chrome_slices_finish(&s);
	check_slices(&s, want, 4);
}

static void what_is_its_own_is_not_shared(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 10, 14, 1, 0 },
						    { 10, 12, 2, 1 },
						    { 10, 12, 3, 2 },
						    { 12, 14, 2, 1 },
						    { 12, 14, 3, 2 } };

	(void)state;
	add(&s, 10, 12, (const uint32_t[]){ 1, 2, 3 }, 3, 2);
	add(&s, 12, 14, (const uint32_t[]){ 1, 2, 3 }, 3, 2);
	chrome_slices_finish(&s);
	check_slices(&s, want, 5);
}

static void a_gap_ends_what_was_there(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 90, 100, 1, 0 },
						    { 111, 131, 1, 0 } };

	(void)state;
	add(&s, 90, 100, (const uint32_t[]){ 1 }, 1, 0);
	add(&s, 111, 121, (const uint32_t[]){ 1 }, 1, 0);
	add(&s, 123, 131, (const uint32_t[]){ 1 }, 1, 0); /* 2 are too few */
	chrome_slices_finish(&s);
	check_slices(&s, want, 2);
	chrome_slices_clear(&s);
	add(&s, 0, 5, (const uint32_t[]){ 7 }, 1, 0);
	chrome_slices_finish(&s);
	check_slices(&s, &(struct chrome_slice){ 0, 5, 7, 0 }, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_share_their_outer_frames),
		cmocka_unit_test(what_is_its_own_is_not_shared),
		cmocka_unit_test(a_gap_ends_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
