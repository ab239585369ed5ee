/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

struct out {
	char *text;
	size_t size;
	FILE *f;
	struct json j;
};

static void begin(struct out *o)
{
	o->f = open_memstream(&o->text, &o->size);
	json_init(&o->j, o->f);
}

static void expect(struct out *o, const char *want)
{
	fclose(o->f);
	assert_string_equal(o->text, want);
	free(o->text);
}

static void commas_and_nesting_are_its_business(void **state)
{
	struct out o;

	(void)state;
	begin(&o);
	json_object(&o.j);
	json_key_str(&o.j, "name", "x");
	json_key_u64(&o.j, "n", UINT64_MAX);
	json_key(&o.j, "rows");
	json_array(&o.j);
	json_i64(&o.j, -1);
	json_array(&o.j);
	json_array_end(&o.j);
	json_object(&o.j);
	json_key_bool(&o.j, "ok", true);
	json_key(&o.j, "none");
	json_str(&o.j, NULL);
	json_object_end(&o.j);
	json_array_end(&o.j);
	json_key_double(&o.j, "d", 0.5);
	json_object_end(&o.j);
	expect(&o, "{\"name\":\"x\",\"n\":18446744073709551615,\"rows\":[-1,[],"
		   "{\"ok\":true,\"none\":null}],\"d\":0.5}");
}

static void foreign_names_stay_inside_their_quotes(void **state)
{
	static const struct {
		const char *s, *want;
	} t[] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\"" },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"" },
		{ "\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "日本", "\"日本\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct out o;

		begin(&o);
		json_str(&o.j, t[i].s);
		expect(&o, t[i].want);
	}
}

static void doubles_are_short_and_exact(void **state)
{
	static const struct {
		double v;
		const char *want;
	} t[] = {
		{ 0, "0" },
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1e300, "1e+300" },
		{ -2.5, "-2.5" },
		{ 123456789, "123456789" },
		{ NAN, "null" },
		{ INFINITY, "null" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct out o;

		begin(&o);
		json_double(&o.j, t[i].v);
		expect(&o, t[i].want);
	}
}

static void text_with_a_length_may_hold_zero_bytes(void **state)
{
	struct out o;

	(void)state;
	begin(&o);
	json_strn(&o.j, "a\0b", 3);
	expect(&o, "\"a\\u0000b\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_nesting_are_its_business),
		cmocka_unit_test(foreign_names_stay_inside_their_quotes),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(text_with_a_length_may_hold_zero_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
