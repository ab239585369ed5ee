/* SPDX-License-Identifier: Apache-2.0 */
#include "store/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "store/blob_piece.h"
#include "store/block_list.h"
#include "store/block_sink.h"
#include "store/column_set.h"
#include "store/dictionary.h"
#include "store/location_table.h"
#include "store/record_list.h"
#include "store/recording.h"
#include "store/sample_batch.h"
#include "store/stack_table.h"
#include "store/trace_batch.h"

#define STRING_MAX_BYTES (1u << 20) /* longer ones are cut */
#define CHUNK_BYTES	 (1u << 20) /* of records and strings per block */
#define FLUSH_AFTER_NS	 UINT64_C(1000000000)
/* A recorder that is killed early leaves at least what runs, and where it began. */
#define FIRST_FLUSH_AFTER_NS UINT64_C(200000000)
/* Merged samples gain from waiting; this much of them a SIGKILL may take. */
#define MERGED_FLUSH_AFTER_NS (10 * FLUSH_AFTER_NS)
/* Kept free below max_bytes for the closing facts, names and index. */
#define CLOSING_BYTES (64u << 10)

struct writer {
	struct writer_options options;
	struct block_sink sink;
	struct intern *strings, *image_keys, *fact_keys;
	uint32_t n_strings_written;
	struct record_list lists[FORMAT_N_KINDS];
	struct location_table locations;
	struct stack_table stacks;
	struct sample_batch samples;
	struct trace_batch traces;
	struct buf infos, payload, key;
	VEC(uint64_t) column;
	uint64_t began_ns; /* when the first tick saw unwritten data; 0: none did */
	bool has_flushed;
	uint64_t lost_samples, lost_traces;
	struct err failure;
	bool has_failed, is_full;
};

/* Written in this order, so that a block refers only to what is before it. */
static const enum format_kind record_kinds[] = {
	FORMAT_IMAGES,	  FORMAT_PROCESSES,   FORMAT_THREADS,
	FORMAT_EVENTS,	  FORMAT_TRACE_TYPES, FORMAT_MAPPINGS,
	FORMAT_INTERVALS, FORMAT_FACTS,	      FORMAT_BLOBS,
};

#define N_RECORD_KINDS (sizeof(record_kinds) / sizeof(record_kinds[0]))

/* Nobody asks for these again. */
static void settle_records(struct writer *w, enum format_kind kind)
{
	record_list_settle(&w->lists[kind],
			   kind == FORMAT_MAPPINGS || kind == FORMAT_INTERVALS);
}

static int set_owner(struct writer *w, struct err *e)
{
	const struct writer_options *o = &w->options;

	if (!o->has_owner || fchown(w->sink.fd, o->uid, o->gid) == 0)
		return 0;
	return err_os(e, "cannot give '%s' to user %u", w->sink.path, o->uid);
}

static struct writer *new_writer(const struct writer_options *options)
{
	struct writer *w = xcalloc(1, sizeof(*w));

	w->options = options ? *options : (struct writer_options){ 0 };
	w->samples.is_merged = w->options.no_time;
	w->strings = intern_new();
	w->n_strings_written = 1; /* "" goes without saying */
	w->image_keys = intern_new();
	w->fact_keys = intern_new();
	for (size_t i = 0; i < N_RECORD_KINDS; i++)
		record_list_init(&w->lists[record_kinds[i]], record_kinds[i]);
	return w;
}

int writer_create(const char *path, const struct writer_options *options,
		  struct writer **ret, struct err *e)
{
	own(writer_freep) struct writer *w = new_writer(options);
	int rc = block_sink_create(&w->sink, path, e);

	if (rc < 0)
		return rc;
	rc = set_owner(w, e);
	if (rc < 0) {
		unlink(path);
		return rc;
	}
	*ret = steal(&w);
	return 0;
}

/* Each entry must get the id again that it had: content that is there twice, which this
 * writer never makes, would not. */
static bool adopt_strings(struct writer *w, const struct dictionary *d)
{
	for (uint32_t i = 0; i < d->n[FORMAT_STRINGS]; i++)
		if (writer_string(w, d->strings.at[i]) != i)
			return false;
	w->n_strings_written = d->n[FORMAT_STRINGS];
	return true;
}

static bool adopt_records(struct writer *w, const struct dictionary *d,
			  enum format_kind kind)
{
	const struct record_list *from = &d->lists[kind];
	struct record_list *to = &w->lists[kind];

	for (uint32_t i = 0; i < from->n; i++) {
		const void *item = record_list_get(from, i);

		if (kind == FORMAT_IMAGES)
			writer_image(w, item);
		else if (kind == FORMAT_FACTS)
			writer_fact(w, item);
		else
			record_list_add(to, item);
	}
	settle_records(w, kind);
	return to->n == from->n;
}

static bool adopt_frames(struct writer *w, const struct dictionary *d)
{
	for (uint32_t i = 0; i < d->n[FORMAT_LOCATIONS]; i++)
		if (location_table_add(&w->locations, &d->locations.at[i]) != i)
			return false;
	for (uint32_t i = 1; i < d->n[FORMAT_STACKS]; i++) {
		const struct model_stack *s = &d->stacks.at[i];

		if (stack_table_add(&w->stacks, s->parent, s->location) != i)
			return false;
	}
	location_table_settle(&w->locations);
	stack_table_settle(&w->stacks);
	return true;
}

static bool adopt(struct writer *w, const struct dictionary *d)
{
	bool is_good = adopt_strings(w, d);

	for (size_t i = 0; i < N_RECORD_KINDS && is_good; i++)
		is_good = adopt_records(w, d, record_kinds[i]);
	return is_good && adopt_frames(w, d);
}

int writer_continue(const char *path, struct writer **ret, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(writer_freep) struct writer *w = new_writer(NULL);
	int rc = recording_open(path, &r, e);

	if (rc < 0)
		return rc;
	if (!recording_is_sound(r))
		return err_set(e, ERR_FORMAT, "cannot add to '%s': %s", path,
			       recording_damage(r));
	if (!adopt(w, recording_dictionary(r)))
		return err_set(e, ERR_UNSUPPORTED, "cannot add to '%s': foreign writer",
			       path);

	const struct block_list *list = recording_blocks(r);

	rc = block_sink_continue(&w->sink, path, list->blocks.at, list->blocks.n, e);
	if (rc < 0)
		return rc;
	*ret = steal(&w);
	return 0;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < N_RECORD_KINDS; i++)
		record_list_fini(&w->lists[record_kinds[i]]);
	intern_free(w->strings);
	intern_free(w->image_keys);
	intern_free(w->fact_keys);
	location_table_fini(&w->locations);
	stack_table_fini(&w->stacks);
	sample_batch_fini(&w->samples);
	trace_batch_fini(&w->traces);
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

/* Appending.  The payload under construction is w->payload. */

static int append(struct writer *w, enum format_kind kind,
		  const struct format_summary *summary, bool is_dense, struct err *e)
{
	struct err failure = { 0 };
	int rc = block_sink_append(&w->sink, kind, &w->payload, summary, is_dense,
				   &failure);

	if (rc < 0 && !w->has_failed) {
		w->has_failed = true;
		w->failure = failure;
	}
	if (rc < 0 && e)
		*e = failure;
	return rc;
}

static int append_infos(struct writer *w, struct err *e)
{
	if (!w->infos.size)
		return 0;
	buf_clear(&w->payload);
	buf_add(&w->payload, w->infos.data, w->infos.size);

	int rc = append(w, FORMAT_INFO, NULL, false, e);

	if (rc == 0)
		buf_clear(&w->infos);
	return rc;
}

static uint32_t encode_strings(struct writer *w, uint32_t i)
{
	uint8_t first[10];
	struct buf head = { .data = first, .cap = sizeof(first) };

	buf_clear(&w->payload);
	buf_uleb(&head, i);
	buf_uleb(&w->payload, head.size);
	buf_add(&w->payload, head.data, head.size);
	for (; i < intern_count(w->strings) && w->payload.size < CHUNK_BYTES; i++) {
		buf_uleb(&w->payload, intern_len(w->strings, i));
		buf_add(&w->payload, intern_get(w->strings, i),
			intern_len(w->strings, i));
	}
	return i;
}

static int append_strings(struct writer *w, struct err *e)
{
	while (w->n_strings_written < intern_count(w->strings)) {
		uint32_t next = encode_strings(w, w->n_strings_written);
		struct format_summary summary = { .n = next - w->n_strings_written,
						  .first = w->n_strings_written };
		int rc = append(w, FORMAT_STRINGS, &summary, false, e);

		if (rc < 0)
			return rc;
		w->n_strings_written = next;
	}
	return 0;
}

static int append_records(struct writer *w, enum format_kind kind, struct err *e)
{
	struct record_list *l = &w->lists[kind];

	for (size_t i = 0; i < l->changed.n;) {
		size_t was = i;

		buf_clear(&w->payload);
		i = record_list_encode(l, i, CHUNK_BYTES, &w->payload);

		struct format_summary summary = { .n = i - was };
		int rc = append(w, kind, &summary, false, e);

		if (rc < 0)
			return rc;
	}
	settle_records(w, kind);
	return 0;
}

/* What is small and explains the rest: also written when there is no room for data. */
static int append_explanations(struct writer *w, struct err *e)
{
	int rc = append_infos(w, e);

	if (rc == 0)
		rc = append_strings(w, e);
	for (size_t i = 0; i < N_RECORD_KINDS && rc == 0; i++)
		rc = append_records(w, record_kinds[i], e);
	return rc;
}

/* A block of data, unless the largest size is reached: then there is no more data in this
 * recording, and nothing that would refer to what is missing. */
static int append_data_block(struct writer *w, enum format_kind kind,
			     const struct format_summary *summary, struct err *e)
{
	const uint64_t max = w->options.max_bytes;

	if (max && w->sink.offset + w->payload.size + CLOSING_BYTES > max)
		w->is_full = true;
	return w->is_full ? 0 : append(w, kind, summary, true, e);
}

static uint64_t *reserve_rows(struct writer *w, size_t n)
{
	vec_reserve(&w->column, n);
	return w->column.at;
}

static int append_location_rows(struct writer *w, size_t first, size_t n, struct err *e)
{
	const struct model_location *rows = w->locations.all.at + first;
	uint64_t *column = reserve_rows(w, n);
	struct column_set_head head = {
		.summary = { .n = n, .first = first },
		.n_images = w->lists[FORMAT_IMAGES].n,
	};

	buf_clear(&w->payload);
	column_set_begin(&w->payload, &head);
	for (size_t i = 0; i < n; i++)
		column[i] = rows[i].image;
	column_set_add(&w->payload, LOCATION_COLUMN_IMAGE, column, n, &w->sink.squeeze);
	for (size_t i = 0; i < n; i++)
		column[i] = rows[i].flags;
	column_set_add(&w->payload, LOCATION_COLUMN_FLAGS, column, n, &w->sink.squeeze);
	for (size_t i = 0; i < n; i++)
		column[i] = rows[i].offset;
	column_set_add(&w->payload, LOCATION_COLUMN_OFFSET, column, n, &w->sink.squeeze);
	return append_data_block(w, FORMAT_LOCATIONS, &head.summary, e);
}

static int append_stack_rows(struct writer *w, size_t i0, uint64_t first, size_t n,
			     struct err *e)
{
	const struct model_stack *rows = w->stacks.fresh.at + i0;
	uint64_t *column = reserve_rows(w, n);
	struct column_set_head head = {
		.summary = { .n = n, .first = first },
		.n_locations = (uint32_t)w->locations.all.n,
	};

	buf_clear(&w->payload);
	column_set_begin(&w->payload, &head);
	/* A new node mostly hangs below the one before it. */
	for (size_t i = 0; i < n; i++)
		column[i] = first + i - 1 - rows[i].parent;
	column_set_add(&w->payload, STACK_COLUMN_DISTANCE, column, n, &w->sink.squeeze);
	for (size_t i = 0; i < n; i++)
		column[i] = rows[i].location;
	column_set_add(&w->payload, STACK_COLUMN_LOCATION, column, n, &w->sink.squeeze);
	return append_data_block(w, FORMAT_STACKS, &head.summary, e);
}

static size_t rows_of_block(size_t left)
{
	return left < FORMAT_ROWS_MAX ? left : FORMAT_ROWS_MAX;
}

static int append_frames(struct writer *w, struct err *e)
{
	struct location_table *l = &w->locations;
	struct stack_table *s = &w->stacks;
	uint64_t first = s->n - s->fresh.n + 1;
	int rc = 0;

	for (size_t i = l->n_settled, n; i < l->all.n && rc == 0; i += n) {
		n = rows_of_block(l->all.n - i);
		rc = append_location_rows(w, i, n, e);
	}
	if (rc == 0)
		location_table_settle(l);
	for (size_t i = 0, n; i < s->fresh.n && rc == 0; i += n) {
		n = rows_of_block(s->fresh.n - i);
		rc = append_stack_rows(w, i, first + i, n, e);
	}
	if (rc == 0)
		stack_table_settle(s);
	return rc;
}

static int append_samples(struct writer *w, struct err *e)
{
	struct format_summary summary;

	if (!w->samples.rows.n)
		return 0;
	buf_clear(&w->payload);
	sample_batch_encode(&w->samples, &w->sink.squeeze, &w->payload, &summary);

	int rc = append_data_block(w, FORMAT_SAMPLES, &summary, e);

	if (rc == 0 && !w->is_full)
		sample_batch_clear(&w->samples);
	return rc;
}

static int append_traces(struct writer *w, struct err *e)
{
	struct format_summary summary;

	if (!w->traces.rows.n)
		return 0;
	buf_clear(&w->payload);
	trace_batch_encode(&w->traces, &w->sink.squeeze, &w->payload, &summary);

	int rc = append_data_block(w, FORMAT_TRACES, &summary, e);

	if (rc == 0 && !w->is_full)
		trace_batch_clear(&w->traces);
	return rc;
}

static int append_data(struct writer *w, struct err *e)
{
	int rc = append_frames(w, e);

	if (rc == 0)
		rc = append_samples(w, e);
	if (rc == 0)
		rc = append_traces(w, e);
	return rc;
}

/* Whatever data is still here has no place any more. */
static void drop_data(struct writer *w)
{
	w->lost_samples += w->samples.n_taken;
	w->lost_traces += w->traces.rows.n;
	sample_batch_clear(&w->samples);
	trace_batch_clear(&w->traces);
	location_table_settle(&w->locations);
	stack_table_settle(&w->stacks);
}

static int failed(const struct writer *w, struct err *e)
{
	if (e)
		*e = w->failure;
	return w->failure.code;
}

int writer_flush(struct writer *w, struct err *e)
{
	int rc = 0;

	w->began_ns = 0;
	w->has_flushed = true;
	if (!w->has_failed)
		rc = append_explanations(w, e);
	if (rc == 0 && !w->has_failed && !w->is_full)
		rc = append_data(w, e);
	if (w->has_failed || w->is_full)
		drop_data(w);
	return w->has_failed ? failed(w, e) : 0;
}

static bool has_batch(const struct writer *w)
{
	return w->samples.rows.n || w->traces.rows.n || w->infos.size ||
	       w->lists[FORMAT_FACTS].changed.n || w->lists[FORMAT_PROCESSES].changed.n ||
	       w->lists[FORMAT_THREADS].changed.n || w->lists[FORMAT_INTERVALS].changed.n;
}

int writer_tick(struct writer *w, uint64_t now_ns, struct err *e)
{
	uint64_t wait = w->options.no_time ? MERGED_FLUSH_AFTER_NS : FLUSH_AFTER_NS;

	if (!w->has_flushed)
		wait = FIRST_FLUSH_AFTER_NS;
	if (w->has_failed)
		return failed(w, e);
	if (!has_batch(w))
		return 0;
	if (!w->began_ns)
		w->began_ns = now_ns;
	return now_ns - w->began_ns >= wait ? writer_flush(w, e) : 0;
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

int writer_close(struct writer *w, struct err *e)
{
	own(writer_freep) unused struct writer *owned = w;
	int rc = writer_flush(w, e);

	/* Even after a failure: a disk too full for data may have room for the loss. */
	state_losses(w);
	if (append_explanations(w, rc < 0 ? NULL : e) < 0)
		return w->failure.code;
	if (block_sink_finish(&w->sink, rc < 0 ? NULL : e) < 0)
		return rc < 0 ? rc : ERR_OS;
	if (rc < 0)
		return rc;
	return block_sink_close(&w->sink, e);
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
	if (w->has_failed || w->is_full) {
		w->lost_traces++;
		return;
	}
	trace_batch_add(&w->traces, t, type->n_columns);
	flush_if_full(w, trace_batch_is_full(&w->traces));
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
	flush_if_full(w, w->infos.size >= CHUNK_BYTES);
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
		rc = append(w, FORMAT_BLOB_PIECE, NULL, true, e);
	}
	return rc;
}

int writer_blob(struct writer *w, const struct model_blob *blob, const void *data,
		struct err *e)
{
	const uint64_t max = w->options.max_bytes;

	if (w->has_failed)
		return failed(w, e);
	if (w->is_full ||
	    (max && w->sink.offset + blob->size_bytes + CLOSING_BYTES > max))
		return err_set(e, ERR_LIMIT,
			       "'%s' reached its largest size: a file is not kept in it",
			       w->sink.path);

	uint32_t id = record_list_add(&w->lists[FORMAT_BLOBS], blob);
	int rc = append_explanations(w, e);

	return rc < 0 ? rc : append_pieces(w, id, data, blob->size_bytes, e);
}

const struct err *writer_failed(const struct writer *w)
{
	return w->has_failed ? &w->failure : NULL;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->sink.offset;
}

uint64_t writer_lost_samples(const struct writer *w)
{
	return w->lost_samples;
}
