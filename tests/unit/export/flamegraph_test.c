/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

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

static void a_large_profile_is_pruned_to_a_megabyte_and_says_so(unused void **state)
{
	own(table_profile_wide_fini) struct table_profile wide =
		table_profile_wide(50000);
	size_t size;

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
