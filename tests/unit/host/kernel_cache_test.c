/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define FUNCTIONS                                                                        \
	"0000000000001000 T first\n"                                                     \
	"0000000000002000 t second\n"

static char dir[] = "/tmp/kernel_cache_test.XXXXXX";
static char cache[64], source[64];

static void write_source(const char *text)
{
	own(fclosep) FILE *f = fopen(source, "w");

	fputs(text, f);
}

static void expect(const char *boot_id, const char *want)
{
	struct buf b = { 0 };

	assert_int_equal(kernel_cache_symbols_in(cache, boot_id, source, &b, NULL), 0);
	assert_string_equal(buf_str(&b), want);
	buf_fini(&b);
}

static void functions_are_kept_until_the_next_boot(void **state)
{
	(void)state;
	write_source("0000000000001000 T first\n0000000000001800 d data\n"
		     "0000000000002000 t second\n0000000000001f00 t back\n"
		     "0000000000009000 t other\t[module]\n");
	expect("one\n", FUNCTIONS);
	write_source("0000000000005000 T moved\n");
	expect("one\n", FUNCTIONS);
	expect("two\n", "0000000000005000 T moved\n");
}

static void a_cache_that_others_may_write_is_not_trusted(void **state)
{
	(void)state;
	write_source("0000000000001000 T first\n");
	expect("three\n", "0000000000001000 T first\n");
	write_source("0000000000005000 T moved\n");
	assert_int_equal(chmod(cache, 0666), 0);
	expect("three\n", "0000000000005000 T moved\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_kept_until_the_next_boot),
		cmocka_unit_test(a_cache_that_others_may_write_is_not_trusted),
	};

	if (!mkdtemp(dir))
		return 1;
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(source, sizeof(source), "%s/source", dir);

	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	unlink(cache);
	unlink(source);
	rmdir(dir);
	return rc;
}
