/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lead.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "bare/sys.h"
#include "inject/loaded.h"
#include "inject/trace_runtime.h"

#if defined(__x86_64__)
#define IS_CALL	   R_X86_64_JUMP_SLOT
#define IS_ADDRESS R_X86_64_GLOB_DAT
#define IS_DATA	   R_X86_64_64
#else
#define IS_CALL	   R_AARCH64_JUMP_SLOT
#define IS_ADDRESS R_AARCH64_GLOB_DAT
#define IS_DATA	   R_AARCH64_ABS64
#endif

struct leads {
	const struct lead *at;
	size_t n;
};

static const struct lead *named(const struct leads *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->at[i].name, name) == 0)
			return &l->at[i];
	return NULL;
}

static const ElfW(Phdr) *
	segment_of(const struct loaded *m, uint32_t type, uintptr_t address)
{
	for (size_t i = 0; i < m->n_phdrs; i++) {
		const ElfW(Phdr) *p = &m->phdrs[i];

		if (p->p_type == type && address - (m->bias + p->p_vaddr) < p->p_memsz)
			return p;
	}
	return NULL;
}

/* As the linker leaves it once it has filled it. */
static long rights_at(const struct loaded *m, uintptr_t address)
{
	const ElfW(Phdr) *p = segment_of(m, PT_LOAD, address);

	if (!p)
		return PROT_NONE;
	if (segment_of(m, PT_GNU_RELRO, address))
		return PROT_READ;
	return (p->p_flags & PF_R ? PROT_READ : 0) |
	       (p->p_flags & PF_W ? PROT_WRITE : 0) | (p->p_flags & PF_X ? PROT_EXEC : 0);
}

static void put(const struct loaded *m, uintptr_t *word, uintptr_t value)
{
	uintptr_t bytes = trace_runtime.page_bytes;
	uintptr_t page = (uintptr_t)word & ~(bytes - 1);
	long rights = rights_at(m, (uintptr_t)word);

	if (!(rights & PROT_READ))
		return;
	if (!(rights & PROT_WRITE) &&
	    sys_call(SYS_mprotect, page, bytes, rights | PROT_WRITE, 0, 0, 0) < 0)
		return;
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
	if (!(rights & PROT_WRITE))
		sys_call(SYS_mprotect, page, bytes, rights, 0, 0, 0);
}

/* Does it lead there, or will it when it is first called? */
static bool leads_to(const struct loaded *m, const ElfW(Rela) * r, const ElfW(Sym) * s,
		     uintptr_t word, const void *to)
{
	return word == (uintptr_t)to ||
	       (ELF64_R_TYPE(r->r_info) == IS_CALL && s->st_shndx == SHN_UNDEF &&
		segment_of(m, PT_LOAD, word));
}

static void lead_slots(const struct loaded *m, const struct leads *l, int64_t table,
		       int64_t bytes)
{
	const ElfW(Rela) *r = loaded_dynamic(m, table);
	const ElfW(Sym) *symbols = loaded_dynamic(m, DT_SYMTAB);
	const char *strings = loaded_dynamic(m, DT_STRTAB);
	size_t n =
		r && symbols && strings ? loaded_dynamic_value(m, bytes) / sizeof(*r) : 0;

	for (; n--; r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info);
		const ElfW(Sym) *s = &symbols[ELF64_R_SYM(r->r_info)];
		uintptr_t *word = (uintptr_t *)(m->bias + r->r_offset);
		const struct lead *x;

		if ((type != IS_CALL && type != IS_ADDRESS && type != IS_DATA) ||
		    (type == IS_DATA && r->r_addend))
			continue;
		x = named(l, strings + s->st_name);
		if (x && leads_to(m, r, s, *word, x->from))
			put(m, word, (uintptr_t)x->to);
	}
}

static void lead_symbols(const struct loaded *m, const struct leads *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct lead *x = &l->at[i];
		ElfW(Sym) *s = loaded_symbol_entry(m, x->name);

		if (s && m->bias + s->st_value == (uintptr_t)x->from)
			put(m, &s->st_value, (uintptr_t)x->to - m->bias);
	}
}

static void lead_object(const struct loaded *m, void *leads)
{
	lead_slots(m, leads, DT_JMPREL, DT_PLTRELSZ);
	lead_slots(m, leads, DT_RELA, DT_RELASZ);
	lead_symbols(m, leads);
}

void lead_all(const struct lead *leads, size_t n)
{
	struct leads l = { leads, n };

	loaded_each(lead_object, &l);
}
