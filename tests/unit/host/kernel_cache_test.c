/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "host/kernel.h"

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

	static const uint64_t addrs[] = { 0x1001, 0x1002, 0x2fff, 0x6000 };

	assert_int_equal(
		kernel_cache_select_in(cache, boot_id, source, addrs, 4, &b, NULL), 0);
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

/* The first half of the addresses lies close together, the others far apart. */
static void a_long_cache_is_searched_to_the_right_line(void **state)
{
	struct buf text = { 0 }, want = { 0 }, b = { 0 };
	uint64_t addrs[100];

	(void)state;
	for (unsigned i = 0; i < 5000; i++)
		buf_printf(&text, "%016x T function_%0*u\n", 0x1000 + 16 * i, i % 40, i);
	write_source(buf_str(&text));
	for (unsigned i = 0; i < 50; i++) {
		addrs[i] = 0x1000 + 11 * i;
		addrs[50 + i] = 0x1000 + 1600 * (i + 1) + 7;
	}
	kernel_select_sorted(buf_str(&text), text.size, addrs, 100, &want);
	for (unsigned pass = 0; pass < 2; pass++) { /* without and with the cache */
		buf_clear(&b);
		assert_int_equal(kernel_cache_select_in(cache, "long\n", source, addrs,
							100, &b, NULL),
				 0);
		assert_string_equal(buf_str(&b), buf_str(&want));
	}
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&b);
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
		cmocka_unit_test(a_long_cache_is_searched_to_the_right_line),
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
