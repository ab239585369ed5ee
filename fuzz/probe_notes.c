/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte tells the words' size and whether the file was moved, the rest is a
 * section of notes: refused with a text, or probes in order that can be found. */
#include "sym/probe_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sym/probe_operand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IS_64 = 1, IS_MOVED = 2 };

static void check(const struct probe_notes *p, size_t i, bool is_64)
{
	const struct probe_note *n = probe_notes_at(p, i);
	own(buf_fini) struct buf name = { 0 };
	size_t first = SIZE_MAX, found;

	if (!*n->provider || !*n->name || n->offset || n->semaphore_offset)
		abort();
	if (!is_64 && (n->address | n->semaphore) > UINT32_MAX)
		abort();
	if (i && strcmp(n[-1].provider, n->provider) > 0)
		abort();
	buf_printf(&name, "%s:%s", n->provider, n->name);
	found = probe_notes_find(p, buf_str(&name), &first);
	if (!found || first > i || found > probe_notes_count(p) - first)
		abort();
	if (name.size < 200 && !probe_notes_nearest(p, buf_str(&name)))
		abort();
	(void)probe_operand_count(n->arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(probe_notes_freep) struct probe_notes *p = NULL;
	struct err e = { 0 };
	bool is_64 = size && (data[0] & IS_64);
	uint64_t base = size && (data[0] & IS_MOVED) ? 0x1000 : 0;

	if (!size)
		return 0;
	if (probe_notes_parse(data + 1, size - 1, is_64, base, &p, &e) < 0) {
		if (!e.text[0] || p)
			abort();
		return 0;
	}
	for (size_t i = 0; i < probe_notes_count(p) && i < 50; i++)
		check(p, i, is_64);
	return 0;
}
