/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "table_profile.h"

#define MAX_BYTES 1000000

static const struct export_options hostile = {
	.title = "</script><script>alert(1)</script>",
};

static void no_name_can_end_the_data(unused void **state)
{
	own(freep) char *text = table_profile_export(&table_profile_example, "flamegraph",
						     &hostile, NULL);
	char *data = strstr(text, "id=\"data\">");

	assert_non_null(data);
	data += strlen("id=\"data\">");

	char *end = strstr(data, "</script>");

	assert_non_null(end);
	/* The first '<' after the data's begin is the page's own end tag. */
	assert_ptr_equal(strchr(data, '<'), end);
	*end = 0;
	assert_non_null(strstr(data, "\\u003cimg src=x onerror=alert(1)\\u003e"));
	assert_null(strchr(data, '>'));
	assert_null(strchr(data, '&'));
}

static void the_page_asks_for_nothing_from_outside(unused void **state)
{
	static const char *const outside[] = { "http://", "https://", "@import", "url(",
					       "src=\"",  "href=",    "fetch(" };
	own(freep) char *text = table_profile_export(&table_profile_example, "flamegraph",
						     &hostile, NULL);

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_null(strstr(text, outside[i]));
	assert_non_null(strstr(text, "default-src 'none'"));
}

static void totals_are_those_of_the_profile(unused void **state)
{
	own(freep) char *text = table_profile_export(&table_profile_example, "flamegraph",
						     &hostile, NULL);

	assert_non_null(strstr(text, "\"total\":37000001,\"count\":37"));
	assert_non_null(strstr(text, "\"total\":7,\"count\":7"));
	assert_non_null(strstr(text, "\"prunedBelow\":0,"));
}

/* N stacks of different functions below one. */
static void make_wide(struct profile *p, uint32_t n)
{
	struct profile_function *f = xcalloc(n + 1, sizeof(*f));
	struct table_stack *s = xcalloc(n, sizeof(*s));
	struct profile_column *c = xcalloc(1, sizeof(*c));

	for (uint32_t i = 0; i <= n; i++)
		f[i] = (struct profile_function){
			.name = xasprintf("a_function_with_a_long_name_%u", i),
			.image = "wide",
			.is_resolved = true,
		};
	for (uint32_t i = 0; i < n; i++)
		s[i] = (struct table_stack){ 2, { n, i }, { 0 }, { 1 + i }, { 1 } };
	*c = (struct profile_column){ .name = "cpu-time",
				      .unit = "ns",
				      .experiment = "usertime",
				      .total_weight = (uint64_t)n * (n + 1) / 2,
				      .total_count = n };
	*p = (struct profile){ c, 1, f, n + 1, s, n };
}

static void free_wide(struct profile *p)
{
	for (uint32_t i = 0; i < p->n_functions; i++)
		free((void *)(uintptr_t)p->functions[i].name);
	free((void *)(uintptr_t)p->functions);
	free((void *)(uintptr_t)p->stacks);
	free((void *)(uintptr_t)p->columns);
}

static void a_large_profile_is_pruned_to_a_megabyte_and_says_so(unused void **state)
{
	own(free_wide) struct profile wide;
	size_t size;

	make_wide(&wide, 50000);

	own(freep) char *text =
		table_profile_export(&wide, "flamegraph", &hostile, &size);

	assert_true(size <= MAX_BYTES);
	assert_null(strstr(text, "\"prunedBelow\":0,"));
	assert_non_null(strstr(text, "[small frames]"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name_can_end_the_data),
		cmocka_unit_test(the_page_asks_for_nothing_from_outside),
		cmocka_unit_test(totals_are_those_of_the_profile),
		cmocka_unit_test(a_large_profile_is_pruned_to_a_megabyte_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
