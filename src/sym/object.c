/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/object.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inflate.h"
#include "base/mem.h"
#include "base/reader.h"

/* One core file's worth of segments is plausible, a million is an attack. */
#define SEGMENTS_MAX 65535
#define SECTIONS_MAX (1 << 20)

struct contents {
	struct object_bytes bytes;
	bool is_loaded, is_owned;
};

struct object {
	char *path;
	int fd;		   /* -1: all of it is in memory */
	struct buf memory; /* else empty */
	uint64_t size, mtime_s, entry;
	bool is_64, is_fixed; /* ET_EXEC */
	unsigned machine;
	struct object_segment *segments;
	size_t n_segments;
	struct object_section *sections;
	struct contents *contents; /* one per section */
	size_t n_sections;
	char *section_names;
	uint8_t build_id[OBJECT_BUILD_ID_MAX];
	size_t build_id_size;
};

struct header {
	uint64_t ph_offset, sh_offset;
	unsigned ph_size, ph_count, sh_size, sh_count, sh_names;
};

void object_free(struct object *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n_sections; i++)
		if (o->contents[i].is_owned)
			free((void *)o->contents[i].bytes.data);
	closep(&o->fd);
	buf_fini(&o->memory);
	free(o->path);
	free(o->segments);
	free(o->sections);
	free(o->contents);
	free(o->section_names);
	free(o);
}

void object_freep(struct object **o)
{
	object_free(*o);
}

static bool in_file(const struct object *o, uint64_t offset, uint64_t size)
{
	return offset <= o->size && size <= o->size - offset;
}

static bool fetch(const struct object *o, uint64_t offset, size_t size, void *ret)
{
	uint8_t *to = ret;

	if (!in_file(o, offset, size))
		return false;
	if (o->fd < 0 && size) {
		memcpy(ret, o->memory.data + offset, size);
		return true;
	}
	while (size) {
		ssize_t n = pread(o->fd, to, size, (off_t)offset);

		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

/* A copy of a part of the file with a terminator after it, or NULL. */
static void *fetch_new(const struct object *o, uint64_t offset, uint64_t size)
{
	if (!in_file(o, offset, size))
		return NULL;

	own(freep) uint8_t *data = xrealloc(NULL, size + 1, 1);

	data[size] = 0;
	return fetch(o, offset, size, data) ? steal(&data) : NULL;
}

/* Addresses and offsets are as wide as the class of the file. */
static uint64_t word(const struct object *o, struct reader *r)
{
	return o->is_64 ? reader_u64le(r) : reader_u32le(r);
}

static int parse_header(struct object *o, struct header *h, struct err *e)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = { 0 };
	size_t size = o->size < sizeof(bytes) ? (size_t)o->size : sizeof(bytes);
	struct reader r = reader_over(bytes, sizeof(bytes));

	if (!fetch(o, 0, size, bytes))
		return err_os(e, "%s: cannot read", o->path);
	if (size < sizeof(Elf32_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_FORMAT, "%s: not an ELF file", o->path);
	if (bytes[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_UNSUPPORTED, "%s: big-endian ELF file", o->path);
	o->is_64 = bytes[EI_CLASS] == ELFCLASS64;
	reader_skip(&r, EI_NIDENT);
	o->is_fixed = reader_u16le(&r) == ET_EXEC;
	o->machine = reader_u16le(&r);
	reader_skip(&r, 4);
	o->entry = word(o, &r);
	h->ph_offset = word(o, &r);
	h->sh_offset = word(o, &r);
	reader_skip(&r, 4 + 2);
	h->ph_size = reader_u16le(&r);
	h->ph_count = reader_u16le(&r);
	h->sh_size = reader_u16le(&r);
	h->sh_count = reader_u16le(&r);
	h->sh_names = reader_u16le(&r);
	return 0;
}

static struct object_segment parse_segment(const struct object *o, struct reader *r)
{
	struct object_segment s = { 0 };
	uint32_t type = reader_u32le(r);
	uint32_t flags = o->is_64 ? reader_u32le(r) : 0;

	s.offset = word(o, r);
	s.address = word(o, r);
	word(o, r);
	s.file_size = word(o, r);
	s.memory_size = word(o, r);
	if (!o->is_64)
		flags = reader_u32le(r);
	s.is_load = type == PT_LOAD;
	s.is_note = type == PT_NOTE;
	s.is_executable = flags & PF_X;
	return s;
}

static void parse_segments(struct object *o, const struct header *h)
{
	size_t least = o->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	own(freep) uint8_t *table =
		fetch_new(o, h->ph_offset, (uint64_t)h->ph_size * h->ph_count);

	if (!table || h->ph_size < least || h->ph_count > SEGMENTS_MAX)
		return;
	o->segments = xcalloc(h->ph_count + 1, sizeof(*o->segments));
	for (size_t i = 0; i < h->ph_count; i++) {
		struct reader r = reader_over(table + i * h->ph_size, h->ph_size);

		o->segments[o->n_segments++] = parse_segment(o, &r);
	}
}

static struct object_section parse_section(const struct object *o, struct reader *r,
					   uint32_t *name)
{
	struct object_section s = { 0 };

	*name = reader_u32le(r);
	s.type = reader_u32le(r);
	s.flags = word(o, r);
	s.address = word(o, r);
	s.offset = word(o, r);
	s.size = word(o, r);
	s.link = reader_u32le(r);
	s.info = reader_u32le(r);
	word(o, r); /* alignment */
	s.entry_size = word(o, r);
	return s;
}

/* More than 0xff00 sections: the true numbers are in section 0. */
static void extend_counts(const struct object *o, struct header *h)
{
	uint8_t first[sizeof(Elf64_Shdr)];
	struct reader r = reader_over(first, sizeof(first));
	uint32_t name;

	if ((h->sh_count && h->sh_names != SHN_XINDEX) || h->sh_size > sizeof(first) ||
	    !fetch(o, h->sh_offset, h->sh_size, first))
		return;

	struct object_section s = parse_section(o, &r, &name);

	if (!h->sh_count && s.size <= SECTIONS_MAX)
		h->sh_count = (unsigned)s.size;
	if (h->sh_names == SHN_XINDEX)
		h->sh_names = s.link;
}

static void parse_sections(struct object *o, struct header *h)
{
	size_t least = o->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	if (!h->sh_offset || h->sh_size < least)
		return;
	extend_counts(o, h);

	own(freep) uint8_t *table =
		fetch_new(o, h->sh_offset, (uint64_t)h->sh_size * h->sh_count);

	if (!table)
		return;

	own(freep) uint32_t *names = xcalloc(h->sh_count + 1, sizeof(*names));
	uint64_t names_size = 0;

	o->n_sections = h->sh_count;
	o->sections = xcalloc(h->sh_count + 1, sizeof(*o->sections));
	o->contents = xcalloc(h->sh_count + 1, sizeof(*o->contents));
	for (size_t i = 0; i < o->n_sections; i++) {
		struct reader r = reader_over(table + i * h->sh_size, h->sh_size);

		o->sections[i] = parse_section(o, &r, &names[i]);
		o->sections[i].name = "";
	}
	if (h->sh_names < o->n_sections) {
		names_size = o->sections[h->sh_names].size;
		o->section_names =
			fetch_new(o, o->sections[h->sh_names].offset, names_size);
	}
	for (size_t i = 0; o->section_names && i < o->n_sections; i++)
		if (names[i] < names_size)
			o->sections[i].name = o->section_names + names[i];
}

static bool take_build_id(struct object *o, const void *notes, size_t size)
{
	struct reader r = reader_over(notes, size);

	while (reader_left(&r) >= 12) {
		uint32_t name_size = reader_u32le(&r);
		uint32_t id_size = reader_u32le(&r);
		uint32_t type = reader_u32le(&r);
		const uint8_t *name = reader_bytes(&r, ((size_t)name_size + 3) & ~3ul);
		const uint8_t *id = reader_bytes(&r, id_size);

		if (r.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    memcmp(name, "GNU", 4) == 0 && id_size <= OBJECT_BUILD_ID_MAX) {
			memcpy(o->build_id, id, id_size);
			o->build_id_size = id_size;
			return true;
		}
		reader_skip(&r, -id_size & 3);
	}
	return false;
}

#define NOTES_MAX (1u << 20)

static bool build_id_at(struct object *o, uint64_t offset, uint64_t size)
{
	if (size > NOTES_MAX)
		return false;

	own(freep) uint8_t *notes = fetch_new(o, offset, size);

	return notes && take_build_id(o, notes, size);
}

/* Sections first: in a separate debug file the segments point nowhere. */
static void find_build_id(struct object *o)
{
	for (size_t i = 0; i < o->n_sections; i++)
		if (o->sections[i].type == SHT_NOTE &&
		    build_id_at(o, o->sections[i].offset, o->sections[i].size))
			return;
	for (size_t i = 0; i < o->n_segments; i++)
		if (o->segments[i].is_note &&
		    build_id_at(o, o->segments[i].offset, o->segments[i].file_size))
			return;
}

static int parse(struct object *o, struct err *e)
{
	struct header h = { 0 };
	int rc = parse_header(o, &h, e);

	if (rc < 0)
		return rc;
	parse_segments(o, &h);
	parse_sections(o, &h);
	find_build_id(o);
	return 0;
}

int object_open(const char *path, struct object **ret, struct err *e)
{
	own(object_freep) struct object *o = xcalloc(1, sizeof(*o));
	struct stat st;

	o->path = xstrdup(path);
	/* A FIFO in a foreign file system must not block the report. */
	o->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return err_os(e, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FORMAT, "%s: not a regular file", path);
	o->size = (uint64_t)st.st_size;
	o->mtime_s = (uint64_t)st.st_mtime;

	int rc = parse(o, e);

	if (rc == 0)
		*ret = steal(&o);
	return rc;
}

int object_over(struct buf *bytes, const char *name, struct object **ret, struct err *e)
{
	own(object_freep) struct object *o = xcalloc(1, sizeof(*o));

	o->path = xstrdup(name);
	o->fd = -1;
	o->memory = *bytes;
	o->size = bytes->size;
	*bytes = (struct buf){ 0 };

	int rc = parse(o, e);

	if (rc == 0)
		*ret = steal(&o);
	return rc;
}

const char *object_path(const struct object *o)
{
	return o->path;
}

uint64_t object_size(const struct object *o)
{
	return o->size;
}

uint64_t object_mtime_s(const struct object *o)
{
	return o->mtime_s;
}

bool object_is_64(const struct object *o)
{
	return o->is_64;
}

unsigned object_machine(const struct object *o)
{
	return o->machine;
}

/* Position-independent programs are shared objects to the ELF header. */
static bool is_pie(struct object *o)
{
	struct object_bytes b = object_named(o, ".dynamic");
	struct reader r = reader_over(b.data, b.size);

	while (reader_left(&r)) {
		uint64_t tag = word(o, &r), value = word(o, &r);

		if (r.bad || tag == DT_NULL)
			break;
		if (tag == DT_FLAGS_1)
			return value & DF_1_PIE;
	}
	return false;
}

bool object_entry(struct object *o, uint64_t *ret)
{
	if (!o->entry || !(o->is_fixed || is_pie(o)))
		return false;
	*ret = o->entry;
	return true;
}

struct object_bytes object_build_id(const struct object *o)
{
	return (struct object_bytes){ o->build_id, o->build_id_size };
}

size_t object_n_segments(const struct object *o)
{
	return o->n_segments;
}

const struct object_segment *object_segment(const struct object *o, size_t i)
{
	return &o->segments[i];
}

size_t object_n_sections(const struct object *o)
{
	return o->n_sections;
}

const struct object_section *object_section(const struct object *o, size_t i)
{
	return i < o->n_sections ? &o->sections[i] : NULL;
}

static const struct object_section *find_exact(const struct object *o, const char *name)
{
	for (size_t i = 0; i < o->n_sections; i++)
		if (strcmp(o->sections[i].name, name) == 0)
			return &o->sections[i];
	return NULL;
}

const struct object_section *object_find(const struct object *o, const char *name)
{
	const struct object_section *s = find_exact(o, name);
	char old[64];

	if (s || strncmp(name, ".debug_", 7) != 0)
		return s;
	snprintf(old, sizeof(old), ".z%s", name + 1);
	return find_exact(o, old);
}

bool object_section_is_code(const struct object_section *s)
{
	return (s->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
}

/* SHF_COMPRESSED: a header tells the method and the size. */
static bool inflate_section(const struct object *o, struct object_bytes in,
			    struct object_bytes *ret)
{
	struct reader r = reader_over(in.data, in.size);
	uint32_t type = reader_u32le(&r);

	if (o->is_64)
		reader_skip(&r, 4);

	uint64_t size = word(o, &r);

	word(o, &r); /* alignment */
	ret->data = inflate_new(type == ELFCOMPRESS_ZLIB ? INFLATE_ZLIB : INFLATE_ZSTD,
				r.at, reader_left(&r), size);
	ret->size = size;
	return ret->data;
}

/* The older ".zdebug_": "ZLIB" and the size in big endian. */
static bool inflate_old(struct object_bytes in, struct object_bytes *ret)
{
	uint64_t size = 0;

	if (in.size < 12 || memcmp(in.data, "ZLIB", 4) != 0)
		return false;
	for (int i = 4; i < 12; i++)
		size = size << 8 | in.data[i];
	ret->data = inflate_new(INFLATE_ZLIB, in.data + 12, in.size - 12, size);
	ret->size = size;
	return ret->data;
}

static void load(struct object *o, const struct object_section *s, struct contents *c)
{
	bool is_old = strncmp(s->name, ".zdebug_", 8) == 0;
	bool is_packed = is_old || (s->flags & SHF_COMPRESSED);
	own(freep) uint8_t *copy = NULL;
	struct object_bytes in = { .size = s->size };

	c->is_loaded = true;
	if (s->type == SHT_NOBITS || !in_file(o, s->offset, s->size))
		return;
	if (o->fd >= 0)
		copy = fetch_new(o, s->offset, s->size);
	in.data = copy ? copy : o->fd < 0 ? o->memory.data + s->offset : NULL;
	if (!in.data)
		return;
	if (is_packed) {
		c->is_owned = is_old ? inflate_old(in, &c->bytes)
				     : inflate_section(o, in, &c->bytes);
		if (!c->is_owned)
			c->bytes.size = 0;
		return;
	}
	c->is_owned = copy;
	c->bytes = in;
	(void)steal(&copy);
}

struct object_bytes object_contents(struct object *o, const struct object_section *s)
{
	if (!s)
		return (struct object_bytes){ 0 };

	struct contents *c = &o->contents[s - o->sections];

	if (!c->is_loaded)
		load(o, s, c);
	return c->bytes;
}

struct object_bytes object_named(struct object *o, const char *name)
{
	return object_contents(o, object_find(o, name));
}

bool object_to_address(const struct object *o, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct object_segment *s = &o->segments[i];

		if (s->is_load && offset >= s->offset &&
		    offset - s->offset < s->file_size) {
			*ret = offset - s->offset + s->address;
			return true;
		}
	}
	return false;
}

bool object_to_offset(const struct object *o, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct object_segment *s = &o->segments[i];

		if (s->is_load && address >= s->address &&
		    address - s->address < s->file_size) {
			*ret = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}

/* A file of symbols says where code is, and has none. */
static bool is_left_out(const struct object *o, uint64_t address)
{
	for (size_t i = 0; i < o->n_sections; i++) {
		const struct object_section *s = &o->sections[i];

		if (s->type == SHT_NOBITS && object_section_is_code(s) &&
		    address - s->address < s->size)
			return true;
	}
	return false;
}

size_t object_read(struct object *o, uint64_t address, size_t size, struct buf *ret)
{
	if (is_left_out(o, address))
		return 0;
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct object_segment *s = &o->segments[i];
		uint64_t at = address - s->address;

		if (!s->is_load || address < s->address || at >= s->file_size)
			continue;
		if (size > s->file_size - at)
			size = s->file_size - at;
		if (!in_file(o, s->offset + at, size) ||
		    !fetch(o, s->offset + at, size, buf_reserve(ret, size)))
			return 0;
		ret->size += size;
		return size;
	}
	return 0;
}

uint64_t object_code_start(const struct object *o)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < o->n_sections; i++)
		if (object_section_is_code(&o->sections[i]) &&
		    o->sections[i].address < lowest)
			lowest = o->sections[i].address;
	return lowest == UINT64_MAX ? 0 : lowest;
}
