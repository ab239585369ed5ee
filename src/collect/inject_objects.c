/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_objects.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define PHDRS_MAX   256
#define DYNAMIC_MAX 512

void inject_objects_fini(struct inject_objects *o)
{
	vec_fini(&o->at);
}

static uint64_t find_debug(const struct inject_memory *m, uint64_t dynamic)
{
	Elf64_Dyn d;

	for (unsigned i = 0; i < DYNAMIC_MAX; i++, dynamic += sizeof(d)) {
		if (!inject_memory_read(m, dynamic, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

uint64_t inject_objects_debug(const struct inject_memory *m, uint64_t phdrs, uint64_t n)
{
	uint64_t bias = 0, dynamic = 0;

	for (uint64_t i = 0; i < n && i < PHDRS_MAX; i++) {
		uint64_t at = phdrs + i * sizeof(Elf64_Phdr);
		Elf64_Phdr p;

		if (!inject_memory_read(m, at, &p, sizeof(p)))
			return 0;
		if (p.p_type == PT_PHDR)
			bias = phdrs - p.p_vaddr;
		if (p.p_type == PT_DYNAMIC)
			dynamic = p.p_vaddr;
	}
	return dynamic ? find_debug(m, bias + dynamic) : 0;
}

static void read_name(const struct inject_memory *m, uint64_t at,
		      struct inject_object *to)
{
	char path[PATH_MAX] = "";
	size_t n;

	if (!inject_memory_string(m, at, path, sizeof(path)))
		path[0] = 0;
	n = strlen(path);
	n = n < sizeof(to->name) ? 0 : n - sizeof(to->name) + 1;
	memcpy(to->name, path + n, strlen(path + n) + 1);
}

int inject_objects_read(const struct inject_memory *m, uint64_t debug,
			struct inject_objects *ret, struct err *e)
{
	struct r_debug head;
	struct link_map map;
	uint64_t at;

	vec_clear(&ret->at);
	if (!inject_memory_read(m, debug, &head, sizeof(head)))
		return err_set(e, ERR_FORMAT, "its dynamic linker tells nothing");
	ret->is_settled = head.r_state == RT_CONSISTENT;
	for (at = (uintptr_t)head.r_map; at; at = (uintptr_t)map.l_next) {
		struct inject_object *o;

		if (ret->at.n == INJECT_OBJECTS_MAX)
			return err_set(e, ERR_LIMIT, "it has too many libraries");
		if (!inject_memory_read(m, at, &map, offsetof(struct link_map, l_prev)))
			return err_set(e, ERR_FORMAT,
				       "its libraries change while they are looked at");
		o = vec_push(&ret->at);
		*o = (struct inject_object){ .bias = map.l_addr,
					     .dynamic = (uintptr_t)map.l_ld };
		read_name(m, (uintptr_t)map.l_name, o);
	}
	return 0;
}

bool inject_objects_have(const struct inject_objects *o, const struct inject_object *one)
{
	vec_each(x, &o->at)
		if (x->bias == one->bias && x->dynamic == one->dynamic)
			return true;
	return false;
}

bool inject_objects_are_same(const struct inject_objects *a,
			     const struct inject_objects *b)
{
	for (size_t i = 0; i < a->at.n && a->at.n == b->at.n; i++)
		if (a->at.at[i].bias != b->at.at[i].bias ||
		    a->at.at[i].dynamic != b->at.at[i].dynamic)
			return false;
	return a->at.n == b->at.n;
}

uint64_t inject_objects_debug_by(const struct inject_memory *m, const void *auxv,
				 size_t bytes)
{
	uint64_t phdrs = 0, n = 0, pair[2];

	for (size_t at = 0; at + sizeof(pair) <= bytes; at += sizeof(pair)) {
		memcpy(pair, (const char *)auxv + at, sizeof(pair));
		if (pair[0] == AT_PHDR)
			phdrs = pair[1];
		if (pair[0] == AT_PHNUM)
			n = pair[1];
	}
	return phdrs ? inject_objects_debug(m, phdrs, n) : 0;
}
