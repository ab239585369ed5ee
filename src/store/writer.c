/* SPDX-License-Identifier: Apache-2.0 */
#include "store/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/blob_piece.h"
#include "store/writer_data.h"

#define STRING_MAX_BYTES (1u << 20) /* longer ones are cut */

static int set_owner(struct writer *w, struct err *e)
{
	const struct writer_options *o = &w->options;

	if (!o->has_owner || fchown(w->sink.file.fd, o->uid, o->gid) == 0)
		return 0;
	return err_os(e, "cannot give '%s' to user %u", w->sink.file.path, o->uid);
}

struct writer *writer_new(const struct writer_options *options)
{
	struct writer *w = xcalloc(1, sizeof(*w));

	w->options = options ? *options : (struct writer_options){ 0 };
	w->samples.is_merged = w->options.no_time;
	w->basic_blocks.layout = &code_batch_basic_blocks;
	w->edges.layout = &code_batch_edges;
	w->directions.layout = &code_batch_directions;
	w->anchors.layout = &code_batch_anchors;
	w->anchor_ways.layout = &code_batch_anchor_ways;
	w->gauges.layout = &code_batch_gauges;
	w->accesses.layout = &code_batch_accesses;
	w->strings = intern_new();
	w->n_strings_written = 1; /* "" goes without saying */
	w->image_keys = intern_new();
	w->fact_keys = intern_new();
	for (size_t i = 0; i < WRITER_N_RECORD_KINDS; i++)
		record_list_init(&w->lists[writer_record_kinds[i]],
				 writer_record_kinds[i]);
	return w;
}

int writer_create(const char *path, const struct writer_options *options,
		  struct writer **ret, struct err *e)
{
	own(writer_freep) struct writer *w = writer_new(options);
	int rc = 0;

	if (w->options.is_patient)
		block_sink_create_patient(&w->sink, path);
	else
		rc = block_sink_create(&w->sink, path, e);
	if (rc < 0)
		return rc;
	if (w->options.keeps_room)
		growing_file_keep(&w->sink.file, WRITER_CLOSING_BYTES);
	w->sink.squeeze.level = w->options.level;
	rc = set_owner(w, e);
	if (rc < 0) {
		unlink(path);
		return rc;
	}
	*ret = steal(&w);
	return 0;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < WRITER_N_RECORD_KINDS; i++)
		record_list_fini(&w->lists[writer_record_kinds[i]]);
	intern_free(w->strings);
	intern_free(w->image_keys);
	intern_free(w->fact_keys);
	location_table_fini(&w->locations);
	stack_table_fini(&w->stacks);
	sample_batch_fini(&w->samples);
	trace_batch_fini(&w->traces);
	code_batch_fini(&w->basic_blocks);
	code_batch_fini(&w->edges);
	code_batch_fini(&w->directions);
	code_batch_fini(&w->anchors);
	code_batch_fini(&w->anchor_ways);
	code_batch_fini(&w->gauges);
	code_batch_fini(&w->accesses);
	writer_interim_fini(&w->interim);
	buf_fini(&w->infos);
	buf_fini(&w->payload);
	buf_fini(&w->key);
	vec_fini(&w->column);
	block_sink_fini(&w->sink);
	free(w);
}

void writer_freep(struct writer **w)
{
	writer_free(*w);
}

static void state_losses(struct writer *w)
{
	const struct {
		const char *name;
		uint64_t n;
	} losses[] = {
		{ "unwritten-samples", w->lost_samples },
		{ "unwritten-events", w->lost_traces },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (!losses[i].n)
			continue;
		writer_fact(w, &(struct model_fact){
				       .kind = FACT_LOSS,
				       .name = writer_string(w, losses[i].name),
				       .unit = writer_string(w, "count"),
				       .event = MODEL_NONE,
				       .process = MODEL_NONE,
				       .value = losses[i].n,
			       });
	}
}

static int finish(struct writer *w, struct err *e)
{
	int rc;

	/* Now comes what it was kept for; after a failure, too: a disk too full for data
	 * may have room for the loss. */
	growing_file_keep(&w->sink.file, 0);
	rc = writer_flush_blocks(w, e);
	state_losses(w);
	if (writer_append_explanations(w, rc < 0 ? NULL : e) < 0)
		return w->failure.code;
	/* All of it is told now. */
	block_sink_drop_interim(&w->sink);
	if (block_sink_finish(&w->sink, rc < 0 ? NULL : e) < 0)
		return rc < 0 ? rc : ERR_OS;
	return rc;
}

int writer_finish(struct writer *w, struct growing_file *ret, struct err *e)
{
	int rc = finish(w, e);

	*ret = w->sink.file;
	w->sink.file = (struct growing_file){ .fd = -1 };
	writer_free(w);
	return rc;
}

int writer_close(struct writer *w, struct err *e)
{
	own(growing_file_fini) struct growing_file file = { .fd = -1 };
	int rc = writer_finish(w, &file, e);

	if (rc == 0)
		rc = growing_file_settle(&file, e);
	return rc < 0 ? rc : growing_file_close(&file, e);
}

/* Dictionaries. */

uint32_t writer_strn(struct writer *w, const char *s, size_t n)
{
	return intern_add(w->strings, s, n < STRING_MAX_BYTES ? n : STRING_MAX_BYTES);
}

uint32_t writer_string(struct writer *w, const char *s)
{
	return s ? writer_strn(w, s, strlen(s)) : 0;
}

/* The id of an item of this content; an intern id is one more, as 0 is "". */
static uint32_t intern_key(struct intern *keys, const struct buf *key)
{
	return intern_add(keys, (const char *)key->data, key->size) - 1;
}

uint32_t writer_image(struct writer *w, const struct model_image *image)
{
	struct record_list *l = &w->lists[FORMAT_IMAGES];

	buf_clear(&w->key);
	layout_encode(l->layout, 0, image, &w->key);

	uint32_t id = intern_key(w->image_keys, &w->key);

	return id < l->n ? id : record_list_add(l, image);
}

uint32_t writer_location(struct writer *w, uint32_t image, uint64_t offset,
			 uint32_t flags)
{
	const struct model_location l = { .image = image,
					  .flags = flags,
					  .offset = offset };

	assert(image < w->lists[FORMAT_IMAGES].n);
	return location_table_add(&w->locations, &l);
}

uint32_t writer_stack(struct writer *w, uint32_t parent, uint32_t location)
{
	assert(parent <= w->stacks.n && location < w->locations.all.n);
	return stack_table_add(&w->stacks, parent, location);
}

struct model_stack *writer_stacks(const struct writer *w)
{
	return stack_table_nodes(&w->stacks);
}

uint32_t writer_event(struct writer *w, const struct model_event *event)
{
	return record_list_add(&w->lists[FORMAT_EVENTS], event);
}

uint32_t writer_process(struct writer *w, const struct model_process *process)
{
	return record_list_add(&w->lists[FORMAT_PROCESSES], process);
}

uint32_t writer_thread(struct writer *w, const struct model_thread *thread)
{
	assert(thread->process < w->lists[FORMAT_PROCESSES].n);
	return record_list_add(&w->lists[FORMAT_THREADS], thread);
}

uint32_t writer_trace_type(struct writer *w, const struct model_trace_type *type)
{
	assert(type->event < w->lists[FORMAT_EVENTS].n &&
	       type->n_columns <= MODEL_TRACE_COLUMNS_MAX);
	return record_list_add(&w->lists[FORMAT_TRACE_TYPES], type);
}

const struct model_process *writer_process_get(const struct writer *w, uint32_t id)
{
	return record_list_get(&w->lists[FORMAT_PROCESSES], id);
}

const struct model_thread *writer_thread_get(const struct writer *w, uint32_t id)
{
	return record_list_get(&w->lists[FORMAT_THREADS], id);
}

void writer_process_update(struct writer *w, uint32_t id,
			   const struct model_process *process)
{
	record_list_update(&w->lists[FORMAT_PROCESSES], id, process);
}

void writer_thread_update(struct writer *w, uint32_t id,
			  const struct model_thread *thread)
{
	record_list_update(&w->lists[FORMAT_THREADS], id, thread);
}

/* Data. */

static void flush_if_full(struct writer *w, bool is_full)
{
	if (is_full && writer_flush(w, NULL) < 0)
		return; /* kept in w->failure */
}

void writer_sample(struct writer *w, const struct model_sample *s)
{
	assert(s->event < w->lists[FORMAT_EVENTS].n);
	assert(s->thread < w->lists[FORMAT_THREADS].n && s->stack <= w->stacks.n);
	if (w->interim.is_open) {
		writer_interim_sample(w, s);
		return;
	}
	if (w->has_failed || w->is_full) {
		w->lost_samples += s->count;
		return;
	}
	sample_batch_add(&w->samples, s);
	flush_if_full(w, sample_batch_is_full(&w->samples));
}

void writer_trace(struct writer *w, const struct model_trace *t)
{
	const struct model_trace_type *type =
		record_list_get(&w->lists[FORMAT_TRACE_TYPES], t->trace_type);

	assert(type && t->thread < w->lists[FORMAT_THREADS].n && t->stack <= w->stacks.n);
	if (w->interim.is_open) {
		writer_interim_trace(w, t, type->n_columns);
		return;
	}
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	trace_batch_add(&w->traces, t, type->n_columns);
	flush_if_full(w, trace_batch_is_full(&w->traces));
}

uint32_t writer_basic_block(struct writer *w, const struct model_basic_block *block)
{
	assert(block->process < w->lists[FORMAT_PROCESSES].n &&
	       block->location < w->locations.all.n);
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return w->n_basic_blocks;
	}
	code_batch_add(&w->basic_blocks, block);
	w->n_basic_blocks++;
	flush_if_full(w, code_batch_is_full(&w->basic_blocks));
	return w->n_basic_blocks - 1;
}

void writer_edge(struct writer *w, const struct model_edge *edge)
{
	assert(edge->location == MODEL_NONE || edge->location < w->locations.all.n);
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	assert(edge->block < w->n_basic_blocks);
	code_batch_add(&w->edges, edge);
	flush_if_full(w, code_batch_is_full(&w->edges));
}

/* Taken here, or appended by whoever numbers them. */
static bool has_location(const struct writer *w, uint32_t id)
{
	return id < w->locations.all.n || id < w->n_locations;
}

void writer_direction(struct writer *w, const struct model_direction *direction)
{
	assert(direction->process < w->lists[FORMAT_PROCESSES].n &&
	       has_location(w, direction->location));
	assert(direction->to == MODEL_NONE || has_location(w, direction->to));
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	code_batch_add(&w->directions, direction);
	flush_if_full(w, code_batch_is_full(&w->directions));
}

void writer_access(struct writer *w, const struct model_access *access)
{
	assert(access->process < w->lists[FORMAT_PROCESSES].n &&
	       has_location(w, access->location));
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	code_batch_add(&w->accesses, access);
	flush_if_full(w, code_batch_is_full(&w->accesses));
}

void writer_anchor(struct writer *w, const struct model_anchor *anchor)
{
	assert(anchor->process < w->lists[FORMAT_PROCESSES].n);
	assert(anchor->location == MODEL_NONE || anchor->location < w->locations.all.n);
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	code_batch_add(&w->anchors, anchor);
	flush_if_full(w, code_batch_is_full(&w->anchors));
}

void writer_anchor_way(struct writer *w, const struct model_anchor_way *way)
{
	assert(way->process < w->lists[FORMAT_PROCESSES].n &&
	       way->behind < w->locations.all.n);
	assert(way->to == MODEL_NONE || way->to < w->locations.all.n);
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	code_batch_add(&w->anchor_ways, way);
	flush_if_full(w, code_batch_is_full(&w->anchor_ways));
}

void writer_gauge(struct writer *w, const struct gauge *gauge)
{
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	code_batch_add(&w->gauges, gauge);
	flush_if_full(w, code_batch_is_full(&w->gauges));
}

void writer_mapping(struct writer *w, const struct model_mapping *mapping)
{
	record_list_add(&w->lists[FORMAT_MAPPINGS], mapping);
}

void writer_interval(struct writer *w, const struct model_interval *interval)
{
	record_list_add(&w->lists[FORMAT_INTERVALS], interval);
}

void writer_fact(struct writer *w, const struct model_fact *fact)
{
	struct record_list *l = &w->lists[FORMAT_FACTS];

	if (w->interim.is_open) {
		writer_interim_fact(w, fact);
		return;
	}
	buf_clear(&w->key);
	buf_u32le(&w->key, fact->kind);
	buf_u32le(&w->key, fact->name);
	buf_u32le(&w->key, fact->event);
	buf_u32le(&w->key, fact->process);

	uint32_t id = intern_key(w->fact_keys, &w->key);

	if (id < l->n)
		record_list_update(l, id, fact);
	else
		record_list_add(l, fact);
}

static void add_text(struct buf *b, const char *s)
{
	size_t n = strnlen(s, STRING_MAX_BYTES);

	buf_uleb(b, n);
	buf_add(b, s, n);
}

void writer_info(struct writer *w, const char *key, const char *value)
{
	buf_clear(&w->key);
	add_text(&w->key, key);
	add_text(&w->key, value ? value : "");
	buf_uleb(&w->infos, w->key.size);
	buf_add(&w->infos, w->key.data, w->key.size);
	flush_if_full(w, w->infos.size >= WRITER_CHUNK_BYTES);
}

static int append_pieces(struct writer *w, uint32_t id, const uint8_t *data,
			 uint64_t size, struct err *e)
{
	int rc = 0;

	for (uint64_t at = 0, n; at < size && rc == 0; at += n) {
		n = size - at < FORMAT_PIECE_MAX ? size - at : FORMAT_PIECE_MAX;
		buf_clear(&w->payload);
		blob_piece_encode(id, at, data + at, (size_t)n, &w->sink.squeeze,
				  &w->payload);
		rc = writer_append(w, FORMAT_BLOB_PIECE, NULL, true, e);
	}
	return rc;
}

int writer_blob(struct writer *w, const struct model_blob *blob, const void *data,
		struct err *e)
{
	const uint64_t max = w->options.max_bytes;

	if (w->has_failed)
		return writer_failure(w, e);
	if (w->is_full ||
	    (max && w->sink.file.offset + blob->size_bytes + WRITER_CLOSING_BYTES > max))
		return err_set(e, ERR_LIMIT,
			       "'%s' reached its largest size: a file is not kept in it",
			       w->sink.file.path);

	uint32_t id = record_list_add(&w->lists[FORMAT_BLOBS], blob);
	int rc = writer_append_explanations(w, e);

	return rc < 0 ? rc : append_pieces(w, id, data, blob->size_bytes, e);
}

const struct err *writer_failed(const struct writer *w)
{
	return w->has_failed ? &w->failure : NULL;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->sink.file.offset;
}

uint64_t writer_waiting_bytes(const struct writer *w)
{
	return growing_file_waiting(&w->sink.file);
}

uint64_t writer_lost_samples(const struct writer *w)
{
	return w->lost_samples;
}
