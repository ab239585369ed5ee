/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void lists_of_cpus_are_ascending_ranges(void **state)
{
	static const struct {
		const char *text;
		int rc;
		size_t n;
		uint32_t last;
	} t[] = {
		{ "0", 0, 1, 0 },
		{ "0-3,5\n", 0, 5, 5 },
		{ "7,8-9", 0, 3, 9 },
		{ "", ERR_FORMAT, 0, 0 },
		{ "3-1", ERR_FORMAT, 0, 0 },
		{ "1,1", ERR_FORMAT, 0, 0 },
		{ "0-70000", ERR_FORMAT, 0, 0 },
		{ "0-3,", ERR_FORMAT, 0, 0 },
		{ "0;1", ERR_FORMAT, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cpus c = { 0 };

		assert_int_equal(cpus_parse(&c, t[i].text, NULL), t[i].rc);
		if (t[i].rc == 0) {
			assert_int_equal(c.ids.n, t[i].n);
			assert_int_equal(c.ids.at[c.ids.n - 1], t[i].last);
		}
		cpus_fini(&c);
	}
}

static void some_cpu_is_online(void **state)
{
	struct cpus c = { 0 };

	(void)state;
	assert_int_equal(cpus_online(&c, NULL), 0);
	assert_true(c.ids.n > 0);
	cpus_fini(&c);
}

static void cpus_online_are_present(void **state)
{
	struct cpus online = { 0 }, present = { 0 };

	(void)state;
	assert_int_equal(cpus_online(&online, NULL), 0);
	assert_int_equal(cpus_present(&present, NULL), 0);
	assert_true(online.ids.n > 0);
	vec_each(id, &online.ids)
		assert_true(cpus_has(&present, *id));
	assert_false(cpus_has(&present, CPUS_MAX));
	cpus_fini(&online);
	cpus_fini(&present);
}

static void a_cpu_that_stays_has_one_life(void **state)
{
	struct cpus c = { 0 };

	(void)state;
	assert_int_equal(cpus_online(&c, NULL), 0);
	assert_true(cpus_life(c.ids.at[0]) == cpus_life(c.ids.at[0]));
	assert_int_equal(cpus_life(CPUS_MAX - 1), 0);
	cpus_fini(&c);
}

static void processors_are_told_in_numbers(void **state)
{
	static const struct {
		const char *text, *processor;
	} t[] = {
		{ "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
		  "model\t\t: 17\nmodel name\t: AMD EPYC 9\n",
		  "AuthenticAMD 25 17" },
		{ "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\n"
		  "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
		  "CPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\n"
		  "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
		  "0x41 8 0xd0c" },
		{ "", "  " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char path[] = "/tmp/dwell-cpuinfo-XXXXXX", text[128];
		int fd = mkstemp(path);
		size_t n = strlen(t[i].text);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, t[i].text, n), n);
		close(fd);
		cpus_processor_of(path, text, sizeof(text));
		unlink(path);
		assert_string_equal(text, t[i].processor);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cpus_are_ascending_ranges),
		cmocka_unit_test(some_cpu_is_online),
		cmocka_unit_test(cpus_online_are_present),
		cmocka_unit_test(a_cpu_that_stays_has_one_life),
		cmocka_unit_test(processors_are_told_in_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
