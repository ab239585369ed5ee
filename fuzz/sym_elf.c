/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are an ELF file with whatever symbols, unwind table and debug information;
 * the whole symbolizer is asked about it, and always answers with whole objects. */
#include <stdlib.h>
#include <string.h>

#include "sym/symbolizer.h"

#define N_OFFSETS 256

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct input {
	const uint8_t *data;
	size_t size;
};

static bool give_elf(void *ctx, const struct sym_image_ref *image, const char *kind,
		     const char *name, struct buf *ret)
{
	const struct input *in = ctx;

	(void)image, (void)name;
	if (strcmp(kind, "elf") != 0)
		return false;
	buf_add(ret, in->data, in->size);
	return true;
}

static void ask_lines(struct symbolizer *s, uint32_t image, uint64_t address)
{
	struct sym_line_row *rows = NULL;
	struct err e = { 0 };
	size_t n = 0;

	if (symbolizer_lines(s, image, address, 4096, &rows, &n, &e) < 0)
		check(e.text[0] && !rows);
	for (size_t i = 0; i < n; i++)
		check(rows[i].address <= rows[i].end && rows[i].file);
	free(rows);
}

static void ask_code(struct symbolizer *s, uint32_t image, uint64_t address)
{
	struct buf code = { 0 };
	struct err e = { 0 };

	if (symbolizer_code(s, image, address, 64, &code, &e) < 0)
		check(e.text[0]);
	else
		check(code.size && code.size <= 64);
	buf_fini(&code);
}

static void ask_all(struct symbolizer *s, uint32_t image, size_t size)
{
	uint64_t offsets[N_OFFSETS];
	bool is_return[N_OFFSETS];
	struct sym_result results[N_OFFSETS] = { 0 };

	for (size_t i = 0; i < N_OFFSETS; i++) {
		offsets[i] = size * i / N_OFFSETS;
		is_return[i] = i & 1;
	}
	symbolizer_resolve(s, image, offsets, is_return, N_OFFSETS, results);
	for (size_t i = 0; i < N_OFFSETS; i++) {
		check(results[i].n_frames > 0);
		for (uint32_t k = 0; k < results[i].n_frames; k++) {
			const struct sym_frame *f =
				symbolizer_frame(s, results[i].first_frame + k);

			check(f && symbolizer_function(s, f->function));
			check(symbolizer_function(s, f->function)->name);
			check(f->is_inlined == (k + 1 < results[i].n_frames));
		}
	}
	ask_code(s, image, results[N_OFFSETS / 2].address);
	ask_lines(s, image, results[N_OFFSETS / 2].address & ~UINT64_C(4095));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const no_dirs[] = { NULL };
	struct input in = { data, size };
	struct sym_options options = {
		.debug_dirs = no_dirs,
		.no_debuginfod = true,
		.blob = give_elf,
		.blob_ctx = &in,
	};
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/nowhere/at/all" };
	struct symbolizer *s = symbolizer_new(&options);
	uint32_t image = symbolizer_image(s, &ref);
	uint32_t ids[4];

	ask_all(s, image, size);
	check(symbolizer_find_functions(s, image, "a", ids, 4) <= 4);
	symbolizer_free(s);
	return 0;
}
