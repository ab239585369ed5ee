/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_choose.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Of processes only. */
static void choose_anchors_of_a_machine(bool is_supposed, int *ret_rc, size_t *ret_n)
{
	const struct scope machine = { .kind = SCOPE_CPUS };
	struct session_settings x = { .kind = SCOPE_CPUS, .n_choices = 1 };
	struct session_told told = { 0 };
	struct plan plans[SESSION_EXPERIMENTS_MAX];

	assert_int_equal(experiment_find("anchors", &x.choices[0], NULL), 0);
	x.choices[0].is_supposed = is_supposed;
	*ret_rc = session_choose(&x, &machine, plans, &told, NULL);
	*ret_n = x.n_choices;
	assert_string_equal(told.unrecorded, "");
}

static void what_nobody_asked_for_is_left_out_where_it_cannot_be(void **state)
{
	size_t n;
	int rc;

	(void)state;
	choose_anchors_of_a_machine(true, &rc, &n);
	assert_int_equal(rc, 0);
	assert_int_equal(n, 0);
}

static void what_was_asked_for_is_refused_where_it_cannot_be(void **state)
{
	size_t n;
	int rc;

	(void)state;
	choose_anchors_of_a_machine(false, &rc, &n);
	assert_int_equal(rc, ERR_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_asked_for_is_left_out_where_it_cannot_be),
		cmocka_unit_test(what_was_asked_for_is_refused_where_it_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
