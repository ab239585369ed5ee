/* SPDX-License-Identifier: Apache-2.0 */
#include "store/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "base/mem.h"

static const struct manifest example = {
	.host = "ant",
	.label = "before the upgrade",
	.version = "0.1.0",
	.clock = "monotonic",
	.epoch = 7,
	.start_s = 1763721000,
	.end_s = 1763724600,
	.period_ns = 192307,
};

/* The text with its checksum. */
static void sealed(const char *text, struct buf *ret)
{
	buf_clear(ret);
	buf_puts(ret, text);
	buf_printf(ret, "crc %08x\n", crc32c(0, text, strlen(text)));
}

static void a_manifest_comes_back(void **state)
{
	own(buf_fini) struct buf text = { 0 };
	struct manifest m;

	(void)state;
	manifest_encode(&example, &text);
	assert_int_equal(manifest_parse(text.data, text.size, &m, NULL), 0);
	assert_string_equal(m.label, example.label);
	assert_string_equal(m.host, "ant");
	assert_int_equal(m.epoch, 7);
	assert_int_equal(m.end_s, example.end_s);
	assert_int_equal(m.period_ns, 192307);
}

static void a_manifest_that_is_cut_or_changed_is_refused(void **state)
{
	own(buf_fini) struct buf text = { 0 };
	struct manifest m;

	(void)state;
	manifest_encode(&example, &text);
	for (size_t n = 0; n < text.size; n++) {
		struct err e = { 0 };

		assert_int_equal(manifest_parse(text.data, n, &m, &e), ERR_FORMAT);
		assert_true(e.text[0]);
		text.data[n] ^= 4;
		assert_true(manifest_parse(text.data, text.size, &m, &e) < 0);
		text.data[n] ^= 4;
	}
}

static void keys_of_a_later_version_are_passed_over(void **state)
{
	own(buf_fini) struct buf text = { 0 };
	struct manifest m;

	(void)state;
	sealed("dwell-manifest 1\ncolour green\nepoch 3\n", &text);
	assert_int_equal(manifest_parse(text.data, text.size, &m, NULL), 0);
	assert_int_equal(m.epoch, 3);
	sealed("dwell-manifest 2\nepoch 3\n", &text);
	assert_int_equal(manifest_parse(text.data, text.size, &m, NULL), ERR_UNSUPPORTED);
}

static void senseless_values_are_refused(void **state)
{
	static const char *const lines[] = {
		"epoch -3", "epoch 4294967296",		 "epoch",
		"start x",  "start 9223372036854775808", "epoch 3 4"
	};
	own(buf_fini) struct buf text = { 0 };
	struct manifest m;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		own(freep) char *all = xasprintf("dwell-manifest 1\n%s\n", lines[i]);

		sealed(all, &text);
		if (manifest_parse(text.data, text.size, &m, NULL) != ERR_FORMAT)
			fail_msg("'%s' was taken", lines[i]);
	}
}

static void a_label_cannot_break_the_lines(void **state)
{
	own(buf_fini) struct buf text = { 0 };
	struct manifest m = example, again;

	(void)state;
	manifest_set(m.label, "one\nend 7\ttwo");
	manifest_encode(&m, &text);
	assert_int_equal(manifest_parse(text.data, text.size, &again, NULL), 0);
	assert_string_equal(again.label, "one end 7 two");
	assert_int_equal(again.end_s, example.end_s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_comes_back),
		cmocka_unit_test(a_manifest_that_is_cut_or_changed_is_refused),
		cmocka_unit_test(keys_of_a_later_version_are_passed_over),
		cmocka_unit_test(senseless_values_are_refused),
		cmocka_unit_test(a_label_cannot_break_the_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
