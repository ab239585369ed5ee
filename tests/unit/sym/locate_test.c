/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/locate.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "elf_builder.h"

#define ID	 "\xab\xcd\xef\x01\x02\x03"
#define OTHER_ID "\xab\xcd\xef\x01\x02\x04"
#define ID_BYTES 6

/* A directory with a program in it and what a test puts beside. */
struct place {
	char dir[32];
	char *program;
	const char *debug_dirs[2];
	struct sym_options options;
	struct image image;
};

static char *below(const struct place *p, const char *name)
{
	return xasprintf("%s/%s", p->dir, name);
}

static void write_file(const struct place *p, const char *name, const struct buf *bytes)
{
	own(freep) char *path = below(p, name);

	for (char *s = path + strlen(p->dir) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = 0;
		mkdir(path, 0700);
	}

	own(fclosep) FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes->data, 1, bytes->size, f), bytes->size);
}

static void add_section(struct elf_builder *b, const char *name, const void *data,
			size_t size)
{
	elf_builder_add(b, &(struct elf_builder_section){ .name = name,
							  .type = SHT_PROGBITS,
							  .data = data,
							  .size = size });
}

/* A debug file: an ELF file with something in .debug_info. */
static void debug_bytes(const char *id, struct buf *ret)
{
	own(elf_builder_fini) struct elf_builder b = { 0 };

	if (id)
		elf_builder_add_build_id(&b, id, ID_BYTES);
	add_section(&b, ".debug_info", "info", 4);
	elf_builder_write(&b, ret);
}

static void put_debug(const struct place *p, const char *name, const char *id)
{
	own(buf_fini) struct buf bytes = { 0 };

	debug_bytes(id, &bytes);
	write_file(p, name, &bytes);
}

/* The program, with a link when link is not NULL. */
static void put_program(const struct place *p, const char *id, const char *section,
			const void *link, size_t size)
{
	own(elf_builder_fini) struct elf_builder b = { 0 };
	own(buf_fini) struct buf bytes = { 0 };

	if (id)
		elf_builder_add_build_id(&b, id, ID_BYTES);
	if (section)
		add_section(&b, section, link, size);
	elf_builder_write(&b, &bytes);
	write_file(p, "bin/program", &bytes);
}

/* With .gnu_debuglink to "program.debug" of that checksum. */
static void put_linked_program(const struct place *p, const char *id, uint32_t crc)
{
	uint8_t link[20] = "program.debug";

	memcpy(link + 16, &crc, 4);
	put_program(p, id, ".gnu_debuglink", link, sizeof(link));
}

static int set_up(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/locate-test-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->program = below(p, "bin/program");
	p->debug_dirs[0] = below(p, "debug");
	p->options.debug_dirs = p->debug_dirs;
	p->options.no_debuginfod = true;
	p->image.options = &p->options;
	p->image.ref.path = p->program;
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

static int tear_down(void **state)
{
	struct place *p = *state;

	nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free((void *)p->debug_dirs[0]);
	free(p->program);
	free(p);
	return 0;
}

/* Where the debug information was found, relative to the directory; "" nowhere. */
static void check_debug(const struct place *p, const char *want)
{
	own(locate_fini) struct locate_result found;
	own(freep) char *path = below(p, want);

	locate_image(&p->image, &found);
	assert_non_null(found.binary);
	if (!*want)
		assert_null(found.debug);
	else
		assert_non_null(found.debug);
	if (found.debug)
		assert_string_equal(object_path(found.debug), path);
}

static void a_build_id_directory_has_the_debug_file(void **state)
{
	struct place *p = *state;

	put_program(p, ID, NULL, NULL, 0);
	check_debug(p, "");
	put_debug(p, "debug/.build-id/ab/cdef010203.debug", ID);
	check_debug(p, "debug/.build-id/ab/cdef010203.debug");
}

static void a_debug_file_of_another_build_is_refused(void **state)
{
	struct place *p = *state;

	put_linked_program(p, ID, 0);
	put_debug(p, "debug/.build-id/ab/cdef010203.debug", OTHER_ID);
	put_debug(p, "bin/program.debug", OTHER_ID);
	put_debug(p, "bin/.debug/program.debug", OTHER_ID);
	check_debug(p, "");
}

static void a_link_is_followed_to_its_three_places_in_order(void **state)
{
	struct place *p = *state;
	own(freep) char *name = xasprintf("debug%s/bin/program.debug", p->dir);

	put_linked_program(p, ID, 0);
	put_debug(p, name, ID);
	check_debug(p, name);
	put_debug(p, "bin/.debug/program.debug", ID);
	check_debug(p, "bin/.debug/program.debug");
	put_debug(p, "bin/program.debug", ID);
	check_debug(p, "bin/program.debug");
}

static void without_build_id_the_checksum_decides(void **state)
{
	struct place *p = *state;
	own(buf_fini) struct buf bytes = { 0 };
	uint32_t crc;

	debug_bytes(NULL, &bytes);
	crc = (uint32_t)crc32(0, bytes.data, (uInt)bytes.size);
	put_linked_program(p, NULL, crc ^ 1);
	write_file(p, "bin/program.debug", &bytes);
	check_debug(p, "");
	put_linked_program(p, NULL, crc);
	check_debug(p, "bin/program.debug");
}

static void a_link_never_leaves_its_directories(void **state)
{
	struct place *p = *state;
	uint8_t link[16] = "../x.debug";

	put_program(p, ID, ".gnu_debuglink", link, sizeof(link));
	put_debug(p, "x.debug", ID);
	check_debug(p, "");
}

static void another_build_at_the_path_is_told_from_none(void **state)
{
	struct place *p = *state;
	struct locate_result found;

	p->image.ref.build_id = (const uint8_t *)ID;
	p->image.ref.build_id_size = ID_BYTES;
	locate_image(&p->image, &found);
	assert_true(!found.binary && !found.is_replaced);
	locate_fini(&found);
	put_program(p, OTHER_ID, NULL, NULL, 0);
	locate_image(&p->image, &found);
	assert_true(!found.binary && found.is_replaced);
	locate_fini(&found);
	put_program(p, ID, NULL, NULL, 0);
	locate_image(&p->image, &found);
	assert_true(found.binary && !found.is_replaced);
	locate_fini(&found);
}

static void check_replaced(const struct place *p, bool want)
{
	own(locate_fini) struct locate_result found;

	locate_image(&p->image, &found);
	assert_true(want == !found.binary && want == found.is_replaced);
}

static void without_build_id_another_size_or_time_is_another_file(void **state)
{
	struct place *p = *state;
	struct stat st;

	put_program(p, NULL, NULL, NULL, 0);
	assert_int_equal(stat(p->program, &st), 0);
	check_replaced(p, false); /* nothing is known of it */
	p->image.ref.size_bytes = (uint64_t)st.st_size;
	p->image.ref.mtime_s = (uint64_t)st.st_mtime;
	check_replaced(p, false);
	p->image.ref.mtime_s++;
	check_replaced(p, true);
	p->options.sysroot = "/"; /* where files have times of their own */
	check_replaced(p, false);
	p->image.ref.size_bytes++;
	check_replaced(p, true);
}

static void a_sysroot_goes_before_this_machine(void **state)
{
	struct place *p = *state;
	own(freep) char *root = below(p, "root");
	own(freep) char *inner = xasprintf("root%s/bin/program", p->dir);
	own(freep) char *want = below(p, inner);
	own(locate_fini) struct locate_result found;

	put_program(p, ID, NULL, NULL, 0);
	put_debug(p, inner, ID);
	p->options.sysroot = root;
	locate_image(&p->image, &found);
	assert_non_null(found.binary);
	assert_int_equal(strlen(object_path(found.binary)), strlen(want) + 1); /* "//" */
	assert_true(found.debug == found.binary);
}

/* The alternate (dwz) file of the program, found from where it is. */
static void check_alternate(const struct place *p, const char *want)
{
	own(object_freep) struct object *program = NULL, *alternate = NULL;
	own(freep) char *path = below(p, want);

	assert_int_equal(object_open(p->program, &program, NULL), 0);
	alternate = locate_alternate(&p->image, program);
	if (*want)
		assert_string_equal(object_path(alternate), path);
	else
		assert_null(alternate);
}

static void an_alternate_link_is_relative_to_the_file_that_has_it(void **state)
{
	static const uint8_t link[] = ".dwz/common\0" ID;
	struct place *p = *state;

	put_program(p, OTHER_ID, ".gnu_debugaltlink", link, sizeof(link) - 1);
	check_alternate(p, "");
	put_debug(p, "bin/.dwz/common", OTHER_ID);
	check_alternate(p, "");
	put_debug(p, "debug/.build-id/ab/cdef010203.debug", ID);
	check_alternate(p, "debug/.build-id/ab/cdef010203.debug");
	put_debug(p, "bin/.dwz/common", ID);
	check_alternate(p, "bin/.dwz/common");
}

struct kept {
	const char *kind, *id;
};

static bool give_kept(void *ctx, const struct sym_image_ref *image, const char *kind,
		      const char *name, struct buf *ret)
{
	const struct kept *k = ctx;

	(void)image, (void)name;
	if (strcmp(kind, k->kind) != 0)
		return false;
	debug_bytes(k->id, ret);
	return true;
}

static void what_the_recording_keeps_goes_first_if_it_is_the_right_one(void **state)
{
	static const uint8_t link[] = "/nowhere/common\0" ID;
	struct place *p = *state;
	struct kept kept = { "debug", ID };

	p->options.blob = give_kept;
	p->options.blob_ctx = &kept;
	put_program(p, ID, ".gnu_debugaltlink", link, sizeof(link) - 1);
	put_debug(p, "debug/.build-id/ab/cdef010203.debug", ID);
	check_debug(p, "bin/program"); /* bears the name of the image */
	kept.id = OTHER_ID;
	check_debug(p, "debug/.build-id/ab/cdef010203.debug");
	kept = (struct kept){ "alternate", ID };
	check_alternate(p, "bin/program");
	kept.id = OTHER_ID;
	check_alternate(p, "debug/.build-id/ab/cdef010203.debug");
}

#define IN_PLACE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(a_build_id_directory_has_the_debug_file),
		IN_PLACE(a_debug_file_of_another_build_is_refused),
		IN_PLACE(a_link_is_followed_to_its_three_places_in_order),
		IN_PLACE(without_build_id_the_checksum_decides),
		IN_PLACE(a_link_never_leaves_its_directories),
		IN_PLACE(another_build_at_the_path_is_told_from_none),
		IN_PLACE(without_build_id_another_size_or_time_is_another_file),
		IN_PLACE(a_sysroot_goes_before_this_machine),
		IN_PLACE(an_alternate_link_is_relative_to_the_file_that_has_it),
		IN_PLACE(what_the_recording_keeps_goes_first_if_it_is_the_right_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
