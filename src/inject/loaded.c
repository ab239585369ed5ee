/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/loaded.h"

#include <string.h>

#define VERSION_HIDDEN 0x8000

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions;
};

struct loaded loaded_at(const void *elf)
{
	const ElfW(Ehdr) *h = elf;
	struct loaded m = { 0 };

	if (!elf || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_phentsize != sizeof(ElfW(Phdr)))
		return m;
	m.phdrs = (const void *)((const char *)elf + h->e_phoff);
	m.n_phdrs = h->e_phnum;
	for (size_t i = 0; i < m.n_phdrs; i++) {
		if (m.phdrs[i].p_type != PT_LOAD)
			continue;
		m.bias = (uintptr_t)elf - (m.phdrs[i].p_vaddr - m.phdrs[i].p_offset);
		break;
	}
	return m;
}

static const ElfW(Phdr) * find_phdr(const struct loaded *m, uint32_t type)
{
	for (size_t i = 0; i < m->n_phdrs; i++)
		if (m->phdrs[i].p_type == type)
			return &m->phdrs[i];
	return NULL;
}

struct loaded loaded_by_phdrs(const void *phdrs, size_t n)
{
	struct loaded m = { .phdrs = phdrs, .n_phdrs = phdrs ? n : 0 };
	const ElfW(Phdr) *self = find_phdr(&m, PT_PHDR);

	if (self)
		m.bias = (uintptr_t)phdrs - self->p_vaddr;
	return m;
}

uintptr_t loaded_start(const struct loaded *m)
{
	const ElfW(Phdr) *first = find_phdr(m, PT_LOAD);

	return first ? (m->bias + first->p_vaddr) & ~(uintptr_t)4095 : 0;
}

/* glibc relocates the pointers of the dynamic section, musl and the vDSO do not. */
static const void *pointer(const struct loaded *m, const ElfW(Dyn) * d)
{
	uintptr_t p = d->d_un.d_ptr;

	return (const void *)(p < m->bias ? p + m->bias : p);
}

static struct tables find_tables(const struct loaded *m, const ElfW(Dyn) * dynamic)
{
	struct tables t = { 0 };

	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			t.symbols = pointer(m, d);
		else if (d->d_tag == DT_STRTAB)
			t.strings = pointer(m, d);
		else if (d->d_tag == DT_GNU_HASH)
			t.gnu_hash = pointer(m, d);
		else if (d->d_tag == DT_HASH)
			t.hash = pointer(m, d);
		else if (d->d_tag == DT_VERSYM)
			t.versions = pointer(m, d);
	}
	return t;
}

static const ElfW(Sym) * defined_as(const struct tables *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &t->symbols[i];

	if (s->st_shndx == SHN_UNDEF || (s->st_info & 15) != STT_FUNC ||
	    (t->versions && t->versions[i] & VERSION_HIDDEN) ||
	    strcmp(t->strings + s->st_name, name) != 0)
		return NULL;
	return s;
}

static const ElfW(Sym) * by_gnu_hash(const struct tables *t, const char *name)
{
	const uint32_t *h = t->gnu_hash;
	uint32_t n_buckets = h[0], first = h[1], n_words = h[2], hash = 5381;
	const uint32_t *buckets = (const void *)((const ElfW(Addr) *)(h + 4) + n_words);
	const uint32_t *chain = buckets + n_buckets;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!n_buckets)
		return NULL;

	uint32_t i = buckets[hash % n_buckets];

	for (; i >= first; i++) {
		const ElfW(Sym) *s = (chain[i - first] | 1) == (hash | 1)
					     ? defined_as(t, i, name)
					     : NULL;

		if (s || chain[i - first] & 1)
			return s;
	}
	return NULL;
}

static const ElfW(Sym) *
	find_symbol(const struct loaded *m, const ElfW(Dyn) * dynamic, const char *name)
{
	struct tables t = find_tables(m, dynamic);

	if (!t.symbols || !t.strings)
		return NULL;
	if (t.gnu_hash)
		return by_gnu_hash(&t, name);
	for (uint32_t i = 1; t.hash && i < t.hash[1]; i++) {
		const ElfW(Sym) *s = defined_as(&t, i, name);

		if (s)
			return s;
	}
	return NULL;
}

static const ElfW(Dyn) * find_dynamic(const struct loaded *m)
{
	const ElfW(Phdr) *p = find_phdr(m, PT_DYNAMIC);

	return p ? (const void *)(m->bias + p->p_vaddr) : NULL;
}

ElfW(Sym) * loaded_symbol_entry(const struct loaded *m, const char *name)
{
	return (ElfW(Sym) *)(uintptr_t)find_symbol(m, find_dynamic(m), name);
}

void *loaded_symbol(const struct loaded *m, const char *name)
{
	const ElfW(Sym) *s = loaded_symbol_entry(m, name);

	return s ? (void *)(m->bias + s->st_value) : NULL;
}

void *loaded_linked_symbol(const struct link_map *map, const char *name)
{
	struct loaded m = { .bias = map->l_addr };
	const ElfW(Sym) *s = find_symbol(&m, map->l_ld, name);

	return s ? (void *)(m.bias + s->st_value) : NULL;
}

static const ElfW(Dyn) * find_tag(const struct loaded *m, int64_t tag)
{
	const ElfW(Dyn) *d = find_dynamic(m);

	while (d && d->d_tag != DT_NULL && d->d_tag != tag)
		d++;
	return d && d->d_tag == tag ? d : NULL;
}

const void *loaded_dynamic(const struct loaded *m, int64_t tag)
{
	const ElfW(Dyn) *d = find_tag(m, tag);

	return d ? pointer(m, d) : NULL;
}

uint64_t loaded_dynamic_value(const struct loaded *m, int64_t tag)
{
	const ElfW(Dyn) *d = find_tag(m, tag);

	return d ? d->d_un.d_val : 0;
}

struct each {
	loaded_fn *fn;
	void *ctx;
};

static int visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct loaded m = { info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr };
	const struct each *each = ctx;

	(void)size;
	each->fn(&m, each->ctx);
	return 0;
}

/* Sanitizers have a dl_iterate_phdr of their own, and what begins here may be their own
 * first allocation, when that is not ready: where it can be, nobody is called. */
void loaded_each(loaded_fn *fn, void *ctx)
{
	const struct link_map *map = NULL;
	struct each each = { fn, ctx };
	struct dl_find_object o;

	if (!_dl_find_object && dl_iterate_phdr)
		dl_iterate_phdr(visit, &each);
	if (_dl_find_object && _dl_find_object((void *)__ehdr_start, &o) == 0)
		map = o.dlfo_link_map;
	while (map && map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next) {
		if (_dl_find_object((void *)map->l_ld, &o) != 0)
			continue;
		struct loaded m = loaded_at(o.dlfo_map_start);

		fn(&m, ctx);
	}
}

static size_t note_build_id(const uint8_t *at, size_t left, uint8_t *ret, size_t max)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)at;
		size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;
		size_t size = sizeof(*n) + name + desc;

		if (size > left || size < name)
			return 0;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    memcmp(at + sizeof(*n), "GNU", 4) == 0) {
			if (n->n_descsz > max)
				return 0;
			memcpy(ret, at + sizeof(*n) + name, n->n_descsz);
			return n->n_descsz;
		}
		at += size;
		left -= size;
	}
	return 0;
}

size_t loaded_build_id(const struct loaded *m, uint8_t *ret, size_t max)
{
	for (size_t i = 0; i < m->n_phdrs; i++) {
		const ElfW(Phdr) *p = &m->phdrs[i];
		size_t n = p->p_type == PT_NOTE && p->p_align <= 4
				   ? note_build_id((const void *)(m->bias + p->p_vaddr),
						   p->p_memsz, ret, max)
				   : 0;

		if (n)
			return n;
	}
	return 0;
}
