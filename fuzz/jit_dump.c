/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a jitdump: refused with a text, or every piece gives code and lines. */
#include <stdlib.h>
#include <string.h>

#include "sym/jit_dump.h"

static void check_piece(const struct jit_dump *d, const struct code_piece *p)
{
	struct jit_dump_line line;
	struct buf code = { 0 };

	if (!p->name || !*p->name)
		abort();
	if (jit_dump_code(d, p, p->start, 64, &code) && code.size > 64)
		abort();
	if (jit_dump_find_line(d, p, p->start + p->size - 1, &line) &&
	    strlen(line.file) > (1u << 30))
		abort();
	buf_fini(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = { 0 };
	struct jit_dump *d = NULL;
	struct err e = { 0 };

	buf_add(&bytes, data, size);
	if (jit_dump_parse(&bytes, &d, &e) < 0) {
		if (!e.text[0] || d)
			abort();
	} else {
		const struct code_map *m = jit_dump_map(d);

		for (size_t i = 0; i < code_map_count(m); i++)
			check_piece(d, code_map_at(m, i));
	}
	jit_dump_free(d);
	buf_fini(&bytes);
	return 0;
}
