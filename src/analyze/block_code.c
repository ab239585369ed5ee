/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_code.h"

#include <elf.h>
#include <stdlib.h>

#include "base/mem.h"

#define MAX_GAP	  4096	    /* between two blocks whose code is read at once */
#define MAX_CHUNK (4 << 20) /* bytes */

struct span {
	uint64_t address, end; /* link-time */
	uint32_t image;	       /* the symbolizer's */
	uint32_t block;
};

struct reading {
	struct block_code *to;
	const struct block_graph *g;
	struct symbolizer *symbolizer;
	struct operation_reader *reader;
	struct span *spans; /* by image and address */
	size_t n_spans;
};

static void reading_fini(struct reading *r)
{
	operation_reader_free(r->reader);
	free(r->spans);
}

void block_code_fini(struct block_code *c)
{
	vec_fini(&c->operations);
	free(c->first);
	free(c->n);
}

static int by_address(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Frames know where their code is once it is linked. */
static void find_spans(struct reading *r, const struct profile *p, const struct input *s,
		       uint32_t source)
{
	r->spans = xcalloc(r->g->blocks.n + 1, sizeof(*r->spans));
	for (uint32_t i = 0; i < r->g->blocks.n; i++) {
		const struct block_graph_block *b = &r->g->blocks.at[i];
		const struct model_location *l = &s->locations[b->location];

		if (!s->n_frames[b->location])
			continue;

		uint64_t address = p->frames.at[s->first_frame[b->location]].address;

		r->spans[r->n_spans++] = (struct span){
			.address = address,
			.end = address + b->size_bytes,
			.image = profile_sym_image(p, source, l->image),
			.block = i,
		};
	}
	qsort(r->spans, r->n_spans, sizeof(*r->spans), by_address);
}

static void decode(struct reading *r, const struct span *span, const uint8_t *code)
{
	size_t size = span->end - span->address;
	uint32_t first = (uint32_t)r->to->operations.n;

	for (size_t at = 0; at < size;) {
		struct operation *o = vec_push(&r->to->operations);

		if (!operation_read(r->reader, code + at, size - at, span->address + at,
				    o)) {
			r->to->operations.n = first; /* not what was executed */
			return;
		}
		at += o->size;
	}
	r->to->first[span->block] = first;
	r->to->n[span->block] = (uint32_t)r->to->operations.n - first;
}

/* Those from i on that are read at once: up to which, and where their code ends. */
static size_t chunk_end(const struct reading *r, size_t i, uint64_t *ret)
{
	const struct span *from = &r->spans[i];
	uint64_t end = from->end;

	for (i++; i < r->n_spans; i++) {
		const struct span *s = &r->spans[i];

		if (s->image != from->image || s->address > end + MAX_GAP ||
		    s->end - from->address > MAX_CHUNK)
			break;
		if (s->end > end)
			end = s->end;
	}
	*ret = end;
	return i;
}

static bool read_bytes(struct reading *r, const struct span *from, uint64_t end,
		       struct buf *ret)
{
	ret->size = 0;
	return symbolizer_code(r->symbolizer, from->image, from->address,
			       end - from->address, ret, NULL) == 0 &&
	       ret->size == end - from->address;
}

/* A chunk may reach over the end of a section: then one by one. */
static void read_chunk(struct reading *r, size_t i, size_t end, uint64_t end_address,
		       struct buf *bytes)
{
	const struct span *from = &r->spans[i];
	bool is_whole = read_bytes(r, from, end_address, bytes);

	for (; i < end; i++) {
		const struct span *s = &r->spans[i];

		if (is_whole)
			decode(r, s, bytes->data + (s->address - from->address));
		else if (read_bytes(r, s, s->end, bytes))
			decode(r, s, bytes->data);
	}
}

static void read_all(struct reading *r)
{
	struct buf bytes = { 0 };
	uint64_t end_address;

	for (size_t i = 0, end; i < r->n_spans; i = end) {
		end = chunk_end(r, i, &end_address);
		if (symbolizer_machine(r->symbolizer, r->spans[i].image) == EM_X86_64)
			read_chunk(r, i, end, end_address, &bytes);
	}
	buf_fini(&bytes);
}

int block_code_read(struct block_code *ret, const struct profile *p,
		    const struct input *s, uint32_t source, const struct block_graph *g,
		    struct err *e)
{
	own(reading_fini) struct reading r = { .to = ret,
					       .g = g,
					       .symbolizer = p->symbolizer };
	int rc = operation_reader_new(EM_X86_64, &r.reader, e);

	*ret = (struct block_code){ 0 };
	if (rc < 0)
		return rc;
	ret->first = xcalloc(g->blocks.n + 1, sizeof(*ret->first));
	ret->n = xcalloc(g->blocks.n + 1, sizeof(*ret->n));
	find_spans(&r, p, s, source);
	read_all(&r);
	return 0;
}
