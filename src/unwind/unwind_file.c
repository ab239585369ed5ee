/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/inflate.h"
#include "base/mem.h"
#include "base/own.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* glibc 2.37 */
#endif

#define MAX_BYTES (1u << 30)

const uint8_t *unwind_file_bytes(const struct unwind_file_source *src, uint64_t off,
				 uint64_t size, void **ret_owned)
{
	*ret_owned = NULL;
	if (off > src->size || size > src->size - off || !size || size > MAX_BYTES)
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

const uint8_t *unwind_file_inflated(const struct unwind_file_source *src,
				    const Elf64_Shdr *sh, uint64_t *ret_size,
				    void **ret_owned)
{
	void *packed_owned;
	const uint8_t *packed =
		unwind_file_bytes(src, sh->sh_offset, sh->sh_size, &packed_owned);
	own(freep) void *to_free = packed_owned;
	Elf64_Chdr ch;

	if (!packed || sh->sh_size <= sizeof(ch))
		return NULL;
	memcpy(&ch, packed, sizeof(ch));
	if (ch.ch_size > MAX_BYTES ||
	    (ch.ch_type != ELFCOMPRESS_ZLIB && ch.ch_type != ELFCOMPRESS_ZSTD))
		return NULL;
	*ret_size = ch.ch_size;
	*ret_owned =
		inflate_new(ch.ch_type == ELFCOMPRESS_ZLIB ? INFLATE_ZLIB : INFLATE_ZSTD,
			    packed + sizeof(ch), sh->sh_size - sizeof(ch), ch.ch_size);
	return *ret_owned;
}

void unwind_file_fini(struct unwind_file *f)
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

static void read_sections(struct unwind_file *f, const struct unwind_file_source *src)
{
	size_t size = f->eh.e_shnum * sizeof(Elf64_Shdr);
	const uint8_t *p = NULL;

	if (f->eh.e_shentsize == sizeof(Elf64_Shdr))
		p = aligned(unwind_file_bytes(src, f->eh.e_shoff, size, &f->owned[1]),
			    size, &f->owned[1]);
	if (!p || f->eh.e_shstrndx >= f->eh.e_shnum)
		return;

	const Elf64_Shdr *sh = (const Elf64_Shdr *)(const void *)p;
	const Elf64_Shdr *strings = &sh[f->eh.e_shstrndx];

	f->names = (const char *)unwind_file_bytes(src, strings->sh_offset,
						   strings->sh_size, &f->owned[2]);
	if (!f->names)
		return;
	f->names_size = strings->sh_size;
	f->sh = sh;
	f->n_sh = f->eh.e_shnum;
}

int unwind_file_read(struct unwind_file *f, const struct unwind_file_source *src,
		     struct err *e)
{
	void *owned;
	const uint8_t *p = unwind_file_bytes(src, 0, sizeof(f->eh), &owned);
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
	p = aligned(unwind_file_bytes(src, f->eh.e_phoff, size, &f->owned[0]), size,
		    &f->owned[0]);
	if (!p)
		return err_set(e, ERR_FORMAT, "'%s' is cut in its program headers",
			       src->name);
	f->ph = (const Elf64_Phdr *)(const void *)p;
	f->n_ph = f->eh.e_phnum;
	read_sections(f, src);
	return 0;
}

static bool has_name(const struct unwind_file *f, const Elf64_Shdr *sh, const char *name)
{
	size_t size = strlen(name) + 1;

	return sh->sh_name < f->names_size && f->names_size - sh->sh_name >= size &&
	       memcmp(f->names + sh->sh_name, name, size) == 0;
}

const Elf64_Shdr *unwind_file_section(const struct unwind_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_sh; i++)
		if (has_name(f, &f->sh[i], name))
			return &f->sh[i];
	return NULL;
}
