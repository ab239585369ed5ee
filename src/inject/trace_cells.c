/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_cells.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "inject/loaded.h"

#define NOTE_NAME "dwell"
#define NOTE_CELL 1 /* desc: how far behind itself the cell is, 4 bytes */

struct note {
	ElfW(Nhdr) head;
	char name[8];
	int32_t cell;
};

static bool is_ours(const struct note *n)
{
	return n->head.n_namesz == sizeof(NOTE_NAME) && n->head.n_descsz == 4 &&
	       n->head.n_type == NOTE_CELL &&
	       memcmp(n->name, NOTE_NAME, sizeof(NOTE_NAME)) == 0;
}

static void set_noted(const char *at, size_t left, const struct dwell_hooks *hooks)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		const struct note *n = (const void *)at;
		size_t size = sizeof(n->head) + ((n->head.n_namesz + 3u) & ~3u) +
			      ((n->head.n_descsz + 3u) & ~3u);

		if (size > left || size < sizeof(n->head))
			return;
		if (size == sizeof(*n) && is_ours(n))
			*(const struct dwell_hooks **)(uintptr_t)((const char *)&n->cell +
								  n->cell) = hooks;
		at += size;
		left -= size;
	}
}

static void set_loaded(const struct loaded *m, const struct dwell_hooks *hooks)
{
	for (size_t i = 0; i < m->n_phdrs; i++) {
		const ElfW(Phdr) *p = &m->phdrs[i];

		if (p->p_type == PT_NOTE && p->p_align <= 4)
			set_noted((const char *)(m->bias + p->p_vaddr), p->p_memsz,
				  hooks);
	}
}

static int set_listed(struct dl_phdr_info *info, size_t size, void *hooks)
{
	struct loaded m = { info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr };

	(void)size;
	set_loaded(&m, hooks);
	return 0;
}

/* Sanitizers have a dl_iterate_phdr of their own, and what begins here may be their own
 * first allocation, when that is not ready: where it can be, nobody is called. */
void trace_cells_set(const struct dwell_hooks *hooks)
{
	const struct link_map *map = NULL;
	struct dl_find_object o;

	if (!_dl_find_object && dl_iterate_phdr)
		dl_iterate_phdr(set_listed, (void *)(uintptr_t)hooks);
	if (_dl_find_object && _dl_find_object((void *)__ehdr_start, &o) == 0)
		map = o.dlfo_link_map;
	while (map && map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next) {
		if (_dl_find_object((void *)map->l_ld, &o) != 0)
			continue;
		struct loaded m = loaded_at(o.dlfo_map_start);

		set_loaded(&m, hooks);
	}
}
