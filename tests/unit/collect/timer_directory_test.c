/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_library_is_known_by_the_list_that_names_it(void **state)
{
	static const char list[] =
		"/dev/shm/dwell-7-abcdef/$PLATFORM/libdwell-tracer.so:"
		"/dev/shm/dwell-7-ghijkl/$PLATFORM/libdwell-sampler.so:"
		"/usr/lib/other.so";
	static const struct {
		const char *list, *path;
		bool is_preloaded;
	} cases[] = {
		{ list, "/dev/shm/dwell-7-abcdef/lib/libdwell-tracer.so", true },
		{ list, "/dev/shm/dwell-7-abcdef/lib32/libdwell-tracer.so", true },
		{ list, "/dev/shm/dwell-7-ghijkl/lib/libdwell-sampler.so", true },
		{ list, "/there/dwell-7-ghijkl/lib/libdwell-sampler.so", true },
		{ list, "/dev/shm/dwell-7-abcdef/lib/libdwell-sampler.so", false },
		{ list, "/dev/shm/dwell-8-abcdef/lib/libdwell-tracer.so", false },
		{ list, "/dev/shm/xdwell-7-abcdef/lib/libdwell-tracer.so", false },
		{ list, "/dev/shm/dwell-7-abcdef/libdwell-tracer.so", false },
		{ list, "/tmp/libdwell-notes.txt", false },
		{ list, "/usr/lib/other.so", false },
		{ list, "[no file]", false },
		{ "", "/dev/shm/dwell-7-abcdef/lib/libdwell-tracer.so", false },
		{ NULL, "/dev/shm/dwell-7-abcdef/lib/libdwell-tracer.so", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			timer_directory_is_preloaded(cases[i].list, cases[i].path),
			cases[i].is_preloaded);
}

/* As it is made, and as programs are told of it. */
static void what_programs_are_told_to_load_is_known(void **state)
{
	const struct timer_library library = { .name = "libdwell-tracer.so" };
	struct timer_directory d = { .path = "/tmp/dwell-7-abcdef", .library = &library };
	char list[TIMER_DIRECTORY_PRELOAD_MAX];

	(void)state;
	timer_directory_preload(&d, list);
	assert_true(timer_directory_is_preloaded(
		list, "/tmp/dwell-7-abcdef/lib/libdwell-tracer.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_is_known_by_the_list_that_names_it),
		cmocka_unit_test(what_programs_are_told_to_load_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
