/* SPDX-License-Identifier: Apache-2.0 */
#include "store/writer_data.h"

#include "store/column_set.h"

#define FLUSH_AFTER_NS UINT64_C(1000000000)
/* A recorder that is killed early leaves at least what runs, and where it began. */
#define FIRST_FLUSH_AFTER_NS UINT64_C(200000000)
/* Merged samples gain from waiting; this much of them a SIGKILL may take. */
#define MERGED_FLUSH_AFTER_NS (10 * FLUSH_AFTER_NS)

const enum format_kind writer_record_kinds[WRITER_N_RECORD_KINDS] = {
	FORMAT_IMAGES,	  FORMAT_PROCESSES,   FORMAT_THREADS,
	FORMAT_EVENTS,	  FORMAT_TRACE_TYPES, FORMAT_MAPPINGS,
	FORMAT_INTERVALS, FORMAT_FACTS,	      FORMAT_BLOBS,
};

void writer_settle_records(struct writer *w, enum format_kind kind)
{
	record_list_settle(&w->lists[kind],
			   kind == FORMAT_MAPPINGS || kind == FORMAT_INTERVALS);
}

int writer_append(struct writer *w, enum format_kind kind,
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

	int rc = writer_append(w, FORMAT_INFO, NULL, false, e);

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
	for (; i < intern_count(w->strings) && w->payload.size < WRITER_CHUNK_BYTES;
	     i++) {
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
		int rc = writer_append(w, FORMAT_STRINGS, &summary, false, e);

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
		i = record_list_encode(l, i, WRITER_CHUNK_BYTES, &w->payload);

		struct format_summary summary = { .n = i - was };
		int rc = writer_append(w, kind, &summary, false, e);

		if (rc < 0)
			return rc;
	}
	writer_settle_records(w, kind);
	return 0;
}

int writer_append_explanations(struct writer *w, struct err *e)
{
	int rc = append_infos(w, e);

	if (rc == 0)
		rc = append_strings(w, e);
	for (size_t i = 0; i < WRITER_N_RECORD_KINDS && rc == 0; i++)
		rc = append_records(w, writer_record_kinds[i], e);
	return rc;
}

/* A block of data, unless the largest size is reached: then there is no more data in this
 * recording, and nothing that would refer to what is missing. */
static int append_data_block(struct writer *w, enum format_kind kind,
			     const struct format_summary *summary, struct err *e)
{
	const uint64_t max = w->options.max_bytes;

	if (max && w->sink.file.offset + w->payload.size + WRITER_CLOSING_BYTES > max)
		w->is_full = true;
	return w->is_full ? 0 : writer_append(w, kind, summary, true, e);
}

static uint64_t *reserve_rows(struct writer *w, size_t n)
{
	vec_reserve(&w->column, n);
	return w->column.at;
}

int writer_append_locations(struct writer *w, const struct model_location *rows,
			    const struct format_summary *summary, struct err *e)
{
	size_t n = (size_t)summary->n;
	uint64_t *column = reserve_rows(w, n);
	struct column_set_head head = {
		.summary = *summary,
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
	w->n_locations += n;
	return append_data_block(w, FORMAT_LOCATIONS, &head.summary, e);
}

int writer_append_stacks(struct writer *w, const struct model_stack *rows,
			 const uint32_t *ups, const struct buf *spine,
			 const struct format_summary *summary, uint32_t n_locations,
			 struct err *e)
{
	size_t n = (size_t)summary->n;
	uint64_t *column = reserve_rows(w, n);
	struct column_set_head head = { .summary = *summary, .n_locations = n_locations };

	buf_clear(&w->payload);
	column_set_begin_with(&w->payload, &head, spine ? spine : &(struct buf){ 0 });
	/* A new node mostly hangs below the one before it. */
	for (size_t i = 0; i < n; i++)
		column[i] = ups ? ups[i] : summary->first + i - 1 - rows[i].parent;
	column_set_add(&w->payload, ups ? STACK_COLUMN_UP : STACK_COLUMN_DISTANCE, column,
		       n, &w->sink.squeeze);
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

		struct format_summary summary = { .n = n, .first = i };

		rc = writer_append_locations(w, l->all.at + i, &summary, e);
	}
	if (rc == 0)
		location_table_settle(l);
	for (size_t i = 0, n; i < s->fresh.n && rc == 0; i += n) {
		n = rows_of_block(s->fresh.n - i);

		struct format_summary summary = { .n = n, .first = first + i };

		rc = writer_append_stacks(w, s->fresh.at + i, NULL, NULL, &summary,
					  (uint32_t)l->all.n, e);
	}
	if (rc == 0)
		stack_table_settle(s);
	return rc;
}

int writer_append_samples(struct writer *w, struct err *e)
{
	struct format_summary summary = { 0 };

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

/* With their ids, if they have such: from first on. */
static int append_code(struct writer *w, enum format_kind kind, struct code_batch *b,
		       uint64_t first, struct err *e)
{
	struct format_summary summary;

	if (!b->n)
		return 0;
	buf_clear(&w->payload);
	code_batch_encode(b, first, &w->sink.squeeze, &w->payload, &summary);

	int rc = append_data_block(w, kind, &summary, e);

	if (rc == 0 && !w->is_full)
		code_batch_clear(b);
	return rc;
}

static int append_data(struct writer *w, struct err *e)
{
	int rc = append_frames(w, e);

	if (rc == 0)
		rc = writer_append_samples(w, e);
	if (rc == 0)
		rc = append_traces(w, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_BASIC_BLOCKS, &w->basic_blocks,
				 w->n_basic_blocks - w->basic_blocks.n, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_EDGES, &w->edges, 0, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_DIRECTIONS, &w->directions, 0, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_ANCHORS, &w->anchors, 0, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_ANCHOR_WAYS, &w->anchor_ways, 0, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_ACCESSES, &w->accesses, 0, e);
	if (rc == 0)
		rc = append_code(w, FORMAT_GAUGES, &w->gauges, 0, e);
	return rc;
}

/* Whatever data is still here has no place any more. */
static void drop_data(struct writer *w)
{
	w->lost_samples += w->samples.n_taken;
	w->lost_traces += w->traces.rows.n + w->basic_blocks.n + w->edges.n +
			  w->directions.n + w->accesses.n + w->anchors.n + w->gauges.n +
			  w->anchor_ways.n;
	sample_batch_clear(&w->samples);
	trace_batch_clear(&w->traces);
	code_batch_clear(&w->basic_blocks);
	code_batch_clear(&w->edges);
	code_batch_clear(&w->directions);
	code_batch_clear(&w->anchors);
	code_batch_clear(&w->accesses);
	code_batch_clear(&w->gauges);
	code_batch_clear(&w->anchor_ways);
	location_table_settle(&w->locations);
	stack_table_settle(&w->stacks);
}

int writer_failure(const struct writer *w, struct err *e)
{
	if (e)
		*e = w->failure;
	return w->failure.code;
}

int writer_flush_blocks(struct writer *w, struct err *e)
{
	int rc;

	rc = w->has_failed ? writer_failure(w, e) : writer_append_explanations(w, e);
	w->began_ns = 0;
	w->has_flushed = true;
	if (rc == 0 && !w->is_full)
		rc = append_data(w, e);
	if (rc < 0 || w->is_full)
		drop_data(w);
	return rc;
}

int writer_flush(struct writer *w, struct err *e)
{
	int rc = writer_flush_blocks(w, e);

	return rc < 0 ? rc : growing_file_settle(&w->sink.file, e);
}

static bool has_batch(const struct writer *w)
{
	return w->samples.rows.n || w->traces.rows.n || w->basic_blocks.n || w->edges.n ||
	       w->directions.n || w->accesses.n || w->anchors.n || w->gauges.n ||
	       w->anchor_ways.n || w->infos.size || w->lists[FORMAT_FACTS].changed.n ||
	       w->lists[FORMAT_PROCESSES].changed.n ||
	       w->lists[FORMAT_THREADS].changed.n || w->lists[FORMAT_INTERVALS].changed.n;
}

int writer_tick(struct writer *w, uint64_t now_ns, struct err *e)
{
	uint64_t wait = w->options.no_time ? MERGED_FLUSH_AFTER_NS : FLUSH_AFTER_NS;

	if (!w->has_flushed)
		wait = FIRST_FLUSH_AFTER_NS;
	if (w->has_failed)
		return writer_failure(w, e);
	if (!has_batch(w))
		return 0;
	if (!w->began_ns)
		w->began_ns = now_ns;
	return now_ns - w->began_ns >= wait ? writer_flush(w, e) : 0;
}

void writer_date(struct writer *w, uint64_t since_ns)
{
	if (has_batch(w) && (!w->began_ns || since_ns < w->began_ns))
		w->began_ns = since_ns;
}
