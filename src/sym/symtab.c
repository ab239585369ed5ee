/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "base/search.h"
#include "base/vec.h"

/* How far back an enclosing symbol is looked for. */
#define NESTING_MAX 64

struct range {
	uint64_t start, end;
};

struct symtab {
	VEC(struct symtab_symbol) symbols;
	VEC(struct range) ranges;
	uint64_t *max_end; /* [i]: the largest end of symbols 0..i */
	size_t n_finished; /* those that can be found; later ones are not sorted in */
};

struct symtab *symtab_new(void)
{
	return xcalloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	vec_fini(&t->symbols);
	vec_fini(&t->ranges);
	free(t->max_end);
	free(t);
}

void symtab_freep(struct symtab **t)
{
	symtab_free(*t);
}

void symtab_add_range(struct symtab *t, uint64_t start, uint64_t size)
{
	if (size && size <= UINT64_MAX - start)
		*vec_push(&t->ranges) = (struct range){ start, start + size };
}

void symtab_add_ranges(struct symtab *t, const struct object *o)
{
	for (size_t i = 0; i < object_n_sections(o); i++) {
		const struct object_section *s = object_section(o, i);

		if (object_section_is_code(s))
			symtab_add_range(t, s->address, s->size);
	}
	for (size_t i = 0; !t->ranges.n && i < object_n_segments(o); i++) {
		const struct object_segment *s = object_segment(o, i);

		if (s->is_load && s->is_executable)
			symtab_add_range(t, s->address, s->memory_size);
	}
}

static const struct range *range_of(const struct symtab *t, uint64_t address)
{
	for (size_t i = 0; i < t->ranges.n; i++)
		if (address >= t->ranges.at[i].start && address < t->ranges.at[i].end)
			return &t->ranges.at[i];
	return NULL;
}

/* Itanium and Rust names all begin with one, which says nothing. */
static unsigned leading_underscores(const char *name)
{
	unsigned n = 0;

	if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
		return 0;
	while (n < 4 && name[n] == '_')
		n++;
	return n;
}

/* Public, typed names without leading underscores read best, and of them those that a
 * program can still be linked with.  That one is weak says least: what a C library has a
 * name of its own for, as _IO_puts, it offers weakly, as puts. */
static uint8_t rank_of(unsigned bind, unsigned type, bool is_old, const char *name)
{
	unsigned rank = 1;

	rank += type != STT_NOTYPE ? 128 : 0;
	rank += bind != STB_LOCAL ? 64 : 0;
	rank += is_old ? 0 : 32;
	rank += 4 * (4 - leading_underscores(name));
	rank += bind != STB_WEAK ? 2 : 0;
	return (uint8_t)rank;
}

/* Local labels and the marks that tell code from data on arm. */
static bool is_label(const char *name)
{
	return !*name || *name == '$' || strncmp(name, ".L", 2) == 0;
}

struct raw_symbol {
	uint64_t value, size;
	uint32_t name;
	unsigned bind, type, section;
	bool is_old; /* there for what was linked long ago: no program gets it any more */
};

#define VERSION_HIDDEN 0x8000 /* of an entry of .gnu.version */

/* "cfree@GLIBC_2.2.5": so a linker writes it into .symtab, and a default version with
 * two. */
static bool is_old_by_name(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at[1] != '@';
}

static struct raw_symbol read_symbol(struct reader *r, bool is_64)
{
	struct raw_symbol s = { .name = reader_u32le(r) };
	unsigned info;

	if (!is_64) {
		s.value = reader_u32le(r);
		s.size = reader_u32le(r);
	}
	info = reader_u8(r);
	reader_u8(r);
	s.section = reader_u16le(r);
	if (is_64) {
		s.value = reader_u64le(r);
		s.size = reader_u64le(r);
	}
	s.bind = ELF64_ST_BIND(info);
	s.type = ELF64_ST_TYPE(info);
	return s;
}

static bool is_function(const struct symtab *t, const struct raw_symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC ||
		s->type == STT_NOTYPE) &&
	       range_of(t, s->value);
}

static bool is_variable(unused const struct symtab *t, const struct raw_symbol *s)
{
	return s->type == STT_OBJECT && s->size;
}

typedef bool wanted_fn(const struct symtab *t, const struct raw_symbol *s);

static void take_symbol(struct symtab *t, const struct raw_symbol *s,
			struct object_bytes names, wanted_fn *is_wanted)
{
	const char *name = (const char *)names.data + s->name;

	if (s->section == SHN_UNDEF || s->section == SHN_ABS || s->name >= names.size ||
	    !memchr(name, 0, names.size - s->name) || is_label(name))
		return;
	if (!is_wanted(t, s) || s->size > UINT64_MAX - s->value)
		return;
	*vec_push(&t->symbols) = (struct symtab_symbol){
		.address = s->value,
		.end = s->value + s->size,
		.name = name,
		.rank = rank_of(s->bind, s->type, s->is_old || is_old_by_name(name),
				name),
		.is_open = !s->size,
	};
}

/* An entry for each of .dynsym's; nothing of other sections. */
static struct reader versions_of(struct object *o, const char *section)
{
	struct object_bytes none = { 0 };
	struct object_bytes b =
		strcmp(section, ".dynsym") == 0 ? object_named(o, ".gnu.version") : none;

	return reader_over(b.data, b.size);
}

static size_t add_section(struct symtab *t, struct object *o, const char *section,
			  wanted_fn *is_wanted)
{
	const struct object_section *s = object_find(o, section);
	struct object_bytes symbols = object_contents(o, s);
	struct object_bytes names =
		object_contents(o, s ? object_section(o, s->link) : NULL);
	struct reader r = reader_over(symbols.data, symbols.size);
	struct reader versions = versions_of(o, section);
	size_t each = object_is_64(o) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t before = t->symbols.n;

	while (names.size && reader_left(&r) >= each) {
		struct raw_symbol raw = read_symbol(&r, object_is_64(o));

		raw.is_old = reader_left(&versions) >= sizeof(uint16_t) &&
			     reader_u16le(&versions) & VERSION_HIDDEN;
		take_symbol(t, &raw, names, is_wanted);
	}
	return t->symbols.n - before;
}

size_t symtab_add_section(struct symtab *t, struct object *o, const char *section)
{
	return add_section(t, o, section, is_function);
}

size_t symtab_add_variables(struct symtab *t, struct object *o, const char *section)
{
	return add_section(t, o, section, is_variable);
}

static void add(struct symtab *t, uint64_t address, uint64_t size, const char *name,
		uint8_t rank)
{
	if (size <= UINT64_MAX - address)
		*vec_push(&t->symbols) = (struct symtab_symbol){ address, address + size,
								 name, rank, !size };
}

void symtab_add(struct symtab *t, uint64_t address, uint64_t size, bool is_global,
		const char *name)
{
	unsigned bind = is_global ? STB_GLOBAL : STB_LOCAL;

	add(t, address, size, name, rank_of(bind, STT_FUNC, false, name));
}

void symtab_add_weak(struct symtab *t, uint64_t address, uint64_t size, const char *name)
{
	add(t, address, size, name, 0);
}

/* By address, and the best name of each address first. */
static int compare(const void *a, const void *b)
{
	const struct symtab_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->is_open != y->is_open)
		return x->is_open ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* One symbol per address: the first, with a size if any of them has one. */
static void drop_aliases(struct symtab *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->symbols.n; i++) {
		struct symtab_symbol *s = &t->symbols.at[i];
		struct symtab_symbol *kept = n ? &t->symbols.at[n - 1] : NULL;

		if (!kept || kept->address != s->address) {
			t->symbols.at[n++] = *s;
		} else if (kept->is_open && !s->is_open) {
			kept->end = s->end;
			kept->is_open = false;
		}
	}
	t->symbols.n = n;
}

static void close_open(struct symtab *t)
{
	for (size_t i = 0; i < t->symbols.n; i++) {
		struct symtab_symbol *s = &t->symbols.at[i];
		const struct range *range = s->is_open ? range_of(t, s->address) : NULL;

		if (!s->is_open)
			continue;
		s->end = range ? range->end : s->address + (s->address < UINT64_MAX);
		if (i + 1 < t->symbols.n && s[1].address < s->end)
			s->end = s[1].address;
	}
}

void symtab_finish(struct symtab *t)
{
	uint64_t max = 0;

	if (t->symbols.n)
		qsort(t->symbols.at, t->symbols.n, sizeof(*t->symbols.at), compare);
	drop_aliases(t);
	close_open(t);
	free(t->max_end);
	t->max_end = xcalloc(t->symbols.n + 1, sizeof(*t->max_end));
	t->n_finished = t->symbols.n;
	for (size_t i = 0; i < t->symbols.n; i++) {
		if (t->symbols.at[i].end > max)
			max = t->symbols.at[i].end;
		t->max_end[i] = max;
	}
}

const struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t address)
{
	const struct symtab_symbol *open = NULL;
	size_t low = search_split(t->n_finished, i, t->symbols.at[i].address <= address);

	for (size_t n = 0; low-- > 0 && n < NESTING_MAX; n++) {
		const struct symtab_symbol *s = &t->symbols.at[low];

		if (t->max_end[low] <= address)
			break;
		if (address >= s->end)
			continue;
		if (!s->is_open)
			return s;
		if (!open)
			open = s;
	}
	return open;
}

size_t symtab_count(const struct symtab *t)
{
	return t->symbols.n;
}

const struct symtab_symbol *symtab_at(const struct symtab *t, size_t i)
{
	return &t->symbols.at[i];
}
