/* SPDX-License-Identifier: Apache-2.0 */
/* A cache file of unwind rows, once as it is and once with its checksums made right so
 * that what lies behind them is reached: refused with a text, or in order. */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "unwind/row_table_file.h"

#define HEADER_BYTES 40

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static void parse(const uint8_t *data, size_t size)
{
	own(row_table_freep) struct row_table *t = NULL;
	struct err e = { 0 };
	size_t n;

	if (row_table_file_parse(data, size, &t, &e) < 0) {
		check(e.text[0] && !t);
		return;
	}

	const struct cfa_row *rows = row_table_rows(t, &n);

	for (size_t i = 0; i < n; i++)
		check(row_table_find(t, row_table_base(t) + rows[i].pc) == &rows[i]);
}

static void seal(uint8_t *data, size_t size)
{
	uint64_t n = (size - HEADER_BYTES) / sizeof(struct cfa_row);
	uint32_t crc = crc32c(0, data + HEADER_BYTES, size - HEADER_BYTES);

	memcpy(data + 24, &n, 8);
	memcpy(data + 32, &crc, 4);
	crc = crc32c(0, data, 36);
	memcpy(data + 36, &crc, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size);
	if (size < HEADER_BYTES)
		return 0;

	own(freep) uint8_t *copy = malloc(size);

	memcpy(copy, data, size);
	seal(copy, size);
	parse(copy, size);
	return 0;
}
