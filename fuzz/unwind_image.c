/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an ELF file: it is refused with a text, or every row of its tables can
 * be looked up and walks over it end. */
#include <stdlib.h>

#include "unwind/row_table.h"
#include "unwind/unwind_image.h"

#define MAX_FDES 300

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static struct unwind_map whole = { .end = UINT64_MAX };

static const struct unwind_map *find_map(void *ctx, uint64_t pc)
{
	(void)ctx;
	return pc < whole.end ? &whole : NULL;
}

static void walk(struct unwind_image *image, const uint8_t *data, size_t size,
		 uint64_t pc)
{
	struct unwind_memory memory = { .stack = data,
					.stack_addr = 0,
					.stack_size = size };
	struct unwind_regs regs = { .arch = unwind_image_arch(image),
				    .valid = ~UINT64_C(0) };
	struct unwind_frame frames[64];
	enum unwind_stop stop;

	regs.r[UNWIND_X86_64_PC] = regs.r[UNWIND_AARCH64_PC] = pc;
	whole.image = image;

	size_t n = unwind_offline(&regs, &memory, find_map, NULL, frames, 64, &stop);

	check(n >= 1 && n <= 64 && (unsigned)stop < UNWIND_N_STOPS);
}

/* Everywhere the compiled table says what the lazy lookup says. */
static void compile(struct unwind_image *image)
{
	own(row_table_freep) struct row_table *t = NULL;
	struct err e = { 0 };
	size_t n;

	if (row_table_build(image, &t, &e) < 0) {
		check(e.text[0] && !t);
		return;
	}

	const struct cfa_row *rows = row_table_rows(t, &n);

	for (size_t i = 0; i < n && i < MAX_FDES; i++) {
		uint64_t at = row_table_base(t) + rows[i].pc;

		check(cfa_row_is_same(unwind_image_row(image, at), &rows[i]));
		check(row_table_find(t, at) == &rows[i]);
		if (i)
			check(cfa_row_is_same(unwind_image_row(image, at - 1),
					      &rows[i - 1]));
	}
}

static void look_up(struct unwind_image *image, const uint8_t *data, size_t size)
{
	struct unwind_image_fde f;

	for (size_t t = 0; t < unwind_image_n_tables(image); t++)
		for (size_t i = 0; i < unwind_image_n_fdes(image, t) && i < MAX_FDES;
		     i++) {
			if (!unwind_image_fde(image, t, i, &f))
				continue;
			check(f.start < f.end);
			unwind_image_row(image, f.start);
			unwind_image_row(image, f.end - 1);
			walk(image, data, size, f.start);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(unwind_image_freep) struct unwind_image *image = NULL;
	struct err e = { 0 };

	if (unwind_image_over(data, size, "fuzz", &image, &e) < 0) {
		check(e.text[0] && !image);
		return 0;
	}
	look_up(image, data, size);
	compile(image);
	walk(image, data, size, size / 2);
	return 0;
}
