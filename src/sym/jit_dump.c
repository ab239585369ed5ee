/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/jit_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/reader.h"
#include "base/search.h"
#include "base/vec.h"

#define MAGIC	     0x4a695444u
#define HEADER_BYTES 40

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
};

struct record {
	uint64_t time;
	uint32_t id, order; /* order: position in the file, settles equal times */
	struct reader body;
};

struct row {
	uint64_t offset; /* from the start of the code */
	const char *file;
	uint32_t line;
};

/* What was compiled, wherever it has been moved since. */
struct code {
	const uint8_t *bytes;
	uint64_t size;
	const char *name;
	size_t first_row, n_rows;
};

struct jit_dump {
	struct buf bytes;
	struct code_map *map; /* user: index of the code */
	VEC(struct code) codes;
	VEC(struct row) rows;
	VEC(struct record) records;
	struct map by_index;	/* the compiler's code index -> code + 1 */
	struct map debug_infos; /* code address -> record + 1, until its load comes */
};

void jit_dump_free(struct jit_dump *d)
{
	if (!d)
		return;
	code_map_free(d->map);
	vec_fini(&d->codes);
	vec_fini(&d->rows);
	vec_fini(&d->records);
	map_fini(&d->by_index);
	map_fini(&d->debug_infos);
	buf_fini(&d->bytes);
	free(d);
}

void jit_dump_freep(struct jit_dump **d)
{
	jit_dump_free(*d);
}

static void collect_records(struct jit_dump *d, struct reader *r)
{
	while (reader_left(r) >= 16) {
		struct record rec = { .id = reader_u32le(r) };
		uint32_t size = reader_u32le(r);

		rec.time = reader_u64le(r);
		rec.order = (uint32_t)d->records.n;

		const uint8_t *body = size >= 16 ? reader_bytes(r, size - 16) : NULL;

		if (!body || rec.id == CODE_CLOSE)
			return;
		rec.body = reader_over(body, size - 16);
		*vec_push(&d->records) = rec;
	}
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A file name of 0xff alone repeats the one before. */
static void load_rows(struct jit_dump *d, struct code *code, uint64_t address)
{
	const uint64_t *record = map_find(&d->debug_infos, address);
	const char *file = NULL;

	code->first_row = d->rows.n;
	if (!record || !*record)
		return;

	struct reader r = d->records.at[*record - 1].body;
	uint64_t count;

	reader_skip(&r, 8); /* code address */
	count = reader_u64le(&r);
	for (uint64_t i = 0; i < count && reader_left(&r); i++) {
		uint64_t at = reader_u64le(&r);
		uint32_t line = reader_u32le(&r);
		const char *name;

		reader_u32le(&r); /* discriminator */
		name = reader_cstr(&r);
		if (!name)
			break;
		if (strcmp(name, "\xff") != 0)
			file = name;
		if (file && at >= address && at - address < code->size)
			*vec_push(&d->rows) = (struct row){ at - address, file, line };
	}
	code->n_rows = d->rows.n - code->first_row;
	if (code->n_rows)
		qsort(d->rows.at + code->first_row, code->n_rows, sizeof(struct row),
		      compare_rows);
	map_remove(&d->debug_infos, address);
}

static void apply_load(struct jit_dump *d, struct reader r)
{
	struct code code = { 0 };
	uint64_t address, index;

	reader_skip(&r, 4 + 4 + 8); /* pid, tid, vma */
	address = reader_u64le(&r);
	code.size = reader_u64le(&r);
	index = reader_u64le(&r);
	code.name = reader_cstr(&r);
	code.bytes = reader_bytes(&r, code.size);
	if (r.bad || !code.name || !*code.name)
		return;
	load_rows(d, &code, address);
	*vec_push(&d->codes) = code;
	*map_slot(&d->by_index, index, NULL) = d->codes.n;
	code_map_add(d->map, &(struct code_piece){ address, code.size, code.name,
						   d->codes.n - 1 });
}

static void apply_move(struct jit_dump *d, struct reader r)
{
	uint64_t address, size, index;
	const uint64_t *code;

	reader_skip(&r, 4 + 4 + 8 + 8); /* pid, tid, vma, old address */
	address = reader_u64le(&r);
	size = reader_u64le(&r);
	index = reader_u64le(&r);
	code = map_find(&d->by_index, index);
	if (!r.bad && code)
		code_map_add(d->map, &(struct code_piece){ address, size,
							   d->codes.at[*code - 1].name,
							   *code - 1 });
}

static void apply(struct jit_dump *d, size_t i)
{
	struct record *rec = &d->records.at[i];
	struct reader r = rec->body;

	if (rec->id == CODE_LOAD)
		apply_load(d, r);
	else if (rec->id == CODE_MOVE)
		apply_move(d, r);
	else if (rec->id == CODE_DEBUG_INFO)
		*map_slot(&d->debug_infos, reader_u64le(&r), NULL) = i + 1;
}

int jit_dump_parse(struct buf *bytes, struct jit_dump **ret, struct err *e)
{
	own(jit_dump_freep) struct jit_dump *d = xcalloc(1, sizeof(*d));
	struct reader r = reader_over(bytes->data, bytes->size);
	uint32_t magic = reader_u32le(&r), version = reader_u32le(&r);
	uint32_t header = reader_u32le(&r);

	if (r.bad || magic != MAGIC || version != 1 || header < HEADER_BYTES)
		return err_set(e, ERR_FORMAT, "not a jitdump of version 1");
	reader_seek(&r, header);
	d->map = code_map_new();
	collect_records(d, &r);
	if (d->records.n)
		qsort(d->records.at, d->records.n, sizeof(*d->records.at),
		      compare_records);
	for (size_t i = 0; i < d->records.n; i++)
		apply(d, i);
	code_map_finish(d->map);
	d->bytes = *bytes;
	*bytes = (struct buf){ 0 };
	*ret = steal(&d);
	return 0;
}

const struct code_map *jit_dump_map(const struct jit_dump *d)
{
	return d->map;
}

bool jit_dump_find_line(const struct jit_dump *d, const struct code_piece *piece,
			uint64_t address, struct jit_dump_line *ret)
{
	const struct code *code = &d->codes.at[piece->user];

	if (!code->n_rows)
		return false;

	const struct row *rows = d->rows.at + code->first_row;

	size_t n =
		search_split(code->n_rows, i, rows[i].offset <= address - piece->start);

	if (!n)
		return false;
	*ret = (struct jit_dump_line){ rows[n - 1].file, rows[n - 1].line };
	return true;
}

bool jit_dump_code(const struct jit_dump *d, const struct code_piece *piece,
		   uint64_t address, size_t size, struct buf *ret)
{
	const struct code *code = &d->codes.at[piece->user];
	uint64_t at = address - piece->start;

	if (at >= code->size)
		return false;
	if (size > code->size - at)
		size = (size_t)(code->size - at);
	buf_add(ret, code->bytes + at, size);
	return true;
}
