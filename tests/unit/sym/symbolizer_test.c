/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/own.h"
#include "sym/object.h"
#include "sym/symbolizer.h"

/* Offset in the file of this program of an address in its memory. */
static uint64_t file_offset(const void *p)
{
	own(fclosep) FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, offset;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (unsigned long)p >= start && (unsigned long)p < end)
			return (unsigned long)p - start + offset;
	return 0;
}

__attribute__((noinline)) static void here(void **state)
{
	__asm__ volatile("" ::"r"(state));
}

/* As a C library has it: it calls itself by a name of its own. */
__attribute__((noinline, used, visibility("hidden"))) void
__GI___libc_offered(void **state);
__attribute__((alias("__GI___libc_offered"))) void __libc_offered(void **state);
__attribute__((alias("__GI___libc_offered"))) void offered(void **state);

void __GI___libc_offered(void **state)
{
	__asm__ volatile("" ::"r"(state));
}

static const char *name_of(struct symbolizer *s, const struct sym_image_ref *ref,
			   uint64_t offset)
{
	uint32_t image = symbolizer_image(s, ref);
	struct sym_result result;
	bool is_return = false;

	symbolizer_resolve(s, image, &offset, &is_return, 1, &result);
	return symbolizer_function(s, symbolizer_frame(s, result.first_frame)->function)
		->name;
}

static void a_function_of_this_program_is_named(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };

	here(state);
	assert_string_equal(name_of(s, &ref, file_offset((void *)here)), "here");
}

static void a_function_of_the_c_library_is_named_as_it_is_called(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };

	(void)state;
	assert_string_equal(name_of(s, &ref, file_offset((void *)offered)), "offered");
}

/* Without them a place has no line: debug information was not read. */
static void tables_of_symbols_alone_name_the_same_function(void **state)
{
	const struct sym_options options = { .is_by_tables = true };
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(&options);
	own(symbolizer_freep) struct symbolizer *all = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint64_t offset = file_offset((void *)here);
	bool is_return = false;
	struct sym_result result;

	here(state);
	assert_string_equal(name_of(s, &ref, offset), name_of(all, &ref, offset));
	symbolizer_resolve(s, symbolizer_image(s, &ref), &offset, &is_return, 1, &result);
	assert_int_equal(symbolizer_frame(s, result.first_frame)->line, 0);
	assert_null(symbolizer_frame(s, result.first_frame)->file);
	symbolizer_resolve(all, symbolizer_image(all, &ref), &offset, &is_return, 1,
			   &result);
	assert_true(symbolizer_frame(all, result.first_frame)->line > 0);
}

static void its_code_lines_and_source_are_at_hand(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint32_t image = symbolizer_image(s, &ref), ids[4];
	own(buf_fini) struct buf code = { 0 }, source = { 0 };
	own(freep) struct sym_line_row *rows = NULL;
	const struct sym_function *f;
	size_t n;

	(void)state;
	assert_int_equal(symbolizer_image_source(s, image), SYM_FROM_DEBUG_INFO);
	assert_int_equal(symbolizer_find_functions(s, image, "here", ids, 4), 1);
	f = symbolizer_function(s, ids[0]);
	assert_string_equal(f->name, "here");
	assert_true(f->is_resolved && f->size > 0 && f->decl_line > 0);
	assert_int_equal(symbolizer_code(s, image, f->start, f->size, &code, NULL), 0);
	assert_int_equal(code.size, f->size);
	assert_memory_equal(code.data, (const void *)here, f->size);
	assert_int_equal(symbolizer_lines(s, image, f->start, f->size, &rows, &n, NULL),
			 0);
	assert_true(n > 0 && rows[0].address <= f->start);
	assert_true(rows[n - 1].end >= f->start + f->size);
	for (size_t i = 0; i < n; i++)
		assert_true(rows[i].line >= f->decl_line &&
			    rows[i].line < f->decl_line + 5);
	assert_int_equal(symbolizer_source(s, image, rows[0].file, &source, NULL), 0);
	assert_non_null(strstr(buf_str(&source), "its_code_lines_and_source"));
	assert_int_equal(symbolizer_find_functions(s, image, "no such name", ids, 4), 0);
}

static void what_may_be_executed_is_known(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint32_t image = symbolizer_image(s, &ref), id;
	own(freep) struct sym_range *text = NULL;
	const struct sym_function *f;

	(void)state;
	assert_int_equal(symbolizer_text(s, image, &text), 1);
	assert_int_equal(symbolizer_find_functions(s, image, "here", &id, 1), 1);
	f = symbolizer_function(s, id);
	assert_true(text[0].start <= f->start && f->start + f->size <= text[0].end);
	ref.path = "/nowhere";
	assert_int_equal(symbolizer_text(s, symbolizer_image(s, &ref), &text), 0);
	ref = (struct sym_image_ref){ .kind = SYM_ANON, .path = "[anon]" };
	assert_int_equal(symbolizer_text(s, symbolizer_image(s, &ref), &text), 0);
}

static int places[8];

static const char *variable_at(struct symbolizer *s, uint32_t image, uint64_t address)
{
	struct sym_result r;

	symbolizer_variable(s, image, address, &r);
	assert_int_equal(r.n_frames, 1);
	assert_int_equal(r.address, address);
	return symbolizer_function(s, symbolizer_frame(s, r.first_frame)->function)->name;
}

static void a_variable_is_named_with_the_place_in_it(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint32_t image = symbolizer_image(s, &ref), id;
	uint64_t bias;

	here(state);
	assert_int_equal(symbolizer_find_functions(s, image, "here", &id, 1), 1);
	bias = (uintptr_t)here - symbolizer_function(s, id)->start;
	assert_string_equal(variable_at(s, image, (uintptr_t)&places[0] - bias),
			    "places");
	assert_string_equal(variable_at(s, image, (uintptr_t)&places[3] - bias),
			    "places+0xc");
	/* What is no variable, nor in a file that is there, has its place. */
	assert_string_equal(variable_at(s, image, 16), "[exe+0x10]");
	ref.path = "/nowhere/lib.so";
	assert_string_equal(variable_at(s, symbolizer_image(s, &ref), 0x4a40),
			    "[lib.so+0x4a40]");
}

static void a_return_address_is_looked_up_at_the_call(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint32_t image = symbolizer_image(s, &ref), id;
	struct sym_result result[2];
	bool is_return[2] = { true, false };
	uint64_t offsets[2];

	(void)state;
	assert_int_equal(symbolizer_find_functions(s, image, "here", &id, 1), 1);
	/* Behind the last instruction begins another function. */
	offsets[0] = file_offset((void *)here) + symbolizer_function(s, id)->size;
	offsets[1] = file_offset((void *)here);
	symbolizer_resolve(s, image, offsets, is_return, 2, result);
	assert_int_equal(symbolizer_frame(s, result[0].first_frame)->function, id);
	assert_int_equal(symbolizer_frame(s, result[1].first_frame)->function, id);
	assert_int_equal(result[0].address - result[1].address,
			 symbolizer_function(s, id)->size);
}

static void a_closed_image_keeps_its_names_and_opens_again(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	struct sym_image_ref gone = { .kind = SYM_ELF, .path = "/nowhere/prog" };
	uint64_t offset = file_offset((void *)here);
	const char *before, *after;

	(void)state;
	before = name_of(s, &ref, offset);
	name_of(s, &gone, 0);
	for (int i = 0; i < 2; i++) {
		symbolizer_close_images(s);
		assert_string_equal(before, "here");
		assert_int_equal(symbolizer_image_source(s, symbolizer_image(s, &ref)),
				 SYM_FROM_DEBUG_INFO);
	}
	after = name_of(s, &ref, offset);
	assert_ptr_equal(before, after);

	own(freep) char *problem =
		xstrdup(symbolizer_image_problem(s, symbolizer_image(s, &gone)));

	name_of(s, &gone, 0);
	assert_string_equal(symbolizer_image_problem(s, symbolizer_image(s, &gone)),
			    problem);
}

static void another_build_id_is_never_used(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	struct sym_image_ref ref = { .kind = SYM_ELF,
				     .path = "/proc/self/exe",
				     .build_id = (const uint8_t *)"01234567890123456789",
				     .build_id_size = 20 };
	uint32_t image = symbolizer_image(s, &ref);

	(void)state;
	assert_string_equal(name_of(s, &ref, file_offset((void *)here)), "[exe]");
	assert_int_equal(symbolizer_image_source(s, image), SYM_FROM_NOTHING);
	assert_non_null(strstr(symbolizer_image_problem(s, image), "build-id differs"));
}

static void what_has_no_image_says_so(void **state)
{
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	static const struct {
		enum sym_image_kind kind;
		const char *want;
	} t[] = {
		{ SYM_ANON, "[anonymous code]" },
		{ SYM_UNKNOWN, "[unmapped]" },
		{ SYM_TRUNCATED, "[truncated]" },
		{ SYM_ELF, "[no such file]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sym_image_ref ref = { .kind = t[i].kind,
					     .path = "/none/no such file" };

		assert_string_equal(name_of(s, &ref, 1234), t[i].want);
	}
}

static bool jit_blob(void *ctx, const struct sym_image_ref *image, const char *kind,
		     const char *name, struct buf *ret)
{
	(void)ctx, (void)image, (void)name;
	if (strcmp(kind, "jit-map") != 0)
		return false;
	buf_puts(ret, "1000 100 LazyCompile:*fib /srv/app.js:3\n"
		      "2000 100 JS:~ node:internal:1\n"
		      "3000 80 Interpreter\n");
	return true;
}

static void generated_code_is_named_by_the_map_in_the_recording(void **state)
{
	struct sym_options options = { .blob = jit_blob };
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(&options);
	struct sym_image_ref ref = { .kind = SYM_JIT, .path = "[jit]", .pid = 1 };

	(void)state;
	assert_string_equal(name_of(s, &ref, 0x1010), "fib /srv/app.js:3");
	assert_string_equal(name_of(s, &ref, 0x2010), "(anonymous) node:internal:1");
	assert_string_equal(name_of(s, &ref, 0x3010), "Interpreter");
	assert_string_equal(name_of(s, &ref, 0x9010), "[jit]");
}

static const char *jit_text;

static bool changing_blob(void *ctx, const struct sym_image_ref *image, const char *kind,
			  const char *name, struct buf *ret)
{
	(void)ctx;
	(void)image;
	(void)name;
	if (strcmp(kind, "jit-map") != 0)
		return false;
	buf_puts(ret, jit_text);
	return true;
}

static uint32_t first_frame_of(struct symbolizer *s, uint32_t image, uint64_t offset)
{
	struct sym_result result[2] = { 0 };
	uint64_t offsets[2] = { offset, offset };
	bool is_return[2] = { false, false };

	symbolizer_resolve(s, image, offsets, is_return, 2, result);
	assert_int_equal(result[0].first_frame, result[1].first_frame);
	return result[0].first_frame;
}

static void kept_places_are_looked_up_once(void **state)
{
	struct sym_options options = { .keeps_places = true };
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(&options);
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/proc/self/exe" };
	uint32_t image = symbolizer_image(s, &ref);
	uint64_t offset = file_offset((void *)here);
	uint32_t first = first_frame_of(s, image, offset);

	(void)state;
	assert_string_equal(name_of(s, &ref, offset), "here");
	for (int i = 0; i < 20; i++)
		symbolizer_close_unused(s);
	assert_int_equal(first_frame_of(s, image, offset), first);
	/* And what is next to it still can be. */
	assert_string_equal(name_of(s, &ref, file_offset((void *)first_frame_of)),
			    "first_frame_of");
}

static void generated_code_is_looked_up_anew(void **state)
{
	struct sym_options options = { .keeps_places = true, .blob = changing_blob };
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(&options);
	struct sym_image_ref ref = { .kind = SYM_JIT, .path = "[jit]", .pid = 1 };

	(void)state;
	jit_text = "1000 100 before\n";
	assert_string_equal(name_of(s, &ref, 0x1010), "before");
	jit_text = "1000 100 after\n";
	symbolizer_close_unused(s);
	assert_string_equal(name_of(s, &ref, 0x1010), "after");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_this_program_is_named),
		cmocka_unit_test(a_function_of_the_c_library_is_named_as_it_is_called),
		cmocka_unit_test(tables_of_symbols_alone_name_the_same_function),
		cmocka_unit_test(its_code_lines_and_source_are_at_hand),
		cmocka_unit_test(what_may_be_executed_is_known),
		cmocka_unit_test(a_variable_is_named_with_the_place_in_it),
		cmocka_unit_test(a_return_address_is_looked_up_at_the_call),
		cmocka_unit_test(a_closed_image_keeps_its_names_and_opens_again),
		cmocka_unit_test(another_build_id_is_never_used),
		cmocka_unit_test(what_has_no_image_says_so),
		cmocka_unit_test(generated_code_is_named_by_the_map_in_the_recording),
		cmocka_unit_test(kept_places_are_looked_up_once),
		cmocka_unit_test(generated_code_is_looked_up_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
