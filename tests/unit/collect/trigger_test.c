/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/trigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct trigger_wish wished;

/* As if everything were at 0x10. */
static int find(const struct trigger_wish *w, struct trigger_code *ret, struct err *e)
{
	(void)e;
	wished = *w;
	snprintf(ret->path, sizeof(ret->path), "/found%.100s", w->file);
	ret->places[0].offset = 0x10;
	ret->places[0].value.is_signed = *w->value != '\0';
	ret->n_places = 1;
	return 0;
}

static void a_function_of_a_file_is_named_after_both(void **state)
{
	static const struct {
		const char *text, *file, *name, *value, *event;
		enum trigger_kind kind;
		unsigned n_events;
	} t[] = {
		{ "uprobe:/bin/sh:main", "/bin/sh", "main", "", "uprobe:sh:main",
		  TRIGGER_ENTRY, 1 },
		{ "uretprobe:sh:a::b.return", "sh", "a::b", "return", "uretprobe:sh:a::b",
		  TRIGGER_RETURN, 3 },
		{ "uprobe:/x:f.part.0.arg12", "/x", "f.part.0", "arg12",
		  "uprobe:x:f.part.0", TRIGGER_ENTRY, 3 },
		{ "uprobe:/x:f.arg+4", "/x", "f.arg+4", "", "uprobe:x:f.arg+4",
		  TRIGGER_ENTRY, 1 },
		{ "usdt:/x:db:query.arg2", "/x", "db:query", "arg2", "usdt:x:db:query",
		  TRIGGER_NOTE, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct experiment_choice c;

		assert_int_equal(trigger_parse(t[i].text, find, &c, NULL), 0);
		assert_string_equal(wished.file, t[i].file);
		assert_string_equal(wished.name, t[i].name);
		assert_string_equal(wished.value, t[i].value);
		assert_int_equal(wished.kind, t[i].kind);
		assert_string_equal(c.experiment->events[0].name, t[i].event);
		assert_int_equal(c.experiment->n_events, t[i].n_events);
		assert_int_equal(trigger_of(c.experiment)->code.places[0].offset, 0x10);
	}
}

static void what_names_no_place_is_refused(void **state)
{
	static const char *const t[] = {
		"uprobe",	   "uprobe:",	   "uprobe:/bin/sh",
		"uprobe:/bin/sh:", "uprobe::main", "uprobe:/bin/sh:.arg1",
		"uretprobe",	   "usdt:/x",	   "usdt"
	};
	struct experiment_choice c;
	char text[6000];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(trigger_parse(t[i], find, &c, &e), ERR_USAGE);
		assert_true(e.text[0]);
	}
	memset(text, 'x', sizeof(text));
	memcpy(text, "uprobe:/x:", 10);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(trigger_parse(text, find, &c, NULL), ERR_USAGE);
	assert_int_equal(trigger_parse("uprobe:/x:y", NULL, &c, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_a_file_is_named_after_both),
		cmocka_unit_test(what_names_no_place_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
