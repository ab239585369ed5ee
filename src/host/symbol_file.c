/* SPDX-License-Identifier: Apache-2.0 */
#include "host/symbol_file.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define SECTIONS_MAX 65536
#define SEGMENTS_MAX 1024
#define NAMES_MAX    (1u << 20)
#define NOTE_MAX     4096
#define PART_BYTES   (64u << 10)
#define ALIGN	     8

struct symbol_file {
	int from, to;
	uint64_t at; /* bytes written */
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	size_t n_sections, names_at, names_size;
	char *names; /* terminated; NULL: sections have none */
	bool has_symbols;
};

static void fini(struct symbol_file *f)
{
	free(f->segments);
	free(f->sections);
	free(f->names);
}

static int read_at(const struct symbol_file *f, void *data, size_t size, uint64_t offset,
		   struct err *e)
{
	char *to = data;

	while (size) {
		ssize_t n = pread(f->from, to, size, (off_t)offset);

		if (n < 0)
			return err_os(e, "cannot read");
		if (n == 0)
			return err_set(e, ERR_FORMAT, "the ELF file is cut");
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int put(struct symbol_file *f, const void *data, size_t size, struct err *e)
{
	const char *from = data;

	while (size) {
		ssize_t n = write(f->to, from, size);

		if (n < 0)
			return err_os(e, "cannot write");
		from += n;
		f->at += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int read_header(struct symbol_file *f, struct err *e)
{
	Elf64_Ehdr *h = &f->header;
	int rc = read_at(f, h, sizeof(*h), 0, e);

	if (rc < 0)
		return rc;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_FORMAT, "not an ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_UNSUPPORTED, "not a 64-bit little-endian ELF file");
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > SEGMENTS_MAX ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shoff)
		return err_set(e, ERR_FORMAT, "an ELF file without sections");
	return 0;
}

/* More than 0xff00 sections: the first has their numbers. */
static int read_sections(struct symbol_file *f, struct err *e)
{
	const Elf64_Ehdr *h = &f->header;
	Elf64_Shdr first;
	int rc = read_at(f, &first, sizeof(first), h->e_shoff, e);

	if (rc < 0)
		return rc;
	f->n_sections = h->e_shnum ? h->e_shnum : first.sh_size;
	if (f->n_sections > SECTIONS_MAX)
		return err_set(e, ERR_FORMAT, "an ELF file with too many sections");
	f->sections = xcalloc(f->n_sections + 1, sizeof(*f->sections));
	return read_at(f, f->sections, f->n_sections * sizeof(*f->sections), h->e_shoff,
		       e);
}

static int read_names(struct symbol_file *f, struct err *e)
{
	size_t at = f->header.e_shstrndx == SHN_XINDEX && f->n_sections
			    ? f->sections[0].sh_link
			    : f->header.e_shstrndx;

	f->names_at = at;
	if (at >= f->n_sections || f->sections[at].sh_size > NAMES_MAX)
		return err_set(e, ERR_FORMAT, "an ELF file without names of sections");
	f->names_size = (size_t)f->sections[at].sh_size;
	f->names = xcalloc(f->names_size + 1, 1);
	return read_at(f, f->names, f->names_size, f->sections[at].sh_offset, e);
}

static int read_headers(struct symbol_file *f, struct err *e)
{
	int rc = read_header(f, e);
	size_t n = f->header.e_phnum;

	if (rc == 0) {
		f->segments = xcalloc(n + 1, sizeof(*f->segments));
		rc = read_at(f, f->segments, n * sizeof(*f->segments), f->header.e_phoff,
			     e);
	}
	if (rc == 0)
		rc = read_sections(f, e);
	if (rc == 0)
		rc = read_names(f, e);
	for (size_t i = 0; rc == 0 && i < f->n_sections; i++)
		f->has_symbols |= f->sections[i].sh_type == SHT_SYMTAB;
	return rc;
}

static bool is_called(const struct symbol_file *f, const Elf64_Shdr *s, const char *name)
{
	return s->sh_name < f->names_size && strcmp(f->names + s->sh_name, name) == 0;
}

static bool is_kept(const struct symbol_file *f, const Elf64_Shdr *s)
{
	if (s == &f->sections[f->names_at])
		return true;
	switch (s->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
		return true;
	case SHT_NOTE:
		return s->sh_size <= NOTE_MAX;
	case SHT_PROGBITS:
	case SHT_X86_64_UNWIND:
		return is_called(f, s, ".gnu_debuglink") ||
		       is_called(f, s, ".gnu_debugdata") ||
		       (!f->has_symbols && is_called(f, s, ".eh_frame"));
	default:
		return false;
	}
}

static int align(struct symbol_file *f, struct err *e)
{
	static const char zeros[ALIGN];

	return put(f, zeros, -f->at % ALIGN, e);
}

static int copy(struct symbol_file *f, uint64_t offset, uint64_t size, struct err *e)
{
	own(freep) char *part = xcalloc(1, PART_BYTES);
	int rc = 0;

	while (size && rc == 0) {
		size_t n = size < PART_BYTES ? (size_t)size : PART_BYTES;

		rc = read_at(f, part, n, offset, e);
		if (rc == 0)
			rc = put(f, part, n, e);
		offset += n;
		size -= n;
	}
	return rc;
}

/* What is in memory keeps its place and size; the rest is no section any more.  The first
 * is none either, but may have numbers in it. */
static int put_section(struct symbol_file *f, Elf64_Shdr *s, struct err *e)
{
	uint64_t offset = s->sh_offset;
	int rc = align(f, e);

	if (rc < 0)
		return rc;
	if (is_kept(f, s)) {
		s->sh_offset = f->at;
		return copy(f, offset, s->sh_size, e);
	}
	s->sh_offset = 0;
	if (s->sh_flags & SHF_ALLOC)
		s->sh_type = SHT_NOBITS;
	else if (s != f->sections)
		*s = (Elf64_Shdr){ 0 };
	return 0;
}

static int put_all(struct symbol_file *f, struct err *e)
{
	size_t n_segments = f->header.e_phnum;
	int rc;

	f->header.e_phoff = sizeof(f->header);
	rc = put(f, &f->header, sizeof(f->header), e);
	if (rc == 0)
		rc = put(f, f->segments, n_segments * sizeof(*f->segments), e);
	for (size_t i = 0; rc == 0 && i < f->n_sections; i++)
		rc = put_section(f, &f->sections[i], e);
	if (rc == 0)
		rc = align(f, e);
	f->header.e_shoff = f->at;
	if (rc == 0)
		rc = put(f, f->sections, f->n_sections * sizeof(*f->sections), e);
	if (rc == 0 &&
	    pwrite(f->to, &f->header, sizeof(f->header), 0) != sizeof(f->header))
		rc = err_os(e, "cannot write");
	return rc;
}

/* Before anything is written: sections may be as large as they claim to be, and lie on
 * each other. */
static int check_size(const struct symbol_file *f, uint64_t max_bytes, struct err *e)
{
	uint64_t left = max_bytes;
	size_t headers = sizeof(f->header) + f->header.e_phnum * sizeof(*f->segments) +
			 (f->n_sections + 1) * (sizeof(*f->sections) + ALIGN);

	for (size_t i = 0; i < f->n_sections; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (!is_kept(f, s))
			continue;
		if (s->sh_size > left)
			return err_set(e, ERR_UNSUPPORTED, "too many symbols");
		left -= s->sh_size;
	}
	if (headers > left)
		return err_set(e, ERR_UNSUPPORTED, "too many sections");
	return 0;
}

int symbol_file_write(int from, int to, uint64_t max_bytes, struct err *e)
{
	own(fini) struct symbol_file f = { .from = from, .to = to };
	int rc = read_headers(&f, e);

	if (rc == 0)
		rc = check_size(&f, max_bytes, e);
	return rc < 0 ? rc : put_all(&f, e);
}
