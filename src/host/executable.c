/* SPDX-License-Identifier: Apache-2.0 */
#include "host/executable.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/reader.h"
#include "host/note.h"

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "no machine number for this architecture"
#endif

#define HEADERS_MAX 4096 /* program headers are read up to there */
#define NOTES_MAX   8192

struct segment {
	uint32_t type;
	uint64_t offset, addr, size, memory_size;
};

/* Where the fields of the two classes are. */
static struct segment read_segment(struct reader r, bool is_64bit)
{
	struct segment s = { .type = reader_u32le(&r) };

	if (is_64bit) {
		reader_skip(&r, 4);
		s.offset = reader_u64le(&r);
		s.addr = reader_u64le(&r);
		reader_skip(&r, 8);
		s.size = reader_u64le(&r);
		s.memory_size = reader_u64le(&r);
	} else {
		s.offset = reader_u32le(&r);
		s.addr = reader_u32le(&r);
		reader_skip(&r, 4);
		s.size = reader_u32le(&r);
		s.memory_size = reader_u32le(&r);
	}
	return s;
}

/* As include/dwell.h has it. */
static bool has_marks(const void *notes, size_t size)
{
	struct reader r = reader_over(notes, size);
	struct note n;

	while (note_next(&r, &n))
		if (note_is(&n, "dwell", 1))
			return true;
	return false;
}

static void take_notes(int fd, const struct segment *s, struct executable *x)
{
	uint8_t notes[NOTES_MAX];
	size_t want = s->size < sizeof(notes) ? (size_t)s->size : sizeof(notes);
	ssize_t n = pread(fd, notes, want, (off_t)s->offset);

	if (n > 0 && !x->build_id_size)
		x->build_id_size = note_find_build_id(notes, (size_t)n, x->build_id,
						      sizeof(x->build_id));
	x->has_marks |= n > 0 && has_marks(notes, (size_t)n);
}

static void take_load(const struct segment *s, uint64_t entry, struct executable *x)
{
	const uint64_t where[] = { s->offset, s->addr, s->size };

	x->layout = crc32c(x->layout, where, sizeof(where));
	if (entry && entry - s->addr < s->size)
		x->entry_offset = entry - s->addr + s->offset;
	if (x->n_loads < EXECUTABLE_LOADS_MAX)
		x->loads[x->n_loads++] =
			(struct executable_load){ s->offset, s->addr, s->memory_size };
}

/* Of two that may hold it data is the one behind: the other ends in the same page. */
bool executable_data_address(const struct executable *x, uint64_t offset, uint64_t *ret)
{
	for (size_t i = x->n_loads; i-- > 0;)
		if (offset - x->loads[i].offset < x->loads[i].size) {
			*ret = offset - x->loads[i].offset + x->loads[i].addr;
			return true;
		}
	return false;
}

uint64_t executable_data_end(const struct executable *x)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < x->n_loads; i++)
		if (x->loads[i].offset + x->loads[i].size > ret)
			ret = x->loads[i].offset + x->loads[i].size;
	return ret;
}

/* What the ELF header says of the rest. */
struct headers {
	uint64_t entry, phoff;
	uint16_t phentsize, phnum;
};

static void take_segments(int fd, const struct headers *h, struct executable *x)
{
	uint8_t headers[HEADERS_MAX];
	bool has_interpreter = false;

	if (h->phentsize < (x->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return;

	ssize_t n = pread(fd, headers, sizeof(headers), (off_t)h->phoff);
	struct reader r = reader_over(headers, n > 0 ? (size_t)n : 0);

	for (unsigned i = 0; i < h->phnum; i++) {
		const uint8_t *entry = reader_bytes(&r, h->phentsize);

		if (!entry)
			break;

		struct segment s =
			read_segment(reader_over(entry, h->phentsize), x->is_64bit);

		has_interpreter |= s.type == PT_INTERP;
		if (s.type == PT_LOAD)
			take_load(&s, h->entry, x);
		if (s.type == PT_NOTE)
			take_notes(fd, &s, x);
	}
	x->is_static = !has_interpreter; /* true of libraries too: nobody runs them */
}

static int parse_headers(int fd, struct executable *x, struct err *e)
{
	uint8_t h[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = pread(fd, h, sizeof(h), 0);

	if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(h, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_FORMAT, "not an ELF file");
	x->is_64bit = h[EI_CLASS] == ELFCLASS64;

	struct reader r = reader_over(h, (size_t)n);

	reader_seek(&r, 18);

	uint16_t machine = reader_u16le(&r);

	struct headers hs;

	reader_seek(&r, 24);
	hs.entry = x->is_64bit ? reader_u64le(&r) : reader_u32le(&r);
	hs.phoff = x->is_64bit ? reader_u64le(&r) : reader_u32le(&r);
	reader_seek(&r, x->is_64bit ? 54 : 42);
	hs.phentsize = reader_u16le(&r);
	hs.phnum = reader_u16le(&r);
	if (r.bad || h[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_FORMAT, "damaged ELF header");
	x->is_native = x->is_64bit && machine == NATIVE_MACHINE;
	take_segments(fd, &hs, x);
	return 0;
}

int executable_probe(int fd, struct executable *ret, struct err *e)
{
	struct stat st;

	*ret = (struct executable){ 0 };
	if (fstat(fd, &st) != 0)
		return err_os(e, "cannot stat");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FORMAT, "not a regular file");
	ret->size_bytes = (uint64_t)st.st_size;
	ret->inode = st.st_ino;
	ret->mtime_s = st.st_mtime;
	ret->is_setid = (st.st_mode & (S_ISUID | S_ISGID)) != 0 ||
			fgetxattr(fd, "security.capability", NULL, 0) > 0;
	return parse_headers(fd, ret, e);
}
