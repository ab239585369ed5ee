/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/row_cache.h"
#include "collect/row_compiler.h"

#define FILES_MAX 12
#define LAYOUT	  7

struct fixture {
	char directory[32];
	struct row_cache *cache;
	struct row_compiler *compiler;
	glob_t files;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/row-compiler-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	f->cache = row_cache_new(f->directory, 256 << 20, row_pack_maker());
	f->compiler = row_compiler_new(f->cache);
	assert_int_equal(glob("/proc/self/exe", 0, NULL, &f->files), 0);
	glob("/lib/*-linux-gnu/lib*.so.[0-9]", GLOB_APPEND, NULL, &f->files);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	row_compiler_free(f->compiler);
	row_cache_free(f->cache);
	globfree(&f->files);
	snprintf(command, sizeof(command), "rm -r %s", f->directory);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static struct row_compiler_file open_file(const char *path, uint32_t image,
					  const char *key)
{
	struct row_compiler_file f = { .image = image,
				       .fd = open(path, O_RDONLY | O_CLOEXEC),
				       .name = path,
				       .key = key,
				       .layout = LAYOUT };

	assert_true(f.fd >= 0);
	return f;
}

/* As who has much else to do. */
static struct row_compiler_result wait_for_one(struct row_compiler *c)
{
	struct pollfd p = { .fd = row_compiler_fd(c), .events = POLLIN };
	struct row_compiler_result r;

	while (!row_compiler_take(c, &r))
		assert_true(poll(&p, 1, -1) == 1);
	return r;
}

static void expect_same(const struct row_pack *a, const struct row_pack *b)
{
	assert_int_equal(a->first_block, b->first_block);
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_int_equal(a->rules.n, b->rules.n);
	assert_int_equal(a->words.n, b->words.n);
	if (a->words.n)
		assert_memory_equal(a->words.at, b->words.at,
				    a->words.n * sizeof(*a->words.at));
}

static void what_is_packed_beside_is_what_is_packed_at_once(void **state)
{
	struct fixture *f = *state;
	uint32_t n = 0;

	for (; n < f->files.gl_pathc && n < FILES_MAX; n++) {
		struct row_compiler_file file = open_file(f->files.gl_pathv[n], n, "");

		assert_true(row_compiler_add(f->compiler, &file));
		close(file.fd); /* and it reads it all the same */
	}
	for (uint32_t i = 0; i < n; i++) {
		struct row_compiler_result r = wait_for_one(f->compiler);
		struct row_compiler_file file =
			open_file(f->files.gl_pathv[r.image], r.image, "");
		own(row_pack_fini) struct row_pack at_once = { 0 };

		assert_int_equal(row_compiler_run(f->compiler, &file, &at_once), r.rc);
		expect_same(&r.pack, &at_once);
		row_pack_fini(&r.pack);
		close(file.fd);
	}
	assert_true(n > 0);
}

static void what_is_made_is_kept_and_what_is_kept_is_not_made(void **state)
{
	struct fixture *f = *state;
	struct row_compiler_file file = open_file(f->files.gl_pathv[0], 3, "abcd");
	own(row_pack_fini) struct row_pack kept = { 0 };
	struct row_compiler_result r;

	assert_true(row_compiler_add(f->compiler, &file));
	r = wait_for_one(f->compiler);
	assert_int_equal(r.image, 3);
	assert_int_equal(r.rc, 0);
	assert_true(row_cache_find(f->cache, "abcd", LAYOUT, &kept));
	expect_same(&r.pack, &kept);
	row_pack_fini(&r.pack);
	close(file.fd);

	/* No rows can be made of this one. */
	file = open_file("/dev/null", 4, "abcd");
	assert_true(row_compiler_add(f->compiler, &file));
	r = wait_for_one(f->compiler);
	assert_int_equal(r.rc, 0);
	expect_same(&r.pack, &kept);
	row_pack_fini(&r.pack);
	close(file.fd);
}

static void what_is_no_program_has_no_rows(void **state)
{
	struct fixture *f = *state;
	struct row_compiler_file file = open_file("/etc/passwd", 5, "");
	struct row_compiler_result r;

	assert_true(row_compiler_add(f->compiler, &file));
	r = wait_for_one(f->compiler);
	assert_int_equal(r.image, 5);
	assert_true(r.rc < 0);
	row_pack_fini(&r.pack);
	close(file.fd);
}

static size_t n_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void who_ends_waits_for_no_more_than_one_and_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	size_t before = n_descriptors();
	struct row_compiler *c = row_compiler_new(f->cache);
	struct row_compiler_result r;

	assert_int_equal(row_compiler_fd(c), -1);
	assert_false(row_compiler_take(c, &r));
	for (uint32_t i = 0; i < 200; i++) {
		struct row_compiler_file file =
			open_file(f->files.gl_pathv[i % f->files.gl_pathc], i, "");

		assert_true(row_compiler_add(c, &file));
		close(file.fd);
	}
	row_compiler_free(c);
	assert_int_equal(n_descriptors(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_packed_beside_is_what_is_packed_at_once),
		TEST(what_is_made_is_kept_and_what_is_kept_is_not_made),
		TEST(what_is_no_program_has_no_rows),
		TEST(who_ends_waits_for_no_more_than_one_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
