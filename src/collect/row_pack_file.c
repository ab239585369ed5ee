/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/row_pack_file.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/reader.h"

#define MAGIC	     UINT64_C(0x6b63706c6c657764) /* "dwellpck" */
#define VERSION	     2
#define HEADER_BYTES 40

static size_t rules_bytes(const struct row_pack *p)
{
	return p->rules.n * sizeof(*p->rules.at);
}

static size_t words_bytes(const struct row_pack *p)
{
	return p->words.n * sizeof(*p->words.at);
}

static uint32_t body_crc(const struct row_pack *p)
{
	return crc32c(crc32c(0, p->rules.at, rules_bytes(p)), p->words.at,
		      words_bytes(p));
}

void row_pack_file_format(const struct row_pack *p, uint32_t layout, struct buf *to)
{
	buf_clear(to);
	buf_u64le(to, MAGIC);
	buf_u32le(to, VERSION);
	buf_u32le(to, layout);
	buf_u32le(to, p->first_block);
	buf_u32le(to, p->n_blocks);
	buf_u32le(to, (uint32_t)p->rules.n);
	buf_u32le(to, row_pack_n_pages(p));
	buf_u32le(to, body_crc(p));
	buf_u32le(to, crc32c(0, to->data, to->size));
	if (p->rules.n)
		buf_add(to, p->rules.at, rules_bytes(p));
	if (p->words.n)
		buf_add(to, p->words.at, words_bytes(p));
}

struct header {
	uint64_t magic;
	uint32_t version, layout;
	uint32_t first_block, n_blocks, n_rules, n_pages;
	uint32_t body_crc, crc;
};

static struct header read_header(struct reader *r)
{
	return (struct header){
		.magic = reader_u64le(r),
		.version = reader_u32le(r),
		.layout = reader_u32le(r),
		.first_block = reader_u32le(r),
		.n_blocks = reader_u32le(r),
		.n_rules = reader_u32le(r),
		.n_pages = reader_u32le(r),
		.body_crc = reader_u32le(r),
		.crc = reader_u32le(r),
	};
}

/* The counts are bounded by the bytes that are there. */
static void take_body(struct reader *r, const struct header *h, struct row_pack *p)
{
	size_t n_words = (size_t)h->n_pages * STACK_ROWS_PAGE_WORDS;
	const uint8_t *rules = reader_bytes(r, h->n_rules * sizeof(*p->rules.at));
	const uint8_t *words = reader_bytes(r, n_words * sizeof(*p->words.at));

	if (r->bad)
		return;
	if (h->n_rules)
		p->rules.at = xmemdup(rules, h->n_rules * sizeof(*p->rules.at));
	if (n_words)
		p->words.at = xmemdup(words, n_words * sizeof(*p->words.at));
	p->rules.n = p->rules.cap = h->n_rules;
	p->words.n = p->words.cap = n_words;
}

int row_pack_file_parse(const void *data, size_t size, uint32_t layout,
			struct row_pack *ret, struct err *e)
{
	own(row_pack_fini) struct row_pack p = { 0 };
	struct reader r = reader_over(data, size);
	struct header h = read_header(&r);
	int rc;

	if (r.bad || h.magic != MAGIC || h.version != VERSION ||
	    h.crc != crc32c(0, data, HEADER_BYTES - sizeof(h.crc)))
		return err_set(e, ERR_FORMAT, "no packed unwind rows");
	if (h.layout != layout)
		return err_set(e, ERR_UNSUPPORTED, "of a file with its code elsewhere");
	take_body(&r, &h, &p);
	if (r.bad || reader_left(&r) || body_crc(&p) != h.body_crc)
		return err_set(e, ERR_FORMAT, "packed unwind rows are damaged");
	p.first_block = h.first_block;
	p.n_blocks = h.n_blocks;
	p.n_index_pages = row_pack_n_index_pages(p.n_blocks);
	rc = row_pack_check(&p, e);
	if (rc < 0)
		return rc;
	*ret = p;
	p = (struct row_pack){ 0 };
	return 0;
}
