/* SPDX-License-Identifier: Apache-2.0 */
/* A cache file of packed unwind rows, once as it is and once with its checksums made
 * right so that what lies behind them is reached: refused with a text; or it can be
 * written to where the kernel's side looks, each page and rule within what there is, and
 * each place has a rule there. */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "collect/row_pack_file.h"

#define HEADER_BYTES 40
#define LAYOUT_AT    12
#define CRC_AT	     (HEADER_BYTES - 4)
#define FIRST_PAGE   3

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct target {
	uint32_t *words;
	uint32_t n_pages;
};

static uint32_t *page_at(void *ctx, uint32_t page)
{
	struct target *t = ctx;

	check(page >= FIRST_PAGE && page - FIRST_PAGE < t->n_pages);
	return t->words + (size_t)(page - FIRST_PAGE) * STACK_ROWS_PAGE_WORDS;
}

/* As the kernel's side does. */
static void look_up(const struct row_pack *p, struct target *t, uint32_t block,
		    uint32_t pc)
{
	uint32_t entry = page_at(
		t, FIRST_PAGE +
			   block / STACK_ROWS_PAGE_WORDS)[block % STACK_ROWS_PAGE_WORDS];
	const uint32_t *words;

	if (!entry)
		return;
	if (entry & STACK_ROWS_SPLIT)
		entry = (page_at(t, entry >> 16) +
			 entry % STACK_ROWS_PAGE_WORDS)[STACK_ROWS_PART(pc)];
	words = page_at(t, entry >> 16) + (entry & 0xffff);
	check(words[0] && (words[1] & 0xffff) <= pc);
	for (uint32_t i = 1; i <= words[0]; i++)
		check(words[i] >> 16 < p->rules.n);
}

static void write_and_look(const struct row_pack *p)
{
	struct target t = { .n_pages = row_pack_n_pages(p) };
	own(freep) uint32_t *words = xcalloc(p->words.n + 1, sizeof(*words));
	own(freep) uint32_t *numbers = xcalloc(p->rules.n + 1, sizeof(*numbers));
	struct row_pack_place to = {
		.first_page = FIRST_PAGE, .numbers = numbers, .page = page_at, .ctx = &t
	};

	t.words = words;
	for (uint32_t i = 0; i < p->rules.n; i++)
		numbers[i] = (uint32_t)p->rules.n - 1 - i;
	row_pack_write(p, &to);
	for (uint32_t b = 0; b < p->n_blocks; b++)
		for (uint32_t pc = 0; pc < STACK_ROWS_BLOCK_BYTES; pc += 509)
			look_up(p, &t, b, pc);
}

static void parse(const uint8_t *data, size_t size, uint32_t layout)
{
	own(row_pack_fini) struct row_pack p = { 0 };
	own(buf_fini) struct buf again = { 0 };
	struct err e = { 0 };

	if (row_pack_file_parse(data, size, layout, &p, &e) < 0) {
		check(e.text[0] && !p.words.n);
		return;
	}
	write_and_look(&p);
	row_pack_file_format(&p, layout, &again);
	check(again.size == size && !memcmp(again.data, data, size));
}

static void seal(uint8_t *data, size_t size)
{
	uint32_t crc = crc32c(0, data + HEADER_BYTES, size - HEADER_BYTES);

	memcpy(data + CRC_AT - 4, &crc, 4);
	crc = crc32c(0, data, CRC_AT);
	memcpy(data + CRC_AT, &crc, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t layout;

	parse(data, size, 0);
	if (size < HEADER_BYTES)
		return 0;

	own(freep) uint8_t *copy = malloc(size);

	memcpy(copy, data, size);
	memcpy(&layout, data + LAYOUT_AT, sizeof(layout));
	seal(copy, size);
	parse(copy, size, layout);
	return 0;
}
