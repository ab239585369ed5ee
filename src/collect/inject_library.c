/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_library.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAGE	  UINT64_C(4096)
#define BYTES_MAX (UINT64_C(64) << 20)

/* One that is being made; sizes are checked against the image. */
struct making {
	struct inject_library l;
	inject_resolve_fn *resolve;
	void *ctx;
	uint64_t rela, rela_bytes;
	bool is_bad;
};

static int damaged(struct err *e)
{
	return err_set(e, ERR_FORMAT, "the library to be put into it is damaged");
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) & -PAGE;
}

static const void *bytes_at(struct making *m, uint64_t off, uint64_t bytes)
{
	if (off > m->l.bytes || bytes > m->l.bytes - off) {
		m->is_bad = true;
		return NULL;
	}
	return m->l.image + off;
}

static bool is_segment(const Elf64_Phdr *p, size_t size)
{
	return p->p_offset <= size && p->p_filesz <= size - p->p_offset &&
	       p->p_filesz <= p->p_memsz && p->p_vaddr < BYTES_MAX &&
	       p->p_memsz < BYTES_MAX;
}

static bool read_phdr(const uint8_t *elf, size_t size, const Elf64_Ehdr *h, unsigned i,
		      Elf64_Phdr *ret)
{
	uint64_t at = h->e_phoff + i * sizeof(*ret);

	if (at < h->e_phoff || at > size || sizeof(*ret) > size - at)
		return false;
	memcpy(ret, elf + at, sizeof(*ret));
	return true;
}

static bool measure(const uint8_t *elf, size_t size, const Elf64_Ehdr *h,
		    struct inject_library *l)
{
	Elf64_Phdr p;

	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (!read_phdr(elf, size, h, i, &p) || p.p_type == PT_TLS)
			return false;
		if (p.p_type != PT_LOAD)
			continue;
		if (!is_segment(&p, size))
			return false;
		if (whole_pages(p.p_vaddr + p.p_memsz) > l->bytes)
			l->bytes = whole_pages(p.p_vaddr + p.p_memsz);
		if (p.p_vaddr + p.p_filesz > l->file_bytes)
			l->file_bytes = p.p_vaddr + p.p_filesz;
		if (p.p_flags & PF_X)
			l->code_bytes = whole_pages(p.p_vaddr + p.p_memsz);
		else if (p.p_vaddr < l->code_bytes)
			return false;
	}
	return l->bytes && l->code_bytes && l->bytes <= BYTES_MAX;
}

static uint64_t copy(const uint8_t *elf, size_t size, const Elf64_Ehdr *h,
		     struct inject_library *l)
{
	uint64_t dynamic = 0;
	Elf64_Phdr p;

	l->image = xcalloc(1, l->bytes);
	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (!read_phdr(elf, size, h, i, &p))
			continue;
		if (p.p_type == PT_LOAD)
			memcpy(l->image + p.p_vaddr, elf + p.p_offset, p.p_filesz);
		if (p.p_type == PT_DYNAMIC)
			dynamic = p.p_vaddr;
	}
	return dynamic;
}

static void take_tables(struct making *m, uint64_t dynamic)
{
	struct inject_library *l = &m->l;
	uint64_t symbols = 0, strings = 0, hash = 0;
	const uint32_t *counts;

	for (;; dynamic += sizeof(Elf64_Dyn)) {
		const Elf64_Dyn *d = bytes_at(m, dynamic, sizeof(*d));

		if (!d || d->d_tag == DT_NULL)
			break;
		if (d->d_tag == DT_SYMTAB)
			symbols = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRSZ)
			l->strings_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_HASH)
			hash = d->d_un.d_ptr;
		else if (d->d_tag == DT_RELA)
			m->rela = d->d_un.d_ptr;
		else if (d->d_tag == DT_RELASZ)
			m->rela_bytes = d->d_un.d_val;
	}
	counts = bytes_at(m, hash, 8);
	l->n_symbols = counts ? counts[1] : 0;
	l->symbols = bytes_at(m, symbols, l->n_symbols * sizeof(Elf64_Sym));
	l->strings = bytes_at(m, strings, l->strings_bytes);
	m->is_bad |= !l->strings_bytes || !hash ||
		     (l->strings && l->strings[l->strings_bytes - 1]);
}

static const Elf64_Sym *symbol_at(const struct inject_library *l, size_t i)
{
	const Elf64_Sym *s = (const Elf64_Sym *)l->symbols + i;

	return i < l->n_symbols && s->st_name < l->strings_bytes ? s : NULL;
}

static uint64_t value_of(struct making *m, uint32_t symbol)
{
	const Elf64_Sym *s = symbol_at(&m->l, symbol);

	if (!s) {
		m->is_bad = true;
		return 0;
	}
	if (s->st_shndx != SHN_UNDEF)
		return m->l.at + s->st_value;
	return m->resolve(m->ctx, (const char *)m->l.strings + s->st_name);
}

/* The kinds that a library without thread-local storage has. */
static void relocate(struct making *m, const Elf64_Rela *r)
{
	uint64_t *to = (uint64_t *)(uintptr_t)bytes_at(m, r->r_offset, sizeof(*to));
	uint64_t value = (uint64_t)r->r_addend;

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_NONE:
		return;
	case R_X86_64_RELATIVE:
		value += m->l.at;
		break;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
		value += value_of(m, ELF64_R_SYM(r->r_info));
		break;
	default:
		m->is_bad = true;
		return;
	}
	if (to)
		memcpy(to, &value, sizeof(value));
}

static void relocate_all(struct making *m)
{
	size_t n = m->rela_bytes / sizeof(Elf64_Rela);
	const Elf64_Rela *all = bytes_at(m, m->rela, m->rela_bytes);

	for (size_t i = 0; all && i < n && !m->is_bad; i++) {
		Elf64_Rela r;

		memcpy(&r, all + i, sizeof(r));
		relocate(m, &r);
	}
}

int inject_library_make(const uint8_t *elf, size_t size, uint64_t at,
			inject_resolve_fn *resolve, void *ctx, struct inject_library *ret,
			struct err *e)
{
	struct making m = { .l.at = at, .resolve = resolve, .ctx = ctx };
	Elf64_Ehdr h;

	if (size < sizeof(h))
		return damaged(e);
	memcpy(&h, elf, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_type != ET_DYN ||
	    h.e_phentsize != sizeof(Elf64_Phdr) || !measure(elf, size, &h, &m.l))
		return damaged(e);
	take_tables(&m, copy(elf, size, &h, &m.l));
	if (!m.is_bad)
		relocate_all(&m);
	if (m.is_bad) {
		inject_library_fini(&m.l);
		return damaged(e);
	}
	*ret = m.l;
	return 0;
}

void inject_library_fini(struct inject_library *l)
{
	free(l->image);
	*l = (struct inject_library){ 0 };
}

uint64_t inject_library_find(const struct inject_library *l, const char *name)
{
	for (size_t i = 1; i < l->n_symbols; i++) {
		const Elf64_Sym *s = symbol_at(l, i);

		if (s && s->st_shndx != SHN_UNDEF &&
		    strcmp((const char *)l->strings + s->st_name, name) == 0)
			return l->at + s->st_value;
	}
	return 0;
}
