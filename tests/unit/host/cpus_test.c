/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"

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

static void make_file(const char *directory, const char *name, const char *text)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);
	own(fclosep) FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
}

static void make_cache(const char *directory, unsigned i, const char *type,
		       const char *size)
{
	own(freep) char *path = xasprintf("%s/index%u", directory, i);

	assert_int_equal(mkdir(path, 0700), 0);
	make_file(path, "type", type);
	make_file(path, "size", size);
}

/* Numbers, and what tells of a core that a hypervisor gives another one's number. */
static void processors_are_told_in_numbers_and_features(void **state)
{
	static const struct {
		const char *text, *l1i, *processor;
	} t[] = {
		{ "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
		  "model\t\t: 17\nmodel name\t: AMD EPYC 9\n",
		  NULL, "AuthenticAMD 25 17" },
		{ "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
		  "model\t\t: 167\nflags\t\t: fpu amx_bf16 avx512f amx_tile\n\n"
		  "processor\t: 1\nflags\t\t: fpu avx_vnni\n",
		  "64K\n", "GenuineIntel 6 167 avx512f amx_tile l1i:64K" },
		{ "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\n"
		  "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
		  "CPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\n"
		  "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
		  NULL, "0x41 8 0xd0c" },
		{ "", NULL, "  " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char directory[] = "/tmp/dwell-cpus-XXXXXX", text[128];

		assert_non_null(mkdtemp(directory));

		own(freep) char *path = xasprintf("%s/cpuinfo", directory);
		own(freep) char *remove = xasprintf("rm -r %s", directory);

		make_file(directory, "cpuinfo", t[i].text);
		if (t[i].l1i) {
			make_cache(directory, 0, "Data\n", "48K\n");
			make_cache(directory, 1, "Instruction\n", t[i].l1i);
		}
		cpus_processor_of(path, directory, text, sizeof(text));
		assert_int_equal(system(remove), 0);
		assert_string_equal(text, t[i].processor);
	}
}

/* The flags of one that has many are longer than other lines. */
static void the_last_of_many_flags_is_found(void **state)
{
	char directory[] = "/tmp/dwell-cpus-XXXXXX", text[128];
	struct buf b = { 0 };

	(void)state;
	assert_non_null(mkdtemp(directory));

	own(freep) char *path = xasprintf("%s/cpuinfo", directory);

	buf_puts(&b, "flags\t\t:");
	for (int i = 0; i < 300; i++)
		buf_printf(&b, " flag%d", i);
	buf_puts(&b, " amx_tile\n");
	make_file(directory, "cpuinfo", buf_str(&b));
	cpus_processor_of(path, directory, text, sizeof(text));
	unlink(path);
	rmdir(directory);
	buf_fini(&b);
	assert_string_equal(text, "   amx_tile");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cpus_are_ascending_ranges),
		cmocka_unit_test(some_cpu_is_online),
		cmocka_unit_test(cpus_online_are_present),
		cmocka_unit_test(a_cpu_that_stays_has_one_life),
		cmocka_unit_test(processors_are_told_in_numbers_and_features),
		cmocka_unit_test(the_last_of_many_flags_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
