/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/next.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "inject/loaded.h"

struct search {
	const char *name;
	const char *beside; /* NULL: nothing */
	bool is_behind;	    /* this library was passed */
	void *found;
	bool is_beside;
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
	s->is_beside = s->found && s->beside && loaded_symbol(&m, s->beside);
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

/* All that we look for is in the C library, which is never unloaded, or was there at the
 * beginning: no object that comes and goes is ever reached. */
static void search_chain(struct search *s)
{
	struct dl_find_object o;
	const struct link_map *map = NULL;

	if (_dl_find_object((void *)__ehdr_start, &o) == 0)
		map = o.dlfo_link_map->l_next;
	for (; map && !s->found; map = map->l_next) {
		s->found = loaded_linked_symbol(map, s->name);
		s->is_beside =
			s->found && s->beside && loaded_linked_symbol(map, s->beside);
	}
}

static void search(struct search *s)
{
	if (!next_needs_lock())
		search_chain(s);
	else if (dl_iterate_phdr)
		dl_iterate_phdr(visit, s);
}

void *next_symbol(const char *name)
{
	struct search s = { .name = name };

	search(&s);
	return s.found;
}

void *next_symbol_beside(const char *name, const char *beside, bool *ret_is_beside)
{
	struct search s = { .name = name, .beside = beside };

	search(&s);
	*ret_is_beside = s.is_beside;
	return s.found;
}
