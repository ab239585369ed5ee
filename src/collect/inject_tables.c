/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_tables.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"

#define DYNAMIC_MAX	512
#define RELOCATIONS_MAX (UINT64_C(64) << 20)
#define STRINGS_MAX	(UINT64_C(256) << 20)
#define CHAIN_MAX	65536
#define NAME_MAX_BYTES	64
#define VERSION_HIDDEN	0x8000
#define VERSIONS_MAX	4096

/* The C library's first version on this machine, as it is hashed: GLIBC_2.2.5, or 2.17.
 */
#if defined(__aarch64__)
#define VERSION_FIRST 0x06969197
#else
#define VERSION_FIRST 0x09691a75
#endif

/* Of the processor: a call's slot, and an address of a symbol; and that in data. */
#if defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#define IS_DATA(type) ((type) == R_AARCH64_ABS64)
#else
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#define IS_DATA(type) ((type) == R_X86_64_64)
#endif

/* glibc relocates the pointers of the dynamic section, musl and the vDSO do not. */
static uint64_t pointer(const struct inject_tables *t, uint64_t p)
{
	return p < t->bias ? p + t->bias : p;
}

struct dynamic {
	uint64_t jmprel, pltrelsz, rela, relasz, relacount;
};

static void take(struct inject_tables *t, struct dynamic *d, const Elf64_Dyn *x)
{
	switch (x->d_tag) {
	case DT_STRTAB:
		t->strings = pointer(t, x->d_un.d_ptr);
		break;
	case DT_STRSZ:
		t->strings_bytes = x->d_un.d_val;
		break;
	case DT_SYMTAB:
		t->symbols = pointer(t, x->d_un.d_ptr);
		break;
	case DT_GNU_HASH:
		t->gnu_hash = pointer(t, x->d_un.d_ptr);
		break;
	case DT_HASH:
		t->hash = pointer(t, x->d_un.d_ptr);
		break;
	case DT_VERSYM:
		t->versions = pointer(t, x->d_un.d_ptr);
		break;
	case DT_VERNEED:
		t->needed = pointer(t, x->d_un.d_ptr);
		break;
	case DT_JMPREL:
		d->jmprel = pointer(t, x->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		d->pltrelsz = x->d_un.d_val;
		break;
	case DT_RELA:
		d->rela = pointer(t, x->d_un.d_ptr);
		break;
	case DT_RELASZ:
		d->relasz = x->d_un.d_val;
		break;
	case DT_RELACOUNT:
		d->relacount = x->d_un.d_val;
		break;
	default:
		break;
	}
}

static struct inject_relocations relocations(uint64_t at, uint64_t bytes)
{
	return at ? (struct inject_relocations){ at, bytes }
		  : (struct inject_relocations){ 0 };
}

bool inject_tables_open(const struct inject_memory *m, const struct inject_object *o,
			struct inject_tables *ret)
{
	struct inject_tables t = { .memory = m, .bias = o->bias };
	struct dynamic d = { 0 };
	Elf64_Dyn x = { .d_tag = DT_NULL };

	for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
		if (!inject_memory_read(m, o->dynamic + i * sizeof(x), &x, sizeof(x)))
			return false;
		if (x.d_tag == DT_NULL)
			break;
		take(&t, &d, &x);
	}
	if (!t.strings || !t.symbols || t.strings_bytes > STRINGS_MAX)
		return false;
	t.plt = relocations(d.jmprel, d.pltrelsz);
	if (d.relacount <= d.relasz / sizeof(Elf64_Rela))
		t.others = relocations(d.rela + d.relacount * sizeof(Elf64_Rela),
				       d.relasz - d.relacount * sizeof(Elf64_Rela));
	*ret = t;
	return true;
}

static uint64_t symbol_at(const struct inject_tables *t, uint32_t i)
{
	return t->symbols + i * sizeof(Elf64_Sym);
}

static bool read_name(const struct inject_tables *t, const Elf64_Sym *s,
		      char name[NAME_MAX_BYTES])
{
	return s->st_name < t->strings_bytes &&
	       inject_memory_string(t->memory, t->strings + s->st_name, name,
				    NAME_MAX_BYTES);
}

static bool read_symbol(const struct inject_tables *t, uint32_t i, Elf64_Sym *ret,
			char name[NAME_MAX_BYTES])
{
	return inject_memory_read(t->memory, symbol_at(t, i), ret, sizeof(*ret)) &&
	       read_name(t, ret, name);
}

static bool is_hidden(const struct inject_tables *t, uint32_t i)
{
	uint16_t version = 0;

	return t->versions &&
	       (!inject_memory_read(t->memory, t->versions + i * sizeof(version),
				    &version, sizeof(version)) ||
		version & VERSION_HIDDEN);
}

struct wanted {
	const char *name;
	uint64_t besides; /* 0: by default, else of an older version that is elsewhere */
	struct inject_symbol symbol; /* where that was found */
};

static uint64_t defined_as(const struct inject_tables *t, uint32_t i, struct wanted *w)
{
	char found[NAME_MAX_BYTES];
	Elf64_Sym s;

	if (!read_symbol(t, i, &s, found) || strcmp(found, w->name) != 0 ||
	    s.st_shndx == SHN_UNDEF || is_hidden(t, i) != (w->besides != 0) ||
	    t->bias + s.st_value == w->besides ||
	    (ELF64_ST_TYPE(s.st_info) != STT_FUNC &&
	     ELF64_ST_TYPE(s.st_info) != STT_OBJECT))
		return 0;
	w->symbol =
		(struct inject_symbol){ symbol_at(t, i) + offsetof(Elf64_Sym, st_value),
					t->bias };
	return t->bias + s.st_value;
}

static bool read_word(const struct inject_tables *t, uint64_t at, uint32_t *ret)
{
	return inject_memory_read(t->memory, at, ret, sizeof(*ret));
}

static uint64_t find_by_gnu_hash(const struct inject_tables *t, struct wanted *w)
{
	struct {
		uint32_t n_buckets, first, n_words, shift;
	} h;
	uint32_t hash = 5381, i, link = 0;
	uint64_t buckets, chain;

	for (const char *c = w->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!inject_memory_read(t->memory, t->gnu_hash, &h, sizeof(h)) || !h.n_buckets)
		return 0;
	buckets = t->gnu_hash + sizeof(h) + UINT64_C(8) * h.n_words;
	chain = buckets + UINT64_C(4) * h.n_buckets;
	if (!read_word(t, buckets + UINT64_C(4) * (hash % h.n_buckets), &i))
		return 0;
	for (uint32_t n = 0; i >= h.first && n < CHAIN_MAX && !(link & 1); i++, n++) {
		uint64_t found;

		if (!read_word(t, chain + UINT64_C(4) * (i - h.first), &link))
			return 0;
		found = (link | 1) == (hash | 1) ? defined_as(t, i, w) : 0;
		if (found)
			return found;
	}
	return 0;
}

static uint64_t find_by_hash(const struct inject_tables *t, struct wanted *w)
{
	uint32_t n_buckets, hash = 0, i;

	for (const char *c = w->name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!read_word(t, t->hash, &n_buckets) || !n_buckets ||
	    !read_word(t, t->hash + 8 + UINT64_C(4) * (hash % n_buckets), &i))
		return 0;
	for (uint32_t n = 0; i && n < CHAIN_MAX; n++) {
		uint64_t found = defined_as(t, i, w);

		if (found)
			return found;
		if (!read_word(t, t->hash + 8 + UINT64_C(4) * n_buckets + UINT64_C(4) * i,
			       &i))
			return 0;
	}
	return 0;
}

static uint64_t find(const struct inject_tables *t, struct wanted *w)
{
	if (t->gnu_hash)
		return find_by_gnu_hash(t, w);
	return t->hash ? find_by_hash(t, w) : 0;
}

uint64_t inject_tables_find(const struct inject_tables *t, const char *name)
{
	return find(t, &(struct wanted){ .name = name });
}

uint64_t inject_tables_find_symbol(const struct inject_tables *t, const char *name,
				   struct inject_symbol *ret)
{
	struct wanted w = { .name = name };
	uint64_t found = find(t, &w);

	*ret = w.symbol;
	return found;
}

uint64_t inject_tables_find_older(const struct inject_tables *t, const char *name,
				  uint64_t besides)
{
	return find(t, &(struct wanted){ .name = name, .besides = besides });
}

/* Most of what data points to is the object's own. */
static bool read_foreign(const struct inject_tables *t, uint32_t i,
			 char name[NAME_MAX_BYTES])
{
	Elf64_Sym s;

	return inject_memory_read(t->memory, symbol_at(t, i), &s, sizeof(s)) &&
	       s.st_shndx == SHN_UNDEF && read_name(t, &s, name);
}

static bool slots_of(const struct inject_tables *t, const struct inject_relocations *r,
		     inject_slot_fn *fn, void *ctx)
{
	own(freep) Elf64_Rela *all = NULL;
	size_t n = r->bytes / sizeof(*all);

	if (r->bytes > RELOCATIONS_MAX)
		return false;
	if (!n)
		return true;
	all = xcalloc(n, sizeof(*all));
	if (!inject_memory_read(t->memory, r->at, all, n * sizeof(*all)))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t symbol = ELF64_R_SYM(all[i].r_info);
		char name[NAME_MAX_BYTES];
		Elf64_Sym s;

		if (!symbol)
			continue;
		if (IS_SLOT(ELF64_R_TYPE(all[i].r_info)) &&
		    read_symbol(t, symbol, &s, name))
			fn(ctx, t->bias + all[i].r_offset, name,
			   r == &t->plt ? i : INJECT_TABLES_AT_ONCE, symbol);
		if (IS_DATA(ELF64_R_TYPE(all[i].r_info)) && !all[i].r_addend &&
		    read_foreign(t, symbol, name))
			fn(ctx, t->bias + all[i].r_offset, name, INJECT_TABLES_DATA,
			   symbol);
	}
	return true;
}

bool inject_tables_slots(const struct inject_tables *t, inject_slot_fn *fn, void *ctx)
{
	return slots_of(t, &t->plt, fn, ctx) && slots_of(t, &t->others, fn, ctx);
}

/* Of the versions that are needed of one library, which begin at aux: the hash of that of
 * this number, or 0. */
static uint32_t version_hash(const struct inject_tables *t, uint64_t aux, uint16_t number)
{
	Elf64_Vernaux a = { .vna_next = 0 };

	for (unsigned n = 0; n < VERSIONS_MAX; n++, aux += a.vna_next) {
		if (!inject_memory_read(t->memory, aux, &a, sizeof(a)))
			return 0;
		if ((a.vna_other & ~VERSION_HIDDEN) == number)
			return a.vna_hash;
		if (!a.vna_next)
			return 0;
	}
	return 0;
}

bool inject_tables_means_newer(const struct inject_tables *t, uint32_t symbol)
{
	Elf64_Verneed v = { .vn_next = 0 };
	uint64_t at = t->needed;
	uint16_t number;
	uint32_t hash = 0;

	if (!t->versions || !t->needed ||
	    !inject_memory_read(t->memory, t->versions + symbol * sizeof(number), &number,
				sizeof(number)))
		return false;
	number &= (uint16_t)~VERSION_HIDDEN;
	for (unsigned n = 0; n < VERSIONS_MAX && !hash; n++, at += v.vn_next) {
		if (!inject_memory_read(t->memory, at, &v, sizeof(v)))
			return false;
		hash = version_hash(t, at + v.vn_aux, number);
		if (!v.vn_next)
			break;
	}
	return hash && hash != VERSION_FIRST;
}
