/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/environment.h"

static void a_variable_is_found_by_its_whole_name(void **state)
{
	char a[] = "DWELL=1", b[] = "DWELL_SAMPLER=/x", c[] = "EMPTY=";
	char *env[] = { a, b, c, NULL };

	(void)state;
	assert_string_equal(environment_get(env, "DWELL_SAMPLER"), "/x");
	assert_string_equal(environment_get(env, "DWELL"), "1");
	assert_string_equal(environment_get(env, "EMPTY"), "");
	assert_null(environment_get(env, "DWELL_"));
	assert_null(environment_get(NULL, "DWELL"));
}

static void only_our_entry_of_ld_preload_goes(void **state)
{
	static const struct {
		const char *before, *after; /* after NULL: the variable goes */
	} t[] = {
		{ "LD_PRELOAD=/d/$PLATFORM/l.so", NULL },
		{ "LD_PRELOAD=/d/$PLATFORM/l.so:/usr/lib/other.so",
		  "LD_PRELOAD=/usr/lib/other.so" },
		{ "LD_PRELOAD=/a.so /d/x/l.so", "LD_PRELOAD=/a.so" },
		{ "LD_PRELOAD=/a.so:/d/x/l.so:/b.so", "LD_PRELOAD=/a.so:/b.so" },
		{ "LD_PRELOAD=/dd/l.so", "LD_PRELOAD=/dd/l.so" },
		{ "LD_PRELOAD=/d/x/l.so:", "LD_PRELOAD=" },
		{ "LD_PRELOAD=/a.so:", "LD_PRELOAD=/a.so:" },
		{ "LD_PRELOAD=", "LD_PRELOAD=" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char ours[] = "DWELL_SAMPLER=/d", other[] = "HOME=/", preload[100];
		char *env[] = { ours, preload, other, NULL };

		strcpy(preload, t[i].before);
		environment_forget(env, "DWELL_SAMPLER", "/d");
		if (t[i].after)
			assert_string_equal(env[0], t[i].after);
		assert_string_equal(env[t[i].after ? 1 : 0], "HOME=/");
		assert_null(env[t[i].after ? 2 : 1]);
	}
}

static size_t count(char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

/* What those find who look for what the kernel tells behind the environment. */
static uintptr_t told(char **env, uintptr_t type)
{
	const uintptr_t *at = (const uintptr_t *)(env + count(env) + 1);

	for (; at[0]; at += 2)
		if (at[0] == type)
			return at[1];
	return 0;
}

static void what_the_kernel_tells_is_found_behind_what_is_left(void **state)
{
	static const char *const forgotten[] = { "OURS=/d", "LD_PRELOAD=/d/a.so",
						 "ASAN_OPTIONS=verify_asan_link_order=0:",
						 "OURS=/d" };

	(void)state;
	for (size_t n = 0; n <= 4; n++) {
		char texts[4][64], one[] = "A=1", two[] = "B=2";
		char *env[20] = { one };
		size_t at = 1;

		for (size_t i = 0; i < n; i++) {
			snprintf(texts[i], sizeof(texts[i]), "%s", forgotten[i]);
			env[at++] = texts[i];
		}
		env[at++] = two;
		env[++at] = (char *)AT_PAGESZ;
		env[++at] = (char *)4096;
		environment_forget(env, "OURS", "/d");
		assert_int_equal(count(env), 2);
		assert_int_equal(told(env, AT_PAGESZ), n % 2 ? 0 : 4096);
	}
}

static const struct environment_ours ours = { "DWELL_TRACER", "/d", "$PLATFORM/l.so",
					      .is_told = false };

/* What the variables of a name are, one behind the other; 0: there is no such. */
static size_t values(char *const *env, const char *name, char *ret)
{
	size_t n = 0, size = strlen(name);

	for (*ret = 0; *env; env++)
		if (strncmp(*env, name, size) == 0 && (*env)[size] == '=') {
			sprintf(ret + strlen(ret), "[%s]", *env + size + 1);
			n++;
		}
	return n;
}

static void what_is_added_is_told_and_forgotten_again(void **state)
{
	static const struct {
		const char *preload, *options; /* NULL: there is none */
		const char *told_preload, *told_options;
	} t[] = {
		{ NULL, NULL, "/d/$PLATFORM/l.so", "verify_asan_link_order=0:" },
		{ "/a.so", "detect_leaks=0", "/d/$PLATFORM/l.so:/a.so",
		  "detect_leaks=0:verify_asan_link_order=0:" },
		{ "/a.so:/b.so", "a=1:verify_asan_link_order=1",
		  "/d/$PLATFORM/l.so:/a.so:/b.so", "a=1:verify_asan_link_order=1" },
		{ "", "", "/d/$PLATFORM/l.so:", ":verify_asan_link_order=0:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char preload[100], options[100], home[] = "HOME=/", rest[] = "X=1";
		char *env[5] = { home }, **to = env + 1;
		uint64_t room[200];
		size_t bytes, n_with;
		char **with;

		if (t[i].preload)
			sprintf(*to++ = preload, "LD_PRELOAD=%s", t[i].preload);
		if (t[i].options)
			sprintf(*to++ = options, "ASAN_OPTIONS=%s", t[i].options);
		*to++ = rest;
		bytes = environment_with_bytes(env, &ours);
		assert_in_range(bytes, 1, sizeof(room) - sizeof(room[0]));
		memset(room, 0xaa, sizeof(room));
		with = environment_with(env, &ours, room, bytes);
		assert_int_equal(((uint8_t *)room)[bytes], 0xaa);
		assert_string_equal(environment_get(with, "LD_PRELOAD"),
				    t[i].told_preload);
		assert_string_equal(environment_get(with, "ASAN_OPTIONS"),
				    t[i].told_options);
		assert_string_equal(environment_get(with, "DWELL_TRACER"), "/d");
		assert_int_equal(environment_with_bytes(with, &ours), 0);
		n_with = count(with);
		environment_forget(with, "DWELL_TRACER", "/d");
		assert_int_equal(count(with), count(env));
		assert_int_equal((n_with - count(env)) % 2, 0);
		for (size_t k = 0; k < count(env); k++)
			assert_string_equal(with[k], env[k]);
	}
}

/* Some read the first of a name, and some the last. */
static void of_several_variables_of_a_name_each_is_extended(void **state)
{
	char preload[] = "LD_PRELOAD=/a.so", second[] = "LD_PRELOAD=/b.so",
	     options[] = "ASAN_OPTIONS=a=1", more[] = "ASAN_OPTIONS=b=2",
	     done[] = "ASAN_OPTIONS=verify_asan_link_order=0";
	char *env[] = { options, preload, done, second, more, NULL };
	char text[200];
	uint64_t room[100];
	char **with;

	(void)state;
	assert_in_range(environment_with_bytes(env, &ours), 1, sizeof(room));
	with = environment_with(env, &ours, room, sizeof(room));
	assert_int_equal(values(with, "LD_PRELOAD", text), 2);
	assert_string_equal(text, "[/d/$PLATFORM/l.so:/a.so][/d/$PLATFORM/l.so:/b.so]");
	assert_int_equal(values(with, "ASAN_OPTIONS", text), 3);
	assert_string_equal(text, "[a=1:verify_asan_link_order=0:]"
				  "[verify_asan_link_order=0]"
				  "[b=2:verify_asan_link_order=0:]");
	environment_forget(with, "DWELL_TRACER", "/d");
	assert_int_equal(count(with), count(env));
	for (size_t k = 0; k < count(env); k++)
		assert_string_equal(with[k], env[k]);
}

/* As a program sets it that wants a library of its own in what it executes. */
static void who_is_told_and_has_another_library_gets_ours_before_it(void **state)
{
	static const struct {
		const char *variables[4], *preloads; /* NULL: it is left alone */
	} t[] = {
		{ { "DWELL_TRACER=/d", "LD_PRELOAD=/a.so" },
		  "[/d/$PLATFORM/l.so:/a.so]" },
		{ { "DWELL_TRACER=/d" }, "[/d/$PLATFORM/l.so]" },
		{ { "DWELL_TRACER=/d", "LD_PRELOAD=/a.so:/d/x/l.so" }, NULL },
		{ { "DWELL_TRACER=/d", "LD_PRELOAD=/a.so", "LD_PRELOAD=/d/x/l.so" },
		  "[/d/$PLATFORM/l.so:/a.so][/d/x/l.so]" },
		{ { "DWELL_TRACER=/other", "LD_PRELOAD=/a.so" }, NULL },
		{ { "LD_PRELOAD=/a.so" }, NULL },
		{ { NULL }, NULL },
	};
	struct environment_ours told = ours;

	(void)state;
	told.is_told = true;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char *const *env = (char *const *)(uintptr_t)t[i].variables;
		size_t bytes = environment_with_bytes(env, &told);
		char text[200];
		uint64_t room[100];
		char **with;

		assert_int_equal(bytes != 0, t[i].preloads != NULL);
		with = environment_with(env, &told, room, sizeof(room));
		assert_int_equal(with != NULL, t[i].preloads != NULL);
		if (!with)
			continue;
		values(with, "LD_PRELOAD", text);
		assert_string_equal(text, t[i].preloads);
		assert_int_equal(values(with, "DWELL_TRACER", text), 1);
		assert_int_equal(values(with, "ASAN_OPTIONS", text), 1);
		assert_int_equal(environment_with_bytes(with, &told), 0);
	}
}

static void no_environment_is_an_empty_one_and_a_huge_one_is_left_alone(void **state)
{
	static char *huge[5001];
	static char one[] = "A=1";
	uint64_t room[100];

	(void)state;
	assert_in_range(environment_with_bytes(NULL, &ours), 1, sizeof(room));
	assert_int_equal(count(environment_with(NULL, &ours, room, sizeof(room))), 4);
	for (size_t i = 0; i < 5000; i++)
		huge[i] = one;
	assert_int_equal(environment_with_bytes(huge, &ours), 0);
}

static void what_has_become_more_meanwhile_is_not_written_beyond_its_room(void **state)
{
	static char a[] = "A=1", long_one[] = "LD_PRELOAD=/a/rather/long/path/to.so",
		    options[] = "ASAN_OPTIONS=verify_asan_link_order=0,and=more";
	char *env[40] = { a };
	uint64_t room[200];
	size_t bytes = environment_with_bytes(env, &ours);

	(void)state;
	for (size_t i = 0; i < 39; i++) {
		env[i] = a;
		memset(room, 0xaa, sizeof(room));
		assert_true(!environment_with(env, &ours, room, bytes) == (i != 0));
		assert_int_equal(((uint8_t *)room)[bytes], 0xaa);
	}
	for (size_t i = 0; i < 2; i++) {
		env[0] = i ? options : long_one;
		env[1] = NULL;
		memset(room, 0xaa, sizeof(room));
		assert_true(!environment_with(env, &ours, room, bytes) == (i == 0));
		assert_int_equal(((uint8_t *)room)[bytes], 0xaa);
	}
}

/* Where the kernel may not be asked, as in an emulator, there is no knowing. */
static bool may_ask(void)
{
	char got, there = 1;
	struct iovec to = { &got, 1 }, from = { &there, 1 };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

static void an_environment_that_cannot_be_read_is_left_alone(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **end = (char **)(memory + page), *last = memory + 3 * page - 4;
	char *none = (char *)(uintptr_t)UINT64_C(0x8123456789abcdef);
	uint64_t room[100];

	(void)state;
	if (!may_ask())
		skip();
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	strcpy(last, "A=1"); /* behind it there may be nothing */
	end[-3] = end[-2] = last;
	end[-1] = NULL;
	assert_int_not_equal(environment_with_bytes(end - 3, &ours), 0);
	assert_int_equal(count(environment_with(end - 3, &ours, room, sizeof(room))), 6);
	end[-2] = none;
	assert_int_equal(environment_with_bytes(end - 3, &ours), 0);
	assert_null(environment_with(end - 3, &ours, room, sizeof(room)));
	end[-2] = end[-1] = last;
	assert_int_equal(environment_with_bytes(end - 3, &ours), 0);
	assert_int_equal(munmap(memory, 3 * page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_is_found_by_its_whole_name),
		cmocka_unit_test(what_the_kernel_tells_is_found_behind_what_is_left),
		cmocka_unit_test(what_is_added_is_told_and_forgotten_again),
		cmocka_unit_test(of_several_variables_of_a_name_each_is_extended),
		cmocka_unit_test(who_is_told_and_has_another_library_gets_ours_before_it),
		cmocka_unit_test(
			no_environment_is_an_empty_one_and_a_huge_one_is_left_alone),
		cmocka_unit_test(
			what_has_become_more_meanwhile_is_not_written_beyond_its_room),
		cmocka_unit_test(an_environment_that_cannot_be_read_is_left_alone),
		cmocka_unit_test(only_our_entry_of_ld_preload_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
