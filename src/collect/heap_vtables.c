/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_vtables.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/search.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define MAPS_BYTES_MAX (UINT64_C(256) << 20)
#define WORD	       sizeof(uint64_t)
#define PAGE_BYTES     4096

/* So many words are looked at, until as many functions are found. */
#define N_WORDS	    21
#define N_FUNCTIONS 2

void heap_vtables_fini(struct heap_vtables *t)
{
	heap_ranges_fini(&t->files);
	heap_ranges_fini(&t->code);
	map_fini(&t->known);
}

void heap_vtables_of_text(struct heap_vtables *t, const char *text, size_t size)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	const char *end = text + size;

	while (proc_maps_next(&text, end, map)) {
		if (map->path[0] != '/')
			continue;
		heap_ranges_add(&t->files, map->start, map->end);
		if (map->is_exec)
			heap_ranges_add(&t->code, map->start, map->end);
	}
}

int heap_vtables_read(struct heap_vtables *t, pid_t pid, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rc = procfs_read(path, MAPS_BYTES_MAX, &text, e);
	if (rc == 0)
		heap_vtables_of_text(t, buf_str(&text), text.size);
	return rc;
}

/* NULL: none has the address. */
static const struct heap_range *find(const struct heap_ranges *r, uint64_t address)
{
	size_t i = search_split(r->all.n, k, r->all.at[k].end <= address);

	return i < r->all.n && r->all.at[i].start <= address ? &r->all.at[i] : NULL;
}

static bool is_table(const struct heap_vtables *t, const uint64_t *words, size_t n)
{
	unsigned n_functions = 0;

	for (size_t i = 0; i < n && n_functions < N_FUNCTIONS; i++) {
		if (!words[i])
			continue;
		if (!find(&t->code, words[i]))
			return false;
		n_functions++;
	}
	return n_functions == N_FUNCTIONS;
}

bool heap_vtables_has(struct heap_vtables *t, uint64_t address, heap_roots_read_fn *read,
		      void *ctx)
{
	const struct heap_range *file;
	uint64_t words[N_WORDS], *known;
	size_t n = N_WORDS;
	bool is_new;

	if (address % WORD || address < PAGE_BYTES)
		return false;
	file = find(&t->files, address);
	if (!file)
		return false;
	known = map_slot(&t->known, address, &is_new);
	if (!is_new)
		return *known;
	if (n > (file->end - address) / WORD)
		n = (size_t)((file->end - address) / WORD);
	*known = read(ctx, address, words, n * WORD) && is_table(t, words, n);
	return *known;
}
