/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_bounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/reader.h"

/* Pointer encodings of .eh_frame (Linux Standard Base, Core, 10.5). */
enum encoding {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_RELATIVE = 0x70,
	PE_PCREL = 0x10,
	PE_OMIT = 0xff,
};

/* What every linker takes for the program's first instruction. */
static const char entry_name[] = "_start";

struct frames {
	struct object_bytes bytes;
	uint64_t address; /* of the section */
	bool is_64;
	uint64_t entry;	      /* of the program, 0: none */
	struct map encodings; /* CIE offset -> pointer encoding of its functions */
};

static uint64_t read_value(const struct frames *f, struct reader *r, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSOLUTE:
		return f->is_64 ? reader_u64le(r) : reader_u32le(r);
	case PE_ULEB:
		return reader_uleb(r);
	case PE_UDATA2:
		return reader_u16le(r);
	case PE_UDATA4:
		return reader_u32le(r);
	case PE_SLEB:
		return (uint64_t)reader_sleb(r);
	case PE_SDATA2:
		return (uint64_t)(int16_t)reader_u16le(r);
	case PE_SDATA4:
		return (uint64_t)(int32_t)reader_u32le(r);
	case PE_UDATA8:
	case PE_SDATA8:
		return reader_u64le(r);
	}
	r->bad = true;
	return 0;
}

/* The letters of a CIE's augmentation say what precedes the functions' encoding. */
static uint8_t parse_augmentation(const struct frames *f, struct reader *r,
				  const char *letters)
{
	for (; *letters && !r->bad; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'L':
			reader_u8(r);
			break;
		case 'P':
			encoding = reader_u8(r);
			read_value(f, r, encoding);
			break;
		case 'R':
			return reader_u8(r);
		case 'S':
		case 'B':
			break;
		default:
			return PE_OMIT;
		}
	}
	return PE_ABSOLUTE;
}

static uint8_t parse_cie(const struct frames *f, struct reader *r)
{
	uint8_t version = reader_u8(r);
	const char *letters = reader_cstr(r);

	if (!letters || (version != 1 && version != 3))
		return PE_OMIT;
	if (!*letters)
		return PE_ABSOLUTE;
	if (*letters != 'z')
		return PE_OMIT;
	reader_uleb(r); /* code alignment */
	reader_sleb(r); /* data alignment */
	if (version == 1)
		reader_u8(r);
	else
		reader_uleb(r);
	reader_uleb(r); /* size of the augmentation */
	return parse_augmentation(f, r, letters + 1);
}

static uint8_t encoding_at(struct frames *f, size_t cie)
{
	bool is_new;
	uint64_t *known = map_slot(&f->encodings, cie, &is_new);
	struct reader r = reader_over(f->bytes.data, f->bytes.size);

	if (!is_new)
		return (uint8_t)*known;
	reader_seek(&r, cie);

	uint32_t length = reader_u32le(&r);
	struct reader body = reader_over(r.at, 0);

	if (!r.bad && length <= reader_left(&r))
		body = reader_over(r.at, length);
	*known = reader_u32le(&body) == 0 && !body.bad ? parse_cie(f, &body) : PE_OMIT;
	return (uint8_t)*known;
}

/* A compiler leaves nothing between symbols, so a hole is a function without name. */
static bool is_covered(const struct symtab *t, uint64_t address)
{
	const struct symtab_symbol *s = symtab_find(t, address);

	return s && !(s->is_open && s->address != address);
}

static bool add_function(struct frames *f, struct symtab *t, struct arena *names,
			 uint64_t start, uint64_t size)
{
	char text[40];

	if (!size || is_covered(t, start))
		return false;
	if (f->entry && start == f->entry) {
		symtab_add_weak(t, start, size, entry_name);
		f->entry = 0;
		return true;
	}
	snprintf(text, sizeof(text), "fn@0x%" PRIx64, start);
	symtab_add_weak(t, start, size, arena_strdup(names, text));
	return true;
}

static bool parse_fde(struct frames *f, struct reader *r, size_t cie, struct symtab *t,
		      struct arena *names)
{
	uint8_t encoding = encoding_at(f, cie);

	if (encoding == PE_OMIT ||
	    ((encoding & PE_RELATIVE) && (encoding & PE_RELATIVE) != PE_PCREL))
		return false;

	uint64_t here = f->address + (size_t)(r->at - f->bytes.data);
	uint64_t start = read_value(f, r, encoding);
	uint64_t size = read_value(f, r, encoding & 7);

	if (encoding & PE_PCREL)
		start += here;
	if (!f->is_64)
		start &= UINT32_MAX;
	return !r->bad && add_function(f, t, names, start, size);
}

size_t function_bounds_add(struct symtab *t, struct object *o, struct arena *names)
{
	const struct object_section *s = object_find(o, ".eh_frame");
	struct frames f = { .bytes = object_contents(o, s), .is_64 = object_is_64(o) };
	struct reader r = reader_over(f.bytes.data, f.bytes.size);
	size_t n = 0;

	f.address = s ? s->address : 0;
	object_entry(o, &f.entry);
	while (reader_left(&r) > 4) {
		uint32_t length = reader_u32le(&r);
		size_t at = reader_offset(&r);
		const uint8_t *body = reader_bytes(&r, length);

		if (!body || length == 0)
			break;

		struct reader entry = reader_over(body, length);
		uint32_t back = reader_u32le(&entry);

		if (back && back <= at)
			n += parse_fde(&f, &entry, at - back, t, names);
	}
	map_fini(&f.encodings);
	/* Start code in assembly may have no unwind table. */
	if (f.entry && !is_covered(t, f.entry)) {
		symtab_add_weak(t, f.entry, 0, entry_name);
		n++;
	}
	return n;
}

bool function_bounds_is_synthetic(const char *name)
{
	return strncmp(name, "fn@0x", 5) == 0;
}
