/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/fde_index.h"

#include <stdlib.h>

#include "base/mem.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void fde_index_fini(struct fde_index *t)
{
	free(t->owned);
	free(t->entries);
}

static int by_start(const void *a, const void *b)
{
	const struct fde_index_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

static void index_section(struct fde_index *t)
{
	enum cfi_record kind;
	struct cfi_fde fde;
	size_t at = 0, cap = 0;

	for (size_t off = 0; (kind = cfi_read(&t->section, off, &fde, &off)) != CFI_LAST;
	     at = off) {
		if (kind != CFI_FDE || fde.start == fde.end)
			continue;
		if (t->n == cap) {
			cap = cap ? cap * 2 : 256;
			t->entries = xrealloc(t->entries, cap, sizeof(*t->entries));
		}
		t->entries[t->n++] = (struct fde_index_entry){ fde.start, at };
	}
	if (!t->entries)
		t->entries = xcalloc(1, sizeof(*t->entries));
	qsort(t->entries, t->n, sizeof(*t->entries), by_start);
}

static uint64_t entry_start(const struct fde_index *t, size_t i)
{
	return t->entries ? t->entries[i].start : eh_hdr_start(&t->hdr, i);
}

static bool entry_fde(const struct fde_index *t, size_t i, struct cfi_fde *ret)
{
	uint64_t off =
		t->entries ? t->entries[i].off : eh_hdr_fde(&t->hdr, i) - t->section.addr;
	size_t next;

	return off < t->section.size && cfi_read(&t->section, off, ret, &next) == CFI_FDE;
}

static bool entry_find(const struct fde_index *t, uint64_t vaddr, size_t *ret)
{
	size_t lo = 0, hi = t->n;

	if (!t->entries)
		return eh_hdr_find(&t->hdr, vaddr, ret);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret = lo - 1;
	return lo != 0;
}

bool fde_index_find(const struct fde_index *t, uint64_t vaddr, struct cfi_fde *ret)
{
	size_t i;

	return entry_find(t, vaddr, &i) && entry_fde(t, i, ret) && vaddr >= ret->start &&
	       vaddr < ret->end;
}

bool fde_index_prepare(struct fde_index *t)
{
	if (t->hdr.entries && eh_hdr_is_sorted(&t->hdr))
		t->n = t->hdr.n_entries;
	else
		index_section(t);
	return t->n != 0;
}

bool fde_index_at(const struct fde_index *t, size_t i, struct unwind_image_fde *ret)
{
	if (!entry_fde(t, i, &ret->fde))
		return false;
	ret->start = max_u64(ret->fde.start, entry_start(t, i));
	ret->end = ret->fde.end;
	if (i + 1 < t->n)
		ret->end = min_u64(ret->end, entry_start(t, i + 1));
	return ret->start < ret->end;
}

void fde_index_narrow_hole(const struct fde_index *t, uint64_t vaddr, uint64_t *start,
			   uint64_t *end)
{
	struct cfi_fde before;
	size_t i, next = 0;

	if (entry_find(t, vaddr, &i)) {
		next = i + 1;
		if (entry_fde(t, i, &before) && before.end <= vaddr)
			*start = max_u64(*start, before.end);
	}
	if (next < t->n)
		*end = min_u64(*end, entry_start(t, next));
}
