/* SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "table_profile.h"

static void formats_are_found_by_name(unused void **state)
{
	for (size_t i = 0; exporters[i]; i++)
		assert_ptr_equal(exporter_find(exporters[i]->name), exporters[i]);
	assert_null(exporter_find("nonsense"));
	assert_null(exporter_find(""));
}

static void formats_are_listed_in_alphabetical_order_and_described(unused void **state)
{
	for (size_t i = 0; exporters[i]; i++) {
		assert_true(*exporters[i]->suffix && *exporters[i]->mime &&
			    *exporters[i]->summary);
		if (i)
			assert_true(strcmp(exporters[i - 1]->name, exporters[i]->name) <
				    0);
	}
}

static void one_event_or_all_are_written(unused void **state)
{
	static const struct export_options all = { 0 };
	static const struct export_options one = { .column = 1, .has_column = true };
	static const struct export_options none = { .column = 2, .has_column = true };
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);
	size_t first;

	assert_int_equal(exporter_columns(p, &all, &first), 2);
	assert_int_equal(first, 0);
	assert_int_equal(exporter_columns(p, &one, &first), 1);
	assert_int_equal(first, 1);
	assert_int_equal(exporter_columns(p, &none, &first), 0);
}

static void a_format_is_one_file_or_several(unused void **state)
{
	for (size_t i = 0; exporters[i]; i++)
		assert_true(!exporters[i]->write != !exporters[i]->write_files);
}

static int open_nothing(unused struct export_sink *s, unused const char *name,
			unused FILE **ret, struct err *e)
{
	return err_set(e, ERR_OS, "a file was asked for");
}

static void a_profile_without_events_is_no_file_of_several(unused void **state)
{
	static const struct table_profile empty = { 0 };
	static const struct export_options o = { 0 };
	own(profile_freep) struct profile *p = table_profile_load(&empty);
	struct export_sink sink = { .open = open_nothing };

	for (size_t i = 0; exporters[i]; i++)
		if (exporters[i]->write_files)
			assert_int_equal(exporters[i]->write_files(p, &o, &sink, NULL),
					 0);
}

static void a_profile_without_events_is_an_empty_file_of_the_format(unused void **state)
{
	static const struct table_profile empty = { 0 };
	static const struct export_options o = { 0 };

	for (size_t i = 0; exporters[i]; i++) {
		if (!exporters[i]->write)
			continue;

		own(freep) char *text =
			table_profile_export(&empty, exporters[i]->name, &o, NULL);

		assert_non_null(text);
	}
}

static void a_full_disk_is_an_error_of_every_format(unused void **state)
{
	static const struct export_options o = { 0 };
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);

	for (size_t i = 0; exporters[i]; i++) {
		own(fclosep) FILE *full = fopen("/dev/full", "w");
		struct err e = { 0 };

		if (!exporters[i]->write)
			continue;
		assert_non_null(full);
		assert_int_equal(exporters[i]->write(p, &o, full, &e), ERR_OS);
		assert_non_null(strstr(e.text, "cannot write"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_found_by_name),
		cmocka_unit_test(formats_are_listed_in_alphabetical_order_and_described),
		cmocka_unit_test(one_event_or_all_are_written),
		cmocka_unit_test(a_format_is_one_file_or_several),
		cmocka_unit_test(a_profile_without_events_is_no_file_of_several),
		cmocka_unit_test(a_profile_without_events_is_an_empty_file_of_the_format),
		cmocka_unit_test(a_full_disk_is_an_error_of_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
