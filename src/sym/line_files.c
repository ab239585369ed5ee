/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/line_files.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/form.h"
#include "sym/path.h"

/* One entry format of DWARF 5: what and in which form. */
struct entry_format {
	uint64_t content;
	struct abbrev_attr attr;
};

/* More kinds of facts about a file nobody has thought of. */
#define FORMATS_MAX 16

struct entry {
	const char *name;
	uint64_t directory;
};

void line_files_free(struct line_files *f)
{
	if (!f)
		return;
	vec_fini(&f->directories);
	vec_fini(&f->files);
	buf_fini(&f->path);
	free(f);
}

static void parse_old_tables(struct line_files *f, struct reader *r)
{
	const char *name;

	*vec_push(&f->directories) = NULL; /* 0: where it was compiled */
	while ((name = reader_cstr(r)) && *name)
		*vec_push(&f->directories) = name;
	*vec_push(&f->files) = (struct line_file){ 0 }; /* they count from 1 */
	while ((name = reader_cstr(r)) && *name) {
		uint64_t directory = reader_uleb(r);

		reader_uleb(r); /* time */
		reader_uleb(r); /* size */
		*vec_push(&f->files) = (struct line_file){ name, directory, 0 };
	}
}

static size_t parse_formats(struct reader *r, struct entry_format *formats)
{
	size_t n = reader_u8(r);

	if (n > FORMATS_MAX)
		r->bad = true;
	for (size_t i = 0; i < n && !r->bad; i++) {
		formats[i].content = reader_uleb(r);
		formats[i].attr =
			(struct abbrev_attr){ .form = (uint16_t)reader_uleb(r) };
	}
	return r->bad ? 0 : n;
}

static struct entry parse_entry(const struct line_files *f, struct reader *r,
				const struct entry_format *formats, size_t n)
{
	struct entry e = { 0 };
	struct debug_unit u = *f->unit;

	u.sizes = f->sizes;
	for (size_t i = 0; i < n && !r->bad; i++) {
		struct form_value v = form_read(&u, &formats[i].attr, r);

		if (formats[i].content == DW_LNCT_path)
			e.name = form_string(&u, &v);
		else if (formats[i].content == DW_LNCT_directory_index)
			e.directory = v.v;
	}
	return e;
}

static void parse_new_table(struct line_files *f, struct reader *r, bool is_files)
{
	struct entry_format formats[FORMATS_MAX];
	size_t n_formats = parse_formats(r, formats);
	uint64_t n = reader_uleb(r);

	/* Entries without content take no bytes and could be any number. */
	if (!n_formats || n > reader_left(r))
		return;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		const uint8_t *before = r->at;
		struct entry e = parse_entry(f, r, formats, n_formats);

		if (r->at == before)
			return;
		if (is_files)
			*vec_push(&f->files) =
				(struct line_file){ e.name, e.directory, 0 };
		else
			*vec_push(&f->directories) = e.name;
	}
}

static bool parse_header(struct line_files *f, struct reader *r)
{
	uint64_t length = reader_u32le(r), header;
	uint8_t offset_size = 4;

	if (length == UINT32_MAX) {
		length = reader_u64le(r);
		offset_size = 8;
	}
	if (r->bad || length > reader_left(r))
		return false;
	r->end = r->at + length;
	f->version = reader_u16le(r);
	f->sizes = f->unit->sizes;
	f->sizes.offset = offset_size;
	if (f->version < 2 || f->version > 5)
		return false;
	if (f->version >= 5)
		reader_skip(r, 2); /* sizes of addresses and segment selectors */
	header = offset_size == 8 ? reader_u64le(r) : reader_u32le(r);
	if (header > reader_left(r))
		return false;
	f->program = r->at + header;
	f->program_end = r->end;
	r->end = f->program;
	return true;
}

static bool parse_parameters(struct line_files *f, struct reader *r)
{
	f->min_length = reader_u8(r);
	f->max_ops = f->version >= 4 ? reader_u8(r) : 1;
	reader_u8(r); /* default is_stmt */
	f->line_base = (int8_t)reader_u8(r);
	f->line_range = reader_u8(r);
	f->opcode_base = reader_u8(r);
	for (int i = 1; i < f->opcode_base; i++)
		f->operand_counts[i] = reader_u8(r);
	return !r->bad && f->line_range;
}

struct line_files *line_files_open(struct debug_unit *u)
{
	struct object_bytes b = u->file->sections[DEBUG_LINE];
	struct reader r = reader_over(b.data, b.size);
	struct line_files *f;

	if (u->files || !u->has_line)
		return u->files;
	f = xcalloc(1, sizeof(*f));
	f->unit = u;
	reader_seek(&r, u->line_offset + u->part[DEBUG_LINE]);
	if (!parse_header(f, &r) || !parse_parameters(f, &r)) {
		u->has_line = false;
		line_files_free(f);
		return NULL;
	}
	if (f->version >= 5) {
		parse_new_table(f, &r, false);
		parse_new_table(f, &r, true);
	} else {
		parse_old_tables(f, &r);
	}
	return u->files = f;
}

uint64_t *line_files_memo(struct line_files *f, uint64_t index)
{
	return index < f->files.n ? &f->files.at[index].memo : NULL;
}

const char *line_files_path(struct line_files *f, uint64_t index, size_t *ret_n)
{
	const struct line_file *file = index < f->files.n ? &f->files.at[index] : NULL;
	const char *directory;

	if (!file || !file->name)
		return NULL;
	directory = file->directory < f->directories.n
			    ? f->directories.at[file->directory]
			    : NULL;
	buf_clear(&f->path);
	if (*file->name != '/') {
		if ((!directory || *directory != '/') && f->unit->directory) {
			buf_puts(&f->path, f->unit->directory);
			buf_u8(&f->path, '/');
		}
		if (directory) {
			buf_puts(&f->path, directory);
			buf_u8(&f->path, '/');
		}
	}
	buf_puts(&f->path, file->name);
	*ret_n = path_normalize((char *)f->path.data, f->path.size);
	f->path.size = *ret_n;
	return buf_str(&f->path);
}
