/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/image_table.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/tracker.h"
#include "store/recording.h"

/* A pid that no running process has. */
#define PID 0x7ffffff0u

static char directory[] = "/tmp/image_table_test.XXXXXX";
static char recording[64], by_link[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(recording, sizeof(recording), "%s/a.dwell", directory);
	snprintf(by_link, sizeof(by_link), "%s/link", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(recording);
	unlink(by_link);
	return rmdir(directory);
}

/* What a recording calls the image of this mapping. */
static void assert_name(const char *path, const char *want)
{
	struct tracker_mmap map = {
		.start = 0x1000, .end = 0x2000, .path = path, .is_exec = true
	};
	own(recording_freep) struct recording *r = NULL;
	struct writer *w;

	assert_int_equal(
		writer_create(recording, &(struct writer_options){ 0 }, &w, NULL), 0);

	struct image_table *t = image_table_new(w);
	uint32_t id = image_table_id(t, image_table_of(t, PID, &map));

	image_table_free(t);
	assert_int_equal(writer_close(w, NULL), 0);
	assert_int_equal(recording_open(recording, &r, NULL), 0);
	assert_string_equal(recording_string(r, recording_image(r, id)->path), want);
}

static void a_library_that_was_found_by_a_link_has_its_files_name(void **state)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	assert_int_equal(symlink(self, by_link), 0);
	assert_name(by_link, self);
	assert_name(self, self);
}

static void what_is_not_there_keeps_the_name_it_came_with(void **state)
{
	(void)state;
	assert_name("/no/such/lib.so.1", "/no/such/lib.so.1");
	assert_name("/no/such/lib.so.1 (deleted)", "/no/such/lib.so.1");
	assert_name("[vdso]", "[vdso]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_was_found_by_a_link_has_its_files_name),
		cmocka_unit_test(what_is_not_there_keeps_the_name_it_came_with),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
