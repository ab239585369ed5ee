/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/own.h"

#define HOUR UINT64_C(3600000000000)

struct log {
	char *text;
	size_t size;
	FILE *out;
	struct told told;
};

static void begin(struct log *l)
{
	*l = (struct log){ 0 };
	l->out = open_memstream(&l->text, &l->size);
}

static void expect(struct log *l, const char *text)
{
	fflush(l->out);
	assert_string_equal(l->text, text);
	fclose(l->out);
	free(l->text);
}

static void failed(struct log *l, const char *text, uint64_t now_ns)
{
	told_failure(&l->told, l->out, "d", text, now_ns);
}

static void what_fails_again_is_told_again_after_long(unused void **state)
{
	struct log l;

	begin(&l);
	for (uint64_t i = 0; i < 10; i++)
		failed(&l, "full", i);
	failed(&l, "full", HOUR);
	failed(&l, "full", HOUR + 1);
	expect(&l, "d: full\nd: full (and 9 times before)\n");
}

static void failures_that_alternate_are_told_once_each(unused void **state)
{
	struct log l;

	begin(&l);
	for (uint64_t i = 0; i < 10; i++)
		failed(&l, i % 2 ? "one" : "other", i);
	expect(&l, "d: other\nd: one\n");
}

static void what_fails_after_it_worked_is_told(unused void **state)
{
	struct log l;

	begin(&l);
	told_over(&l.told, l.out, "d");
	failed(&l, "full", 1);
	told_over(&l.told, l.out, "d");
	told_over(&l.told, l.out, "d");
	failed(&l, "full", 2);
	expect(&l, "d: full\nd: it works again\nd: full\n");
}

/* Of more than are remembered none is lost. */
static void many_failures_are_all_told(unused void **state)
{
	struct log l;
	size_t n = 0;

	begin(&l);
	for (int i = 0; i < 3 * TOLD_MAX; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		failed(&l, text, 1);
	}
	fflush(l.out);
	for (const char *at = l.text; *at; at++)
		n += *at == '\n';
	assert_int_equal(n, 3 * TOLD_MAX);
	fclose(l.out);
	free(l.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_again_is_told_again_after_long),
		cmocka_unit_test(failures_that_alternate_are_told_once_each),
		cmocka_unit_test(what_fails_after_it_worked_is_told),
		cmocka_unit_test(many_failures_are_all_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
