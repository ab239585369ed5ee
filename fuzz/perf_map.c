/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a perf map: what is found contains the address, and nothing later does. */
#include <stdlib.h>
#include <string.h>

#include "sym/perf_map.h"

static void check_at(const struct code_map *m, uint64_t address)
{
	const struct code_piece *found = code_map_find(m, address), *last = NULL;

	for (size_t i = 0; i < code_map_count(m); i++) {
		const struct code_piece *p = code_map_at(m, i);

		if (address >= p->start && address - p->start < p->size)
			last = p;
	}
	if (found != last)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };
	struct code_map *m = code_map_new();

	buf_add(&text, data, size);
	perf_map_parse(&text, m);
	code_map_finish(m);
	for (size_t i = 0; i < code_map_count(m) && i < 64; i++) {
		const struct code_piece *p = code_map_at(m, i);

		if (!p->name || !*p->name || strchr(p->name, '\n'))
			abort();
		check_at(m, p->start);
		check_at(m, p->start + p->size - 1);
		check_at(m, p->start + p->size);
	}
	code_map_free(m);
	buf_fini(&text);
	return 0;
}
