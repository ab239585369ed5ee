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

static void neighbours_share_their_outer_frames(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 90, 120, 1, 0 },
						    { 90, 110, 2, 1 },
						    { 110, 120, 3, 1 },
						    { 115, 120, 4, 2 } };

	(void)state;
	chrome_slices_add(&s, 100, 10, (const uint32_t[]){ 1, 2 }, 2);
	chrome_slices_add(&s, 110, 10, (const uint32_t[]){ 1, 2 }, 2);
	chrome_slices_add(&s, 115, 5, (const uint32_t[]){ 1, 3 }, 2);
	chrome_slices_add(&s, 120, 5, (const uint32_t[]){ 1, 3, 4 }, 3);
	chrome_slices_finish(&s);
	check_slices(&s, want, 4);
}

static void what_would_overlap_is_cut(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 0, 50, 1, 0 }, { 50, 60, 2, 0 } };

	(void)state;
	chrome_slices_add(&s, 50, 80, (const uint32_t[]){ 1 }, 1);
	chrome_slices_add(&s, 60, 40, (const uint32_t[]){ 2 }, 1);
	chrome_slices_add(&s, 60, 10, (const uint32_t[]){ 3 }, 1); /* no time is left */
	chrome_slices_finish(&s);
	check_slices(&s, want, 2);
}

static void a_gap_ends_what_was_there(void **state)
{
	own(chrome_slices_fini) struct chrome_slices s = { 0 };
	static const struct chrome_slice want[] = { { 90, 100, 1, 0 },
						    { 111, 131, 1, 0 } };

	(void)state;
	chrome_slices_add(&s, 100, 10, (const uint32_t[]){ 1 }, 1);
	chrome_slices_add(&s, 121, 10, (const uint32_t[]){ 1 }, 1);
	chrome_slices_add(&s, 131, 8, (const uint32_t[]){ 1 }, 1); /* 2 are too few */
	chrome_slices_finish(&s);
	check_slices(&s, want, 2);
	chrome_slices_clear(&s);
	chrome_slices_add(&s, 5, 5, (const uint32_t[]){ 7 }, 1);
	chrome_slices_finish(&s);
	check_slices(&s, &(struct chrome_slice){ 0, 5, 7, 0 }, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_share_their_outer_frames),
		cmocka_unit_test(what_would_overlap_is_cut),
		cmocka_unit_test(a_gap_ends_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
