/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/foreseen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

/* Is an address of f in the file that is mapped there? */
static bool has(const struct foreseen *f, const char *file)
{
	own(buf_fini) struct buf text = { 0 };
	struct proc_map map;
	const char *at, *end;

	assert_int_equal(procfs_read("/proc/self/maps", 1 << 20, &text, NULL), 0);
	at = (const char *)text.data;
	end = at + text.size;
	while (proc_maps_next(&at, end, &map))
		for (size_t i = 0; i < f->at.n && strstr(map.path, file); i++)
			if (f->at.at[i] >= map.start && f->at.at[i] < map.end)
				return true;
	return false;
}

static void programs_are_where_exec_looks_for_them(void **state)
{
	static const struct {
		const char *program, *path;
		bool is_found;
	} t[] = {
		{ "env", "/nowhere::/usr/bin:/bin", true },
		{ "/usr/bin/env", NULL, true },
		{ "env", "/nowhere", false },
		{ "env", NULL, false },
		{ "/usr/bin", NULL, false },
		{ "no-such-program", "/usr/bin", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(foreseen_fini) struct foreseen f = { 0 };

		foreseen_map(&f, t[i].program, t[i].path);
		assert_int_equal(has(&f, "/bin/env"), t[i].is_found);
		assert_true(has(&f, "foreseen_test")); /* what is here anyway */
	}
}

static void what_is_preloaded_is_too(void **state)
{
	own(foreseen_fini) struct foreseen f = { 0 };

	(void)state;
	foreseen_preload(&f, "/nowhere/a.so: /usr/bin/env:$PLATFORM");
	foreseen_preload(&f, NULL);
	foreseen_map(&f, "no-such-program", NULL);
	assert_true(has(&f, "/bin/env"));
}

static void who_runs_has_all_that_is_mapped(void **state)
{
	own(foreseen_fini) struct foreseen f = { 0 }, none = { 0 };

	(void)state;
	foreseen_take(&f, getpid());
	assert_true(has(&f, "foreseen_test") && has(&f, "/libc.so"));
	assert_int_equal(f.mapped.n, 0);
	foreseen_take(&none, -1);
	assert_int_equal(none.at.n, 0);
}

static void a_script_is_its_interpreters(void **state)
{
	static const struct {
		const char *line;
		bool has_env, has_sh;
	} t[] = {
		{ "#!/usr/bin/env\n", true, false },
		{ "#! /usr/bin/env -S\nx", true, false },
		{ "#!/usr/bin/env env\n", true, false },
		{ "#!/usr/bin/env sh\n", true, true },
		{ "#!/bin/sh env\n", false, true },
		{ "#!/nowhere/env sh\n", false, true },
	};
	char path[] = "/tmp/dwell-foreseen-XXXXXX";
	own(freep) char *sh = realpath("/bin/sh", NULL);
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && sh);
	assert_int_equal(fchmod(fd, 0700), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(foreseen_fini) struct foreseen f = { 0 };

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, t[i].line, strlen(t[i].line), 0),
				 strlen(t[i].line));
		foreseen_map(&f, path, "/usr/bin:/bin");
		assert_int_equal(has(&f, "/bin/env"), t[i].has_env);
		assert_int_equal(has(&f, sh), t[i].has_sh);
		assert_false(has(&f, path));
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_where_exec_looks_for_them),
		cmocka_unit_test(what_is_preloaded_is_too),
		cmocka_unit_test(who_runs_has_all_that_is_mapped),
		cmocka_unit_test(a_script_is_its_interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
