/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/eh_hdr.h"

#include "unwind/eh_cursor.h"

#define ENTRY_BYTES 8

bool eh_hdr_parse(const uint8_t *bytes, size_t size, uint64_t addr, struct eh_hdr *ret)
{
	struct eh_cursor c = eh_cursor_over(bytes, size, addr);
	uint8_t version = eh_cursor_u8(&c), frame_encoding = eh_cursor_u8(&c);
	uint8_t count_encoding = eh_cursor_u8(&c), entry_encoding = eh_cursor_u8(&c);
	struct eh_hdr h = { .addr = addr };

	if (c.bad || version != 1 || frame_encoding == EH_OMIT)
		return false;
	h.eh_frame = eh_cursor_pointer(&c, frame_encoding, addr);
	if (c.bad)
		return false;
	if (count_encoding != EH_OMIT &&
	    entry_encoding == (EH_DATA_RELATIVE | EH_SDATA4)) {
		uint64_t n = eh_cursor_pointer(&c, count_encoding, addr);

		if (!c.bad && n <= eh_cursor_left(&c) / ENTRY_BYTES) {
			h.entries = c.at;
			h.n_entries = n;
		}
	}
	*ret = h;
	return true;
}

static uint64_t entry_word(const struct eh_hdr *h, size_t i, size_t half)
{
	int32_t v;

	memcpy(&v, h->entries + i * ENTRY_BYTES + half, sizeof(v));
	return h->addr + (uint64_t)(int64_t)v;
}

uint64_t eh_hdr_start(const struct eh_hdr *h, size_t i)
{
	return entry_word(h, i, 0);
}

uint64_t eh_hdr_fde(const struct eh_hdr *h, size_t i)
{
	return entry_word(h, i, 4);
}

bool eh_hdr_find(const struct eh_hdr *h, uint64_t pc, size_t *ret_i)
{
	size_t lo = 0, hi = h->n_entries;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (eh_hdr_start(h, mid) <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_i = lo - 1;
	return lo != 0;
}

bool eh_hdr_is_sorted(const struct eh_hdr *h)
{
	for (size_t i = 1; i < h->n_entries; i++)
		if (eh_hdr_start(h, i - 1) > eh_hdr_start(h, i))
			return false;
	return true;
}
