/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "store/blob_piece.h"
#include "store/code_batch.h"
#include "store/column_set.h"
#include "store/recording_data.h"
#include "store/trace_batch.h"

/* Loading. */

static const char *take_data(struct recording *r, const struct format_entry *b,
			     struct reader payload)
{
	struct column_set s;

	if (!column_set_parse(payload.at, reader_left(&payload), &s))
		return "content";
	if (!column_set_is_known(&s, r->dictionary.n))
		return "references";

	struct data_block block = { b->offset, s.head.summary };

	if (b->kind == FORMAT_SAMPLES)
		*vec_push(&r->samples) = block;
	else
		*vec_push(&r->traces) = block;
	return NULL;
}

static const char *take_piece(struct recording *r, const struct format_entry *b,
			      struct reader payload)
{
	struct blob_piece p;

	if (!blob_piece_parse(payload.at, reader_left(&payload), &p))
		return "content";
	if (p.blob >= r->dictionary.n[FORMAT_BLOBS])
		return "references";
	*vec_push(&r->pieces) =
		(struct piece_place){ b->offset, p.offset, p.blob, p.raw_size };
	return NULL;
}

static const char *take_code(struct recording *r, const struct format_entry *b,
			     struct reader payload)
{
	uint32_t *n = &r->dictionary.n[FORMAT_BASIC_BLOCKS];
	struct column_set s;

	if (!column_set_parse(payload.at, reader_left(&payload), &s))
		return "content";
	if (!code_batch_is_known(&s, r->dictionary.n))
		return "references";

	struct data_block block = { b->offset, s.head.summary };

	if (b->kind == FORMAT_EDGES) {
		*vec_push(&r->edges) = block;
		return NULL;
	}
	if (b->kind == FORMAT_DIRECTIONS) {
		*vec_push(&r->directions) = block;
		return NULL;
	}
	if (b->kind == FORMAT_ANCHORS) {
		*vec_push(&r->anchors) = block;
		return NULL;
	}
	if (b->kind == FORMAT_ANCHOR_WAYS) {
		*vec_push(&r->anchor_ways) = block;
		return NULL;
	}
	if (b->kind == FORMAT_GAUGES) {
		*vec_push(&r->gauges) = block;
		return NULL;
	}
	if (b->kind == FORMAT_ACCESSES) {
		*vec_push(&r->accesses) = block;
		return NULL;
	}
	if (block.summary.first != *n || block.summary.n > UINT32_MAX - *n)
		return "numbering";
	*n += (uint32_t)block.summary.n;
	*vec_push(&r->basic_blocks) = block;
	return NULL;
}

static const char *take(struct recording *r, const struct format_entry *b,
			struct reader payload)
{
	if (b->kind == FORMAT_SAMPLES || b->kind == FORMAT_TRACES)
		return take_data(r, b, payload);
	if (r->source.inner_from)
		return b->kind == FORMAT_FACTS
			       ? dictionary_add_facts(&r->dictionary, payload)
			       : "kind";
	if (b->kind == FORMAT_BLOB_PIECE)
		return take_piece(r, b, payload);
	if (format_is_code(b->kind))
		return take_code(r, b, payload);
	return dictionary_apply(&r->dictionary, b->kind, payload);
}

bool recording_wants(unsigned kind)
{
	return dictionary_has_kind(kind) || kind == FORMAT_SAMPLES ||
	       kind == FORMAT_TRACES || kind == FORMAT_BLOB_PIECE || format_is_code(kind);
}

/* Every block is verified once, so that what a report will read is known to be whole
 * before its first number is shown. */
int recording_load_block(struct recording *r, const struct format_entry *b, struct err *e)
{
	struct err why = { 0 };
	struct reader payload;
	int rc = block_source_payload(&r->source, b->offset, b->kind, &r->stored, &r->raw,
				      &payload, &why);

	r->n_read_bytes += b->stored_size;
	if (rc == ERR_OS) {
		if (e)
			*e = why;
		return rc;
	}

	const char *refused = rc == 0 ? take(r, b, payload) : NULL;

	if (rc < 0)
		damage_note(&r->damage, "%s", why.text);
	else if (refused)
		damage_note(&r->damage,
			    "damaged at byte %" PRIu64 ": %s of a block of %s", b->offset,
			    refused, format_kind_name(b->kind));
	if ((rc < 0 || refused) && b->kind == FORMAT_SAMPLES)
		r->damage.n_samples += b->summary.n;
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece_place *x = a, *y = b;

	if (x->blob != y->blob)
		return x->blob < y->blob ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void recording_settle(struct recording *r)
{
	if (r->pieces.n)
		qsort(r->pieces.at, r->pieces.n, sizeof(*r->pieces.at), compare_pieces);
	buf_fini(&r->stored);
	buf_fini(&r->raw);
	dictionary_trim(&r->dictionary);
	r->damage_line = damage_line(&r->damage, r->list.is_closed, r->list.whole_bytes);
	recording_tell_interim(r);
}

static int load(struct recording *r, bool is_growing, struct err *e)
{
	int rc;

	r->list.is_growing = is_growing;
	rc = block_list_read(&r->list, &r->source, &r->damage, e);
	if (!r->source.has_whole_header)
		damage_note(&r->damage, "damaged at byte 0: the file header");
	if (rc == 0 && r->list.has_interim && !r->list.is_closed && !is_growing)
		rc = recording_find_interim(r, e);
	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++)
		if (recording_wants(r->list.blocks.at[i].kind))
			rc = recording_load_block(r, &r->list.blocks.at[i], e);
	if (rc == 0 && r->interim.generation)
		rc = recording_load_interim(r, e);
	recording_settle(r);
	return rc;
}

static int open_recording(const char *path, bool is_growing, struct recording **ret,
			  struct err *e)
{
	own(recording_freep) struct recording *r = xcalloc(1, sizeof(*r));
	int rc = block_source_open(&r->source, path, e);

	if (rc < 0)
		return rc;
	dictionary_init(&r->dictionary, r->source.size);
	rc = load(r, is_growing, e);
	if (rc < 0)
		return err_in(e, rc, path);
	*ret = steal(&r);
	return 0;
}

int recording_open(const char *path, struct recording **ret, struct err *e)
{
	return open_recording(path, false, ret, e);
}

int recording_open_growing(const char *path, struct recording **ret, struct err *e)
{
	return open_recording(path, true, ret, e);
}

int recording_follow(struct recording *r, struct err *e)
{
	size_t i = r->list.blocks.n;
	int rc = block_source_follow(&r->source, e);

	r->list.is_growing = true;
	dictionary_grow(&r->dictionary, r->source.size);
	if (rc == 0)
		rc = block_list_follow(&r->list, &r->source, &r->damage, e);
	for (; i < r->list.blocks.n && rc == 0; i++)
		if (recording_wants(r->list.blocks.at[i].kind))
			rc = recording_load_block(r, &r->list.blocks.at[i], e);
	recording_settle(r);
	return rc < 0 ? err_in(e, rc, r->source.path) : 0;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	block_source_fini(&r->source);
	block_list_fini(&r->list);
	dictionary_fini(&r->dictionary);
	vec_fini(&r->samples);
	vec_fini(&r->traces);
	vec_fini(&r->basic_blocks);
	vec_fini(&r->edges);
	vec_fini(&r->directions);
	vec_fini(&r->anchors);
	vec_fini(&r->anchor_ways);
	vec_fini(&r->gauges);
	vec_fini(&r->accesses);
	vec_fini(&r->pieces);
	sums_marks_fini(&r->marks);
	buf_fini(&r->stored);
	buf_fini(&r->raw);
	free(r);
}

void recording_freep(struct recording **r)
{
	recording_free(*r);
}

const char *recording_path(const struct recording *r)
{
	return r->source.path;
}

void recording_set_name(struct recording *r, const char *name)
{
	char *copy = xstrdup(name);

	free(r->source.path);
	r->source.path = copy;
}

const char *recording_damage(const struct recording *r)
{
	return r->damage_line;
}

bool recording_is_complete(const struct recording *r)
{
	return r->list.is_closed;
}

uint64_t recording_bytes(const struct recording *r)
{
	return r->source.size;
}

uint64_t recording_read_bytes(const struct recording *r)
{
	return r->n_read_bytes;
}

/* Dictionaries. */

const char *recording_string(const struct recording *r, uint32_t id)
{
	return id < r->dictionary.strings.n ? r->dictionary.strings.at[id] : "";
}

const char *recording_info(const struct recording *r, const char *key)
{
	uint32_t id = intern_find(r->dictionary.info_keys, key, strlen(key));

	return id && id != UINT32_MAX ? r->dictionary.infos.at[id - 1] : NULL;
}

size_t recording_info_count(const struct recording *r)
{
	return r->dictionary.infos.n;
}

void recording_info_at(const struct recording *r, size_t i, const char **key,
		       const char **value)
{
	*key = intern_get(r->dictionary.info_keys, (uint32_t)i + 1);
	*value = i < r->dictionary.infos.n ? r->dictionary.infos.at[i] : "";
}

#define COUNT(things, kind)                                                              \
	uint32_t recording_n_##things(const struct recording *r)                         \
	{                                                                                \
		return r->dictionary.n[kind];                                            \
	}

COUNT(images, FORMAT_IMAGES)
COUNT(locations, FORMAT_LOCATIONS)
COUNT(stacks, FORMAT_STACKS)
COUNT(processes, FORMAT_PROCESSES)
COUNT(threads, FORMAT_THREADS)
COUNT(events, FORMAT_EVENTS)
COUNT(mappings, FORMAT_MAPPINGS)
COUNT(intervals, FORMAT_INTERVALS)
COUNT(facts, FORMAT_FACTS)
COUNT(trace_types, FORMAT_TRACE_TYPES)
COUNT(basic_blocks, FORMAT_BASIC_BLOCKS)

#define ITEM(thing, kind)                                                                \
	const struct model_##thing *recording_##thing(const struct recording *r,         \
						      uint32_t id)                       \
	{                                                                                \
		return record_list_get(&r->dictionary.lists[kind], id);                  \
	}

ITEM(image, FORMAT_IMAGES)
ITEM(process, FORMAT_PROCESSES)
ITEM(thread, FORMAT_THREADS)
ITEM(event, FORMAT_EVENTS)
ITEM(mapping, FORMAT_MAPPINGS)
ITEM(interval, FORMAT_INTERVALS)
ITEM(fact, FORMAT_FACTS)
ITEM(trace_type, FORMAT_TRACE_TYPES)

const struct model_location *recording_locations(const struct recording *r)
{
	return r->dictionary.locations.at;
}

const struct model_stack *recording_stacks(const struct recording *r)
{
	return r->dictionary.stacks.at;
}

bool recording_find_fact(const struct recording *r, enum fact_kind kind, const char *name,
			 uint32_t event, uint32_t process, uint64_t *ret)
{
	for (uint32_t i = recording_n_facts(r); i-- > 0;) {
		const struct model_fact *f = recording_fact(r, i);

		if (f->kind == kind && f->event == event && f->process == process &&
		    strcmp(recording_string(r, f->name), name) == 0) {
			*ret = f->value;
			return true;
		}
	}
	return false;
}

/* Samples. */

size_t recording_n_sample_blocks(const struct recording *r)
{
	return r->samples.n;
}

void recording_sample_block_range(const struct recording *r, size_t i, uint64_t *from_ns,
				  uint64_t *to_ns, size_t *n)
{
	const struct format_summary *s = &r->samples.at[i].summary;

	*from_ns = s->from_ns;
	*to_ns = s->to_ns;
	*n = (size_t)s->n;
}

/* The verified content of a data block that was fine when the recording was opened. */
static int read_data(const struct recording *r, const struct data_block *d, unsigned kind,
		     struct buf *stored, struct buf *raw, struct column_set *ret,
		     struct err *e)
{
	struct reader payload;
	int rc = block_source_payload(&r->source, d->offset, kind, stored, raw, &payload,
				      e);

	if (rc < 0)
		return err_in(e, rc, r->source.path);
	if (!column_set_parse(payload.at, reader_left(&payload), ret) ||
	    ret->head.summary.n != d->summary.n)
		return err_set(e, ERR_FORMAT, "%s: changed at byte %" PRIu64,
			       r->source.path, d->offset);
	return 0;
}

int recording_read_samples(const struct recording *r, size_t i, unsigned columns,
			   struct sample_block *b, struct err *e)
{
	const struct data_block *d = &r->samples.at[i];
	struct column_set s;
	int rc = read_data(r, d, FORMAT_SAMPLES, &b->stored, &b->raw, &s, e);

	b->n = 0;
	if (rc < 0)
		return rc;
	if (!sample_block_decode(b, &s, columns, r->dictionary.n))
		return err_set(e, ERR_FORMAT, "%s: wrong samples at byte %" PRIu64,
			       r->source.path, d->offset);
	return 0;
}

/* Trace events. */

static bool is_trace_known(const struct recording *r, const struct model_trace *t)
{
	const struct model_trace_type *type = recording_trace_type(r, t->trace_type);

	if (!type || t->thread >= recording_n_threads(r) ||
	    t->stack >= recording_n_stacks(r))
		return false;
	for (uint32_t i = 0; i < type->n_columns; i++)
		if (type->columns[i].type == COLUMN_STRING &&
		    t->values[i] >= r->dictionary.n[FORMAT_STRINGS])
			return false;
	return true;
}

static int each_of_block(const struct recording *r, const struct data_block *d,
			 const struct trace_batch *batch, recording_trace_fn *fn,
			 void *ctx, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < batch->rows.n && rc == 0; i++) {
		if (!is_trace_known(r, &batch->rows.at[i]))
			return err_set(e, ERR_FORMAT,
				       "%s: wrong trace events at byte %" PRIu64,
				       r->source.path, d->offset);
		rc = fn(ctx, &batch->rows.at[i], e);
	}
	return rc;
}

int recording_each_trace(const struct recording *r, recording_trace_fn *fn, void *ctx,
			 struct err *e)
{
	own(buf_fini) struct buf stored = { 0 };
	own(buf_fini) struct buf raw = { 0 };
	own(trace_batch_fini) struct trace_batch batch = { 0 };
	int rc = 0;

	for (size_t i = 0; i < r->traces.n && rc == 0; i++) {
		const struct data_block *d = &r->traces.at[i];
		struct column_set s;

		rc = read_data(r, d, FORMAT_TRACES, &stored, &raw, &s, e);
		if (rc == 0 && !trace_batch_decode(&batch, &s, &raw))
			rc = err_set(e, ERR_FORMAT,
				     "%s: wrong trace events at byte %" PRIu64,
				     r->source.path, d->offset);
		if (rc == 0)
			rc = each_of_block(r, d, &batch, fn, ctx, e);
	}
	return rc;
}

/* Basic blocks and edges. */

static int read_code(const struct recording *r, const struct data_block *d,
		     enum format_kind kind, struct code_batch *ret, struct err *e)
{
	own(buf_fini) struct buf stored = { 0 };
	own(buf_fini) struct buf raw = { 0 };
	struct column_set s;
	int rc = read_data(r, d, kind, &stored, &raw, &s, e);

	if (rc < 0)
		return rc;

	own(buf_fini) struct buf scratch = { 0 };

	if (!code_batch_decode(ret, &s, r->dictionary.n, &scratch))
		return err_set(e, ERR_FORMAT, "%s: wrong %s at byte %" PRIu64,
			       r->source.path, format_kind_name(kind), d->offset);
	return 0;
}

int recording_each_basic_block(const struct recording *r, recording_basic_block_fn *fn,
			       void *ctx, struct err *e)
{
	own(code_batch_fini) struct code_batch batch = {
		.layout = &code_batch_basic_blocks
	};
	uint32_t id = 0;
	int rc = 0;

	for (size_t i = 0; i < r->basic_blocks.n && rc == 0; i++) {
		rc = read_code(r, &r->basic_blocks.at[i], FORMAT_BASIC_BLOCKS, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, id++, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_edge(const struct recording *r, recording_edge_fn *fn, void *ctx,
			struct err *e)
{
	own(code_batch_fini) struct code_batch batch = { .layout = &code_batch_edges };
	int rc = 0;

	for (size_t i = 0; i < r->edges.n && rc == 0; i++) {
		rc = read_code(r, &r->edges.at[i], FORMAT_EDGES, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_direction(const struct recording *r, recording_direction_fn *fn,
			     void *ctx, struct err *e)
{
	own(code_batch_fini) struct code_batch batch = { .layout =
								 &code_batch_directions };
	int rc = 0;

	for (size_t i = 0; i < r->directions.n && rc == 0; i++) {
		rc = read_code(r, &r->directions.at[i], FORMAT_DIRECTIONS, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_anchor(const struct recording *r, recording_anchor_fn *fn, void *ctx,
			  struct err *e)
{
	own(code_batch_fini) struct code_batch batch = { .layout = &code_batch_anchors };
	int rc = 0;

	for (size_t i = 0; i < r->anchors.n && rc == 0; i++) {
		rc = read_code(r, &r->anchors.at[i], FORMAT_ANCHORS, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_anchor_way(const struct recording *r, recording_anchor_way_fn *fn,
			      void *ctx, struct err *e)
{
	own(code_batch_fini) struct code_batch batch = {
		.layout = &code_batch_anchor_ways
	};
	int rc = 0;

	for (size_t i = 0; i < r->anchor_ways.n && rc == 0; i++) {
		rc = read_code(r, &r->anchor_ways.at[i], FORMAT_ANCHOR_WAYS, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_access(const struct recording *r, recording_access_fn *fn, void *ctx,
			  struct err *e)
{
	own(code_batch_fini) struct code_batch batch = { .layout = &code_batch_accesses };
	int rc = 0;

	for (size_t i = 0; i < r->accesses.n && rc == 0; i++) {
		rc = read_code(r, &r->accesses.at[i], FORMAT_ACCESSES, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

int recording_each_gauge(const struct recording *r, recording_gauge_fn *fn, void *ctx,
			 struct err *e)
{
	own(code_batch_fini) struct code_batch batch = { .layout = &code_batch_gauges };
	int rc = 0;

	for (size_t i = 0; i < r->gauges.n && rc == 0; i++) {
		rc = read_code(r, &r->gauges.at[i], FORMAT_GAUGES, &batch, e);
		for (size_t k = 0; k < batch.n && rc == 0; k++)
			rc = fn(ctx, code_batch_row(&batch, k), e);
	}
	return rc;
}

/* Files inside. */

size_t recording_n_blobs(const struct recording *r)
{
	return r->dictionary.n[FORMAT_BLOBS];
}

const struct model_blob *recording_blob(const struct recording *r, size_t i)
{
	return i < recording_n_blobs(r)
		       ? record_list_get(&r->dictionary.lists[FORMAT_BLOBS], (uint32_t)i)
		       : NULL;
}

static size_t first_piece(const struct recording *r, uint32_t blob)
{
	return search_split(r->pieces.n, i, r->pieces.at[i].blob < blob);
}

/* All pieces are there, one after the other. */
static bool is_blob_whole(const struct recording *r, uint32_t blob, uint64_t size)
{
	uint64_t end = 0;

	for (size_t i = first_piece(r, blob);
	     i < r->pieces.n && r->pieces.at[i].blob == blob; i++) {
		if (r->pieces.at[i].offset != end)
			return false;
		end += r->pieces.at[i].raw_size;
	}
	return end == size && size <= r->dictionary.max_bytes;
}

static int read_piece(const struct recording *r, const struct piece_place *place,
		      struct buf *stored, struct buf *ret, struct err *e)
{
	own(buf_fini) struct buf raw = { 0 };
	struct blob_piece p;
	struct reader payload;
	int rc = block_source_payload(&r->source, place->block_off, FORMAT_BLOB_PIECE,
				      stored, &raw, &payload, e);

	if (rc < 0)
		return err_in(e, rc, r->source.path);
	if (!blob_piece_parse(payload.at, reader_left(&payload), &p) ||
	    p.raw_size != place->raw_size || !blob_piece_append(&p, ret))
		return err_set(e, ERR_FORMAT, "%s: wrong file content at byte %" PRIu64,
			       r->source.path, place->block_off);
	return 0;
}

int recording_read_blob(const struct recording *r, size_t i, struct buf *ret,
			struct err *e)
{
	const struct model_blob *blob = recording_blob(r, i);
	own(buf_fini) struct buf stored = { 0 };
	int rc = 0;

	if (!blob || !is_blob_whole(r, (uint32_t)i, blob->size_bytes))
		return err_set(e, ERR_FORMAT, "%s: the file '%s' in it is not whole",
			       r->source.path,
			       blob ? recording_string(r, blob->name) : "");
	buf_clear(ret);
	for (size_t p = first_piece(r, (uint32_t)i);
	     p < r->pieces.n && r->pieces.at[p].blob == i && rc == 0; p++)
		rc = read_piece(r, &r->pieces.at[p], &stored, ret, e);
	return rc;
}

/* For the writer. */

const struct dictionary *recording_dictionary(const struct recording *r)
{
	return &r->dictionary;
}

const struct block_list *recording_blocks(const struct recording *r)
{
	return &r->list;
}

bool recording_is_sound(const struct recording *r)
{
	return !r->damage.n_findings;
}
