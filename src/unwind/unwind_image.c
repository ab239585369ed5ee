/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_image.h"

#include <elf.h>
#include <sys/stat.h>

#include "base/inflate.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/reader.h"
#include "unwind/code_bytes.h"
#include "unwind/eh_hdr.h"
#include "unwind/no_table.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* glibc 2.37 */
#endif

#define MAX_LOADS	64
#define MAX_SECTIONS	65536
#define MAX_TABLE_BYTES (1u << 30)
#define MIN_CACHE_ROWS	64
#define MAX_CACHE_ROWS	8192
#define MAX_TABLES	2 /* .eh_frame or that of .gnu_debugdata, .debug_frame */

struct load {
	uint64_t off, vaddr, file_size;
};

struct entry {
	uint64_t start;
	size_t off;
};

/* A section with its order by code address: the file's own or one made here. */
struct table {
	struct cfi_section section;
	struct eh_hdr hdr;
	struct entry *entries; /* NULL: hdr is good */
	size_t n;
	void *owned; /* the section's bytes, when they were read */
};

struct cached_row {
	uint64_t vaddr; /* ~0 when empty */
	struct cfa_row row;
};

struct unwind_image {
	enum unwind_arch arch;
	struct load loads[MAX_LOADS];
	size_t n_loads;
	struct table tables[MAX_TABLES];
	size_t n_tables;
	struct code_bytes code;
	void *hdr_bytes; /* owned */
	void *mini;	 /* owned: the file in .gnu_debugdata, or NULL */
	struct cached_row *cache;
	size_t n_cache, n_replaced;
};

/* Where the bytes of the file come from. */
struct source {
	int fd; /* -1: bytes */
	const uint8_t *bytes;
	uint64_t size;
	const char *name;
};

/* size bytes at off: in place for memory, else read into *ret_owned.  NULL when they
 * are not there. */
static const uint8_t *source_bytes(const struct source *src, uint64_t off, uint64_t size,
				   void **ret_owned)
{
	*ret_owned = NULL;
	if (off > src->size || size > src->size - off || !size || size > MAX_TABLE_BYTES)
		return NULL;
	if (src->fd < 0)
		return src->bytes + off;

	own(freep) uint8_t *p = xcalloc(1, size);

	for (uint64_t done = 0; done < size;) {
		ssize_t n = pread(src->fd, p + done, size - done, (off_t)(off + done));

		if (n <= 0)
			return NULL;
		done += (uint64_t)n;
	}
	*ret_owned = p;
	return steal(&p);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void table_fini(struct table *t)
{
	free(t->owned);
	free(t->entries);
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

static void index_section(struct table *t)
{
	enum cfi_record kind;
	struct cfi_fde fde;
	size_t at = 0, cap = 0;

	for (size_t off = 0; (kind = cfi_read(&t->section, off, &fde, &off)) != CFI_LAST;
	     at = off) {
		if (kind != CFI_FDE || fde.start == fde.end)
			continue;
		if (t->n == cap) {
			cap = cap ? cap * 2 : 256;
			t->entries = xrealloc(t->entries, cap, sizeof(*t->entries));
		}
		t->entries[t->n++] = (struct entry){ fde.start, at };
	}
	if (!t->entries)
		t->entries = xcalloc(1, sizeof(*t->entries));
	qsort(t->entries, t->n, sizeof(*t->entries), by_start);
}

static uint64_t entry_start(const struct table *t, size_t i)
{
	return t->entries ? t->entries[i].start : eh_hdr_start(&t->hdr, i);
}

static bool entry_fde(const struct table *t, size_t i, struct cfi_fde *ret)
{
	uint64_t off =
		t->entries ? t->entries[i].off : eh_hdr_fde(&t->hdr, i) - t->section.addr;
	size_t next;

	return off < t->section.size && cfi_read(&t->section, off, ret, &next) == CFI_FDE;
}

static bool entry_find(const struct table *t, uint64_t vaddr, size_t *ret)
{
	size_t lo = 0, hi = t->n;

	if (!t->entries)
		return eh_hdr_find(&t->hdr, vaddr, ret);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret = lo - 1;
	return lo != 0;
}

static bool table_find(const struct table *t, uint64_t vaddr, struct cfi_fde *ret)
{
	size_t i;

	return entry_find(t, vaddr, &i) && entry_fde(t, i, ret) && vaddr >= ret->start &&
	       vaddr < ret->end;
}

static bool rules_at(const struct table *t, uint64_t vaddr,
		     struct unwind_image_rules *ret)
{
	ret->section = &t->section;
	return table_find(t, vaddr, &ret->fde) &&
	       cfa_program_at(&t->section, &ret->fde, vaddr, &ret->rules);
}

bool unwind_image_find(const struct unwind_image *image, uint64_t vaddr,
		       struct unwind_image_rules *ret)
{
	for (size_t i = 0; i < image->n_tables; i++)
		if (rules_at(&image->tables[i], vaddr, ret))
			return true;
	return false;
}

/* The part of a hole around vaddr that a table leaves. */
static void narrow_hole(const struct table *t, uint64_t vaddr, uint64_t *start,
			uint64_t *end)
{
	struct cfi_fde before;
	size_t i, next = 0;

	if (entry_find(t, vaddr, &i)) {
		next = i + 1;
		if (entry_fde(t, i, &before) && before.end <= vaddr)
			*start = max_u64(*start, before.end);
	}
	if (next < t->n)
		*end = min_u64(*end, entry_start(t, next));
}

bool unwind_image_is_hole(const struct unwind_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const struct load *l = &image->loads[i];
		uint64_t start = l->vaddr, end = l->vaddr + l->file_size;

		if (vaddr - l->vaddr >= l->file_size)
			continue;
		for (size_t k = 0; k < image->n_tables; k++)
			narrow_hole(&image->tables[k], vaddr, &start, &end);
		return no_table_is_hole(start, end);
	}
	return false;
}

static struct cached_row *cache_slot(struct unwind_image *image, uint64_t vaddr)
{
	return &image->cache[hash_u64(vaddr) & (image->n_cache - 1)];
}

static void cache_resize(struct unwind_image *image, size_t n)
{
	free(image->cache);
	image->cache = xcalloc(n, sizeof(*image->cache));
	image->n_cache = n;
	image->n_replaced = 0;
	for (size_t i = 0; i < n; i++)
		image->cache[i].vaddr = UINT64_MAX;
}

/* A cache that lost as many rows as it holds is too small. */
static struct cached_row *cache_replace(struct unwind_image *image,
					struct cached_row *slot, uint64_t vaddr)
{
	if (slot->vaddr != UINT64_MAX)
		image->n_replaced++;
	if (image->n_replaced <= image->n_cache || image->n_cache == MAX_CACHE_ROWS)
		return slot;
	cache_resize(image, image->n_cache * 2);
	return cache_slot(image, vaddr);
}

const struct cfa_row *unwind_image_row(struct unwind_image *image, uint64_t vaddr)
{
	struct cached_row *slot = cache_slot(image, vaddr);
	struct unwind_image_rules found;

	if (slot->vaddr == vaddr)
		return &slot->row;
	slot = cache_replace(image, slot, vaddr);
	slot->vaddr = vaddr;
	slot->row = unwind_image_find(image, vaddr, &found)
			    ? cfa_row_from(found.section, &found.fde, &found.rules)
			    : (struct cfa_row){ .kind = CFA_ROW_NONE };
	return &slot->row;
}

bool unwind_image_vaddr(const struct unwind_image *image, const struct unwind_map *map,
			uint64_t pc, uint64_t *ret)
{
	uint64_t off = pc - map->start + map->file_offset;

	for (size_t i = 0; i < image->n_loads; i++) {
		const struct load *l = &image->loads[i];

		if (off - l->off >= l->file_size)
			continue;
		*ret = off - l->off + l->vaddr;
		return true;
	}
	return false;
}

enum unwind_arch unwind_image_arch(const struct unwind_image *image)
{
	return image->arch;
}

bool unwind_image_has_table(const struct unwind_image *image)
{
	return image->n_tables != 0;
}

size_t unwind_image_n_tables(const struct unwind_image *image)
{
	return image->n_tables;
}

size_t unwind_image_n_fdes(const struct unwind_image *image, size_t table)
{
	return image->tables[table].n;
}

const struct cfi_section *unwind_image_section(const struct unwind_image *image,
					       size_t table)
{
	return &image->tables[table].section;
}

bool unwind_image_fde(const struct unwind_image *image, size_t table, size_t i,
		      struct unwind_image_fde *ret)
{
	const struct table *t = &image->tables[table];

	if (!entry_fde(t, i, &ret->fde))
		return false;
	ret->start = max_u64(ret->fde.start, entry_start(t, i));
	ret->end = ret->fde.end;
	if (i + 1 < t->n)
		ret->end = min_u64(ret->end, entry_start(t, i + 1));
	return ret->start < ret->end;
}

/* File offset of a vaddr and the bytes that follow in its segment. */
static bool find_load(const struct unwind_image *image, uint64_t vaddr, uint64_t *ret_off,
		      uint64_t *ret_left)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const struct load *l = &image->loads[i];

		if (vaddr - l->vaddr >= l->file_size)
			continue;
		*ret_off = vaddr - l->vaddr + l->off;
		*ret_left = l->file_size - (vaddr - l->vaddr);
		return true;
	}
	return false;
}

bool unwind_image_file_offset(const struct unwind_image *image, uint64_t vaddr,
			      uint64_t *ret)
{
	uint64_t left;

	return find_load(image, vaddr, ret, &left);
}

bool unwind_image_code(struct unwind_image *image, uint64_t vaddr, uint64_t *ret)
{
	uint64_t off, left;

	return find_load(image, vaddr, &off, &left) && left >= 8 &&
	       code_bytes_word(&image->code, off, ret);
}

static bool add_table(struct unwind_image *image, const struct table *table)
{
	struct table *t = &image->tables[image->n_tables];

	*t = *table;
	if (t->hdr.entries && eh_hdr_is_sorted(&t->hdr))
		t->n = t->hdr.n_entries;
	else
		index_section(t);
	if (t->n)
		image->n_tables++;
	else
		table_fini(t);
	return t->n != 0;
}

/* .eh_frame as the running program finds it: by PT_GNU_EH_FRAME.  Its end is not
 * written anywhere, but a terminating record is, and the segment ends. */
static void add_by_header(struct unwind_image *image, const struct source *src,
			  const Elf64_Phdr *ph, uint64_t eh_frame_size)
{
	struct table t = { .section.arch = image->arch,
			   .section.data_addr = ph->p_vaddr };
	const uint8_t *hdr =
		source_bytes(src, ph->p_offset, ph->p_filesz, &image->hdr_bytes);
	uint64_t off, left;

	if (!hdr || !eh_hdr_parse(hdr, ph->p_filesz, ph->p_vaddr, &t.hdr) ||
	    !find_load(image, t.hdr.eh_frame, &off, &left))
		return;
	left = min_u64(left, off < src->size ? src->size - off : 0);
	if (eh_frame_size)
		left = min_u64(left, eh_frame_size);
	t.section.addr = t.hdr.eh_frame;
	t.section.size = left;
	t.section.bytes = source_bytes(src, off, left, &t.owned);
	if (t.section.bytes)
		add_table(image, &t);
}

static const uint8_t *inflated(const struct source *src, const Elf64_Shdr *sh,
			       uint64_t *ret_size, void **ret_owned)
{
	void *packed_owned;
	const uint8_t *packed =
		source_bytes(src, sh->sh_offset, sh->sh_size, &packed_owned);
	own(freep) void *to_free = packed_owned;
	Elf64_Chdr ch;

	if (!packed || sh->sh_size <= sizeof(ch))
		return NULL;
	memcpy(&ch, packed, sizeof(ch));
	if (ch.ch_size > MAX_TABLE_BYTES ||
	    (ch.ch_type != ELFCOMPRESS_ZLIB && ch.ch_type != ELFCOMPRESS_ZSTD))
		return NULL;
	*ret_size = ch.ch_size;
	*ret_owned =
		inflate_new(ch.ch_type == ELFCOMPRESS_ZLIB ? INFLATE_ZLIB : INFLATE_ZSTD,
			    packed + sizeof(ch), sh->sh_size - sizeof(ch), ch.ch_size);
	return *ret_owned;
}

static void add_section(struct unwind_image *image, const struct source *src,
			const Elf64_Shdr *sh, bool is_debug_frame)
{
	struct table t = { .section = { .arch = image->arch,
					.addr = sh->sh_addr,
					.size = sh->sh_size,
					.is_debug_frame = is_debug_frame } };

	if (sh->sh_type == SHT_NOBITS || image->n_tables == MAX_TABLES)
		return;
	if (sh->sh_flags & SHF_COMPRESSED)
		t.section.bytes = inflated(src, sh, &t.section.size, &t.owned);
	else
		t.section.bytes = source_bytes(src, sh->sh_offset, sh->sh_size, &t.owned);
	if (t.section.bytes)
		add_table(image, &t);
}

struct elf_file {
	Elf64_Ehdr eh;
	const Elf64_Phdr *ph;
	const Elf64_Shdr *sh; /* NULL without */
	const char *names;
	size_t n_ph, n_sh, names_size;
	void *owned[3];
};

static void elf_file_fini(struct elf_file *f)
{
	for (size_t i = 0; i < 3; i++)
		free(f->owned[i]);
}

static const uint8_t *aligned(const uint8_t *p, size_t size, void **owned)
{
	if (!p || *owned || (uintptr_t)p % 8 == 0)
		return p;
	*owned = xmemdup(p, size);
	return *owned;
}

static void read_sections(struct elf_file *f, const struct source *src)
{
	size_t size = f->eh.e_shnum * sizeof(Elf64_Shdr);
	const uint8_t *p = NULL;

	if (f->eh.e_shentsize == sizeof(Elf64_Shdr))
		p = aligned(source_bytes(src, f->eh.e_shoff, size, &f->owned[1]), size,
			    &f->owned[1]);
	if (!p || f->eh.e_shstrndx >= f->eh.e_shnum)
		return;

	const Elf64_Shdr *sh = (const Elf64_Shdr *)(const void *)p;
	const Elf64_Shdr *strings = &sh[f->eh.e_shstrndx];

	f->names = (const char *)source_bytes(src, strings->sh_offset, strings->sh_size,
					      &f->owned[2]);
	if (!f->names)
		return;
	f->names_size = strings->sh_size;
	f->sh = sh;
	f->n_sh = f->eh.e_shnum;
}

static int read_elf(struct elf_file *f, const struct source *src, struct err *e)
{
	void *owned;
	const uint8_t *p = source_bytes(src, 0, sizeof(f->eh), &owned);
	own(freep) void *header = owned;

	if (!p || memcmp(p, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_FORMAT, "'%s' is not an ELF file", src->name);
	memcpy(&f->eh, p, sizeof(f->eh));
	if (f->eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    f->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (f->eh.e_machine != EM_X86_64 && f->eh.e_machine != EM_AARCH64))
		return err_set(e, ERR_UNSUPPORTED, "'%s' is for another machine",
			       src->name);

	size_t size = f->eh.e_phnum * sizeof(Elf64_Phdr);

	if (f->eh.e_phentsize != sizeof(Elf64_Phdr))
		return err_set(e, ERR_FORMAT, "'%s' has no program headers", src->name);
	p = aligned(source_bytes(src, f->eh.e_phoff, size, &f->owned[0]), size,
		    &f->owned[0]);
	if (!p)
		return err_set(e, ERR_FORMAT, "'%s' is cut in its program headers",
			       src->name);
	f->ph = (const Elf64_Phdr *)(const void *)p;
	f->n_ph = f->eh.e_phnum;
	read_sections(f, src);
	return 0;
}

static bool has_name(const struct elf_file *f, const Elf64_Shdr *sh, const char *name)
{
	size_t size = strlen(name) + 1;

	return sh->sh_name < f->names_size && f->names_size - sh->sh_name >= size &&
	       memcmp(f->names + sh->sh_name, name, size) == 0;
}

static const Elf64_Shdr *find_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_sh; i++)
		if (has_name(f, &f->sh[i], name))
			return &f->sh[i];
	return NULL;
}

/* Executable segments first: they are what addresses are looked up in. */
static void read_loads(struct unwind_image *image, const struct elf_file *f)
{
	for (int is_code = 1; is_code >= 0; is_code--)
		for (size_t i = 0; i < f->n_ph && image->n_loads < MAX_LOADS; i++)
			if (f->ph[i].p_type == PT_LOAD && f->ph[i].p_filesz &&
			    !!(f->ph[i].p_flags & PF_X) == is_code)
				image->loads[image->n_loads++] =
					(struct load){ f->ph[i].p_offset,
						       f->ph[i].p_vaddr,
						       f->ph[i].p_filesz };
}

/* .debug_frame of the small file that distributions pack into stripped ones.  Unpacking
 * takes its time and most of them hold only symbols: for those without another table. */
static void add_from_mini(struct unwind_image *image, const struct elf_file *outer,
			  const struct source *outer_src)
{
	own(elf_file_fini) struct elf_file f = { 0 };
	struct source src = { .fd = -1, .name = outer_src->name };
	const Elf64_Shdr *sh = find_section(outer, ".gnu_debugdata");
	void *packed_owned = NULL;
	const uint8_t *packed = NULL;
	size_t size = 0;

	if (sh && sh->sh_type != SHT_NOBITS)
		packed = source_bytes(outer_src, sh->sh_offset, sh->sh_size,
				      &packed_owned);
	if (packed)
		image->mini = inflate_xz(packed, sh->sh_size, &size);
	free(packed_owned);
	if (!image->mini)
		return;
	src.bytes = image->mini;
	src.size = size;
	if (read_elf(&f, &src, NULL) < 0)
		return;
	sh = find_section(&f, ".debug_frame");
	if (sh && f.eh.e_machine == outer->eh.e_machine)
		add_section(image, &src, sh, true);
}

static void read_tables(struct unwind_image *image, const struct elf_file *f,
			const struct source *src)
{
	const Elf64_Shdr *eh_frame = find_section(f, ".eh_frame");
	const Elf64_Shdr *debug_frame = find_section(f, ".debug_frame");

	for (size_t i = 0; i < f->n_ph && !image->n_tables; i++)
		if (f->ph[i].p_type == PT_GNU_EH_FRAME)
			add_by_header(image, src, &f->ph[i],
				      eh_frame ? eh_frame->sh_size : 0);
	if (!image->n_tables && eh_frame)
		add_section(image, src, eh_frame, false);
	if (debug_frame)
		add_section(image, src, debug_frame, true);
	if (!image->n_tables)
		add_from_mini(image, f, src);
}

static int image_new(const struct source *src, struct unwind_image **ret, struct err *e)
{
	own(elf_file_fini) struct elf_file f = { 0 };
	int rc = read_elf(&f, src, e);

	if (rc < 0)
		return rc;

	struct unwind_image *image = xcalloc(1, sizeof(*image));

	image->arch = f.eh.e_machine == EM_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64;
	cache_resize(image, MIN_CACHE_ROWS);
	read_loads(image, &f);
	read_tables(image, &f, src);
	code_bytes_init(&image->code, src->fd, src->bytes, src->size);
	*ret = image;
	return 0;
}

int unwind_image_open(int fd, const char *name, struct unwind_image **ret, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_os(e, "cannot stat '%s'", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_UNSUPPORTED, "'%s' is not a regular file", name);

	struct source src = { .fd = fd, .size = (uint64_t)st.st_size, .name = name };

	return image_new(&src, ret, e);
}

int unwind_image_over(const void *elf, size_t size, const char *name,
		      struct unwind_image **ret, struct err *e)
{
	struct source src = { .fd = -1, .bytes = elf, .size = size, .name = name };

	return image_new(&src, ret, e);
}

void unwind_image_free(struct unwind_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->n_tables; i++)
		table_fini(&image->tables[i]);
	code_bytes_fini(&image->code);
	free(image->hdr_bytes);
	free(image->mini);
	free(image->cache);
	free(image);
}

void unwind_image_freep(struct unwind_image **image)
{
	unwind_image_free(*image);
}
