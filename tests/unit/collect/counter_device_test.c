/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "scratch_directory.h"

static void formats_say_which_bits(void **state)
{
	static const struct {
		const char *text;
		unsigned word;
		uint64_t mask;
	} t[] = {
		{ "config:0-7\n", 0, 0xff },
		{ "config:8-15", 0, 0xff00 },
		{ "config:0-7,32-35\n", 0, 0xf000000ff },
		{ "config1:0", 1, 1 },
		{ "config2:63\n", 2, UINT64_C(1) << 63 },
	};
	static const char *const bad[] = {
		"",	     "config",	   "config:",	   "config:\n",
		"config3:0", "config:8-0", "config:64",	   "config:0-64",
		"config:0-", "config:0,",  "config:0 ",	   "config:0\n\n",
		"config:-1", "config:1x",  "config:0-1-2", "config:99999999999999999999",
	};
	struct counter_device_field f;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(counter_device_parse_field(t[i].text, &f));
		assert_int_equal(f.word, t[i].word);
		assert_int_equal(f.mask, t[i].mask);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(counter_device_parse_field(bad[i], &f));
}

static void values_go_where_their_bits_are(void **state)
{
	const struct counter_device_field f = { 1, 0xf000000ff };
	uint64_t words[COUNTER_DEVICE_WORDS] = { 1, 0x100, 3 };

	(void)state;
	assert_true(counter_device_place(&f, 0xabc, words));
	assert_int_equal(words[0], 1);
	assert_int_equal(words[1], 0xa000001bc);
	assert_int_equal(words[2], 3);
	assert_false(counter_device_place(&f, 0x1000, words));
	assert_int_equal(words[1], 0xa000001bc);
}

static void put(const char *root, const char *file, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make(const char *root)
{
	static const char *const folders[] = { "cpu", "cpu/events", "cpu/format", "odd" };
	char path[512];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put(root, "cpu/type", "4\n");
	put(root, "cpu/format/event", "config:0-7\n");
	put(root, "cpu/format/umask", "config:8-15\n");
	put(root, "cpu/format/edge", "config:18\n");
	put(root, "cpu/format/ldlat", "config1:0-15\n");
	put(root, "cpu/events/stalls", "event=0xa2,umask=0x01\n");
	put(root, "cpu/events/loop", "loop\n");
	put(root, "odd/type", "x\n");
}

static void terms_are_found_below_a_root(void **state)
{
	static const struct {
		const char *device, *terms;
		uint64_t config, config1;
		const char *reason;
	} t[] = {
		{ "cpu", "event=0x3c,umask=1", 0x13c, 0, NULL },
		{ "cpu", "event=60,edge", 0x4003c, 0, NULL },
		{ "cpu", "stalls", 0x1a2, 0, NULL },
		{ "cpu", "stalls,ldlat=30", 0x1a2, 30, NULL },
		{ "cpu", "config=0x1ff,config1=2", 0x1ff, 2, NULL },
		{ "cpu", "event=0x100", 0, 0, "too large" },
		{ "cpu", "event=x", 0, 0, "no number" },
		{ "cpu", "nothing", 0, 0, "no event and no term 'nothing'" },
		{ "cpu", "loop", 0, 0, "no term 'loop'" },
		{ "cpu", "", 0, 0, "no term" },
		{ "cpu", "event=1,", 0, 0, "no term" },
		{ "cpu", "../type", 0, 0, "no term" },
		{ "gpu", "event=1", 0, 0, "no device 'gpu'" },
		{ "odd", "event=1", 0, 0, "type is no number" },
		{ "..", "event=1", 0, 0, "counts nothing" },
		{ "", "event=1", 0, 0, "counts nothing" },
	};
	const char *root = scratch_directory_path;
	struct counter_device_event ev;
	struct err e;

	(void)state;
	make(root);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		e = (struct err){ 0 };
		if (counter_device_find(root, t[i].device, t[i].terms, &ev, &e) == 0) {
			assert_null(t[i].reason);
			assert_int_equal(ev.type, 4);
			assert_int_equal(ev.words[0], t[i].config);
			assert_int_equal(ev.words[1], t[i].config1);
		} else {
			assert_non_null(t[i].reason);
			assert_non_null(strstr(e.text, t[i].reason));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_say_which_bits),
		cmocka_unit_test(values_go_where_their_bits_are),
		cmocka_unit_test_setup_teardown(terms_are_found_below_a_root,
						scratch_directory_make,
						scratch_directory_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
