/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/next.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "inject/loaded.h"

struct search {
	const char *name;
	bool is_behind; /* this library was passed */
	void *found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *s = ctx;
	struct loaded m = { info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr };

	(void)size;
	if (info->dlpi_addr == (uintptr_t)__ehdr_start)
		s->is_behind = true;
	else if (s->is_behind)
		s->found = loaded_symbol(&m, s->name);
	return s->found != NULL;
}

bool next_is_told(void)
{
	return false;
}

bool next_needs_lock(void)
{
	return !_dl_find_object;
}

/* All that we look for is in the C library, which is never unloaded: no object that
 * comes and goes is ever reached. */
static void *search_chain(const char *name)
{
	struct dl_find_object o;
	const struct link_map *map = NULL;
	void *found = NULL;

	if (_dl_find_object((void *)__ehdr_start, &o) == 0)
		map = o.dlfo_link_map->l_next;
	for (; map && !found; map = map->l_next)
		found = loaded_linked_symbol(map, name);
	return found;
}

void *next_symbol(const char *name)
{
	struct search s = { .name = name };

	if (!next_needs_lock())
		return search_chain(name);
	if (dl_iterate_phdr)
		dl_iterate_phdr(visit, &s);
	return s.found;
}
