/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_words.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char place[] = "/tmp/count-words-XXXXXX";

static void make(const char *name, const char *text, mode_t mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);

	own(fclosep) FILE *f = fopen(path, "w");

	assert_true(f && fputs(text, f) >= 0 && chmod(path, mode) == 0);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(place));
	make("elf", "\177ELF", 0755);
	make("script", "#! PLACE/elf  -a b \t\nbody\n", 0755);
	make("plain", "echo\n", 0755);
	make("closed", "\177ELF", 0644);
	make("lost", "#!/nonexistent/interpreter\n", 0755);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "elf",    "script", "plain",
					     "closed", "lost",	 "loop" };
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", place, names[i]);
		unlink(path);
	}
	return rmdir(place);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The words joined by "|", from the engine's file on; or errno. */
static const char *words_of(const char *name, const char *search)
{
	static char text[4 * PATH_MAX];
	char *argv[] = { (char *)name, (char *)"x", (char *)"", NULL };
	own(count_words_fini) struct count_words w = { 0 };
	struct err e = { 0 };
	size_t n = 0;

	if (count_words_make(&w, "engine", "prefix", "-", argv, search, &e) < 0) {
		assert_int_equal(e.code, ERR_OS);
		assert_null(strchr(e.text, '\n'));
		return e.os == ENOENT ? "ENOENT" : e.os == EACCES ? "EACCES" : "other";
	}
	assert_string_equal(w.at.at[0], "engine");
	assert_string_equal(w.at.at[1], "prefix");
	assert_string_equal(w.at.at[2], "-");
	/* what it is called by, whatever runs it */
	assert_string_equal(base_of(w.at.at[4]), base_of(name));
	assert_string_equal(w.at.at[5], "--");
	assert_null(w.at.at[w.at.n - 1]);
	n = (size_t)snprintf(text, sizeof(text), "%s|", w.at.at[3]);
	for (size_t i = 6; w.at.at[i]; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s|", w.at.at[i]);
	return text;
}

static void check(const char *name, const char *search, const char *want)
{
	own(freep) char *expected = NULL;
	size_t n = 0;
	own(fclosep) FILE *f = open_memstream(&expected, &n);

	for (const char *c = want; *c; c++)
		if (*c == '@')
			fputs(place, f);
		else
			fputc(*c, f);
	fflush(f);
	assert_string_equal(words_of(name, search), expected);
}

static const char *in_place(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static void programs_are_found_as_execvp_does(void **state)
{
	char search[PATH_MAX];

	(void)state;
	snprintf(search, sizeof(search), "/nonexistent:%s", place);
	check("elf", search, "@/elf|elf|x||");
	check(in_place("elf"), NULL, "@/elf|@/elf|x||");
	check("elf", "/nonexistent", "ENOENT");
	check("closed", search, "EACCES");
	check("", search, "ENOENT");
	check(place, NULL, "EACCES");
}

static void scripts_are_run_by_what_they_name(void **state)
{
	char text[PATH_MAX];

	(void)state;
	snprintf(text, sizeof(text), "#! %s/elf  -a b \t\nbody\n", place);
	make("script", text, 0755);
	check(in_place("script"), NULL, "@/elf|@/elf|-a b|@/script|x||");
	check(in_place("plain"), NULL, "/bin/sh|/bin/sh|@/plain|x||");
	check(in_place("lost"), NULL, "ENOENT");
	snprintf(text, sizeof(text), "#!%s/loop\n", place);
	make("loop", text, 0755);
	check(in_place("loop"), NULL, "other");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_found_as_execvp_does),
		cmocka_unit_test(scripts_are_run_by_what_they_name),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
