/* SPDX-License-Identifier: Apache-2.0
 *
 * ask_image - every question that a symbolizer answers, about one image of a target.
 *
 * Whatever the bytes are, the answers are whole objects.  Header only: each target is
 * one program.
 */
#ifndef DWELL_FUZZ_ASK_IMAGE_H
#define DWELL_FUZZ_ASK_IMAGE_H

#include <stdlib.h>

#include "sym/symbolizer.h"

#define N_OFFSETS 256

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static void ask_image_lines(struct symbolizer *s, uint32_t image, uint64_t address)
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

static void ask_image_code(struct symbolizer *s, uint32_t image, uint64_t address)
{
	struct buf code = { 0 };
	struct err e = { 0 };

	if (symbolizer_code(s, image, address, 64, &code, &e) < 0)
		check(e.text[0]);
	else
		check(code.size && code.size <= 64);
	buf_fini(&code);
}

static void ask_image_file(void *ctx, const char *kind, const char *name,
			   const char *path)
{
	(void)ctx;
	check(*kind && *name && *path);
}

static void ask_image_all(struct symbolizer *s, uint32_t image, size_t size)
{
	uint64_t offsets[N_OFFSETS];
	bool is_return[N_OFFSETS];
	struct sym_result results[N_OFFSETS] = { 0 };
	uint32_t ids[4];

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
	ask_image_code(s, image, results[N_OFFSETS / 2].address);
	ask_image_lines(s, image, results[N_OFFSETS / 2].address & ~UINT64_C(4095));
	check(symbolizer_find_functions(s, image, "a", ids, 4) <= 4);
	symbolizer_each_file(s, image, ask_image_file, NULL);
}

#endif
