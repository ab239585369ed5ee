/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_image.h"

#include <sys/stat.h>

#include "base/inflate.h"
#include "base/map.h"
#include "base/mem.h"
#include "unwind/code_bytes.h"
#include "unwind/fde_index.h"
#include "unwind/unwind_file.h"
#include "unwind/no_table.h"

#define MAX_LOADS      64
#define MIN_CACHE_ROWS 64
#define MAX_CACHE_ROWS 8192
#define MAX_TABLES     2 /* .eh_frame or that of .gnu_debugdata, .debug_frame */

struct load {
	uint64_t off, vaddr, file_size;
	bool is_writable;
};

struct cached_row {
	uint64_t vaddr; /* ~0 when empty */
	struct cfa_row row;
};

struct unwind_image {
	enum unwind_arch arch;
	struct load loads[MAX_LOADS];
	size_t n_loads;
	struct fde_index tables[MAX_TABLES];
	size_t n_tables;
	struct code_bytes code;
	void *hdr_bytes; /* owned */
	void *mini;	 /* owned: the file in .gnu_debugdata, or NULL */
	struct cached_row *cache;
	size_t n_cache, n_replaced;
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool rules_at(const struct fde_index *t, uint64_t vaddr,
		     struct unwind_image_rules *ret)
{
	ret->section = &t->section;
	return fde_index_find(t, vaddr, &ret->fde) &&
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

bool unwind_image_is_hole(const struct unwind_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const struct load *l = &image->loads[i];
		uint64_t start = l->vaddr, end = l->vaddr + l->file_size;

		if (vaddr - l->vaddr >= l->file_size)
			continue;
		for (size_t k = 0; k < image->n_tables; k++)
			fde_index_narrow_hole(&image->tables[k], vaddr, &start, &end);
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
	return fde_index_at(&image->tables[table], i, ret);
}

/* File offset of a vaddr and the bytes that follow in its segment. */
static const struct load *load_of(const struct unwind_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_loads; i++)
		if (vaddr - image->loads[i].vaddr < image->loads[i].file_size)
			return &image->loads[i];
	return NULL;
}

static bool find_load(const struct unwind_image *image, uint64_t vaddr, uint64_t *ret_off,
		      uint64_t *ret_left)
{
	const struct load *l = load_of(image, vaddr);

	if (!l)
		return false;
	*ret_off = vaddr - l->vaddr + l->off;
	*ret_left = l->file_size - (vaddr - l->vaddr);
	return true;
}

bool unwind_image_file_offset(const struct unwind_image *image, uint64_t vaddr,
			      uint64_t *ret)
{
	uint64_t left;

	return find_load(image, vaddr, ret, &left);
}

bool unwind_image_segment(const struct unwind_image *image, uint64_t vaddr,
			  uint64_t *ret_start, uint64_t *ret_end)
{
	const struct load *l = load_of(image, vaddr);

	if (!l)
		return false;
	*ret_start = l->vaddr;
	*ret_end = l->vaddr + l->file_size;
	return true;
}

unsigned unwind_image_bytes(struct unwind_image *image, uint64_t vaddr, uint8_t *to,
			    unsigned n)
{
	uint64_t off, left;

	if (!find_load(image, vaddr, &off, &left))
		return 0;
	return code_bytes_read(&image->code, off, to, n < left ? n : (unsigned)left);
}

bool unwind_image_code(struct unwind_image *image, uint64_t vaddr, uint64_t *ret)
{
	uint64_t word;

	if (unwind_image_bytes(image, vaddr, (uint8_t *)&word, sizeof(word)) !=
	    sizeof(word))
		return false;
	*ret = word;
	return true;
}

bool unwind_image_constant(struct unwind_image *image, uint64_t vaddr, uint64_t *ret)
{
	const struct load *l = load_of(image, vaddr);

	return l && !l->is_writable && unwind_image_code(image, vaddr, ret);
}

static void add_table(struct unwind_image *image, const struct fde_index *table)
{
	struct fde_index *t = &image->tables[image->n_tables];

	*t = *table;
	if (fde_index_prepare(t))
		image->n_tables++;
	else
		fde_index_fini(t);
}

/* .eh_frame as the running program finds it: by PT_GNU_EH_FRAME.  Its end is not
 * written anywhere, but a terminating record is, and the segment ends. */
static void add_by_header(struct unwind_image *image,
			  const struct unwind_file_source *src, const Elf64_Phdr *ph,
			  uint64_t eh_frame_size)
{
	struct fde_index t = { .section.arch = image->arch,
			       .section.data_addr = ph->p_vaddr };
	const uint8_t *hdr =
		unwind_file_bytes(src, ph->p_offset, ph->p_filesz, &image->hdr_bytes);
	uint64_t off, left;

	if (!hdr || !eh_hdr_parse(hdr, ph->p_filesz, ph->p_vaddr, &t.hdr) ||
	    !find_load(image, t.hdr.eh_frame, &off, &left))
		return;
	left = min_u64(left, off < src->size ? src->size - off : 0);
	if (eh_frame_size)
		left = min_u64(left, eh_frame_size);
	t.section.addr = t.hdr.eh_frame;
	t.section.size = left;
	t.section.bytes = unwind_file_bytes(src, off, left, &t.owned);
	if (t.section.bytes)
		add_table(image, &t);
}

static void add_section(struct unwind_image *image, const struct unwind_file_source *src,
			const Elf64_Shdr *sh, bool is_debug_frame)
{
	struct fde_index t = { .section = { .arch = image->arch,
					    .addr = sh->sh_addr,
					    .size = sh->sh_size,
					    .is_debug_frame = is_debug_frame } };

	if (sh->sh_type == SHT_NOBITS || image->n_tables == MAX_TABLES)
		return;
	if (sh->sh_flags & SHF_COMPRESSED)
		t.section.bytes =
			unwind_file_inflated(src, sh, &t.section.size, &t.owned);
	else
		t.section.bytes =
			unwind_file_bytes(src, sh->sh_offset, sh->sh_size, &t.owned);
	if (t.section.bytes)
		add_table(image, &t);
}

/* Executable segments first: they are what addresses are looked up in. */
static void read_loads(struct unwind_image *image, const struct unwind_file *f)
{
	for (int is_code = 1; is_code >= 0; is_code--)
		for (size_t i = 0; i < f->n_ph && image->n_loads < MAX_LOADS; i++)
			if (f->ph[i].p_type == PT_LOAD && f->ph[i].p_filesz &&
			    !!(f->ph[i].p_flags & PF_X) == is_code)
				image->loads[image->n_loads++] = (struct load){
					f->ph[i].p_offset, f->ph[i].p_vaddr,
					f->ph[i].p_filesz, f->ph[i].p_flags & PF_W
				};
}

/* .debug_frame of the small file that distributions pack into stripped ones.  Unpacking
 * takes its time and most of them hold only symbols: for those without another table. */
static void add_from_mini(struct unwind_image *image, const struct unwind_file *outer,
			  const struct unwind_file_source *outer_src)
{
	own(unwind_file_fini) struct unwind_file f = { 0 };
	struct unwind_file_source src = { .fd = -1, .name = outer_src->name };
	const Elf64_Shdr *sh = unwind_file_section(outer, ".gnu_debugdata");
	void *packed_owned = NULL;
	const uint8_t *packed = NULL;
	size_t size = 0;

	if (sh && sh->sh_type != SHT_NOBITS)
		packed = unwind_file_bytes(outer_src, sh->sh_offset, sh->sh_size,
					   &packed_owned);
	if (packed)
		image->mini = inflate_xz(packed, sh->sh_size, &size);
	free(packed_owned);
	if (!image->mini)
		return;
	src.bytes = image->mini;
	src.size = size;
	if (unwind_file_read(&f, &src, NULL) < 0)
		return;
	sh = unwind_file_section(&f, ".debug_frame");
	if (sh && f.eh.e_machine == outer->eh.e_machine)
		add_section(image, &src, sh, true);
}

static void read_tables(struct unwind_image *image, const struct unwind_file *f,
			const struct unwind_file_source *src)
{
	const Elf64_Shdr *eh_frame = unwind_file_section(f, ".eh_frame");
	const Elf64_Shdr *debug_frame = unwind_file_section(f, ".debug_frame");

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

static int image_new(const struct unwind_file_source *src, struct unwind_image **ret,
		     struct err *e)
{
	own(unwind_file_fini) struct unwind_file f = { 0 };
	int rc = unwind_file_read(&f, src, e);

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

	struct unwind_file_source src = { .fd = fd,
					  .size = (uint64_t)st.st_size,
					  .name = name };

	return image_new(&src, ret, e);
}

int unwind_image_over(const void *elf, size_t size, const char *name,
		      struct unwind_image **ret, struct err *e)
{
	struct unwind_file_source src = {
		.fd = -1, .bytes = elf, .size = size, .name = name
	};

	return image_new(&src, ret, e);
}

void unwind_image_free(struct unwind_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->n_tables; i++)
		fde_index_fini(&image->tables[i]);
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
