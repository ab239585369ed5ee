/* SPDX-License-Identifier: Apache-2.0 */
#include "store/layout.h"

#include <string.h>

#include "store/model.h"

#define AT(s, m) .at = offsetof(struct s, m), .width = sizeof(((struct s *)0)->m)

#define UINT(s, m)                                                                       \
	{                                                                                \
		AT(s, m), .type = LAYOUT_UINT                                            \
	}
#define INT(s, m)                                                                        \
	{                                                                                \
		AT(s, m), .type = LAYOUT_INT                                             \
	}
#define STRING(s, m)                                                                     \
	{                                                                                \
		AT(s, m), .type = LAYOUT_ID, .of = FORMAT_STRINGS                        \
	}
#define ID(s, m, kind)                                                                   \
	{                                                                                \
		AT(s, m), .type = LAYOUT_ID, .of = (kind)                                \
	}
#define ID_OR_NONE(s, m, kind)                                                           \
	{                                                                                \
		AT(s, m), .type = LAYOUT_ID_OR_NONE, .of = (kind)                        \
	}

static const struct layout_field image_fields[] = {
	STRING(model_image, path),
	STRING(model_image, host_path),
	UINT(model_image, kind),
	UINT(model_image, flags),
	{ AT(model_image, build_id), .type = LAYOUT_BYTES,
	  .size_at = offsetof(struct model_image, build_id_size) },
	UINT(model_image, pid),
	UINT(model_image, base),
	UINT(model_image, size_bytes),
	UINT(model_image, mtime_s),
};

static const struct layout_field process_fields[] = {
	UINT(model_process, pid),
	UINT(model_process, ppid),
	ID_OR_NONE(model_process, parent, FORMAT_PROCESSES),
	ID_OR_NONE(model_process, exec_of, FORMAT_PROCESSES),
	STRING(model_process, comm),
	STRING(model_process, exe),
	STRING(model_process, cmdline),
	STRING(model_process, note),
	UINT(model_process, flags),
	INT(model_process, exit_status),
	UINT(model_process, start_ns),
	UINT(model_process, end_ns),
	STRING(model_process, cgroup),
	STRING(model_process, host),
	STRING(model_process, epoch),
};

static const struct layout_field thread_fields[] = {
	ID(model_thread, process, FORMAT_PROCESSES),
	UINT(model_thread, tid),
	STRING(model_thread, name),
	UINT(model_thread, start_ns),
	UINT(model_thread, end_ns),
};

static const struct layout_field event_fields[] = {
	STRING(model_event, name),	  STRING(model_event, unit),
	STRING(model_event, experiment),  STRING(model_event, source),
	STRING(model_event, description), UINT(model_event, flags),
	UINT(model_event, period),
};

static const struct layout_field trace_type_fields[] = {
	ID(model_trace_type, event, FORMAT_EVENTS),
	{ .at = offsetof(struct model_trace_type, columns),
	  .width = MODEL_TRACE_COLUMNS_MAX,
	  .type = LAYOUT_PAIRS,
	  .of = FORMAT_STRINGS,
	  .size_at = offsetof(struct model_trace_type, n_columns) },
};

static const struct layout_field mapping_fields[] = {
	ID(model_mapping, process, FORMAT_PROCESSES),
	ID(model_mapping, image, FORMAT_IMAGES),
	UINT(model_mapping, start),
	UINT(model_mapping, end),
	UINT(model_mapping, file_offset),
	UINT(model_mapping, from_ns),
	UINT(model_mapping, to_ns),
};

static const struct layout_field interval_fields[] = {
	UINT(model_interval, from_ns),
	UINT(model_interval, to_ns),
	STRING(model_interval, name),
	STRING(model_interval, cause),
};

static const struct layout_field fact_fields[] = {
	UINT(model_fact, kind),
	STRING(model_fact, name),
	STRING(model_fact, unit),
	ID_OR_NONE(model_fact, event, FORMAT_EVENTS),
	ID_OR_NONE(model_fact, process, FORMAT_PROCESSES),
	UINT(model_fact, value),
};

static const struct layout_field blob_fields[] = {
	UINT(model_blob, kind),
	STRING(model_blob, name),
	ID_OR_NONE(model_blob, image, FORMAT_IMAGES),
	UINT(model_blob, size_bytes),
};

#define LAYOUT(name)                                                                     \
	{                                                                                \
		name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]),         \
			sizeof(struct model_##name)                                      \
	}

static const struct layout layouts[FORMAT_N_KINDS] = {
	[FORMAT_IMAGES] = LAYOUT(image),
	[FORMAT_PROCESSES] = LAYOUT(process),
	[FORMAT_THREADS] = LAYOUT(thread),
	[FORMAT_EVENTS] = LAYOUT(event),
	[FORMAT_TRACE_TYPES] = LAYOUT(trace_type),
	[FORMAT_MAPPINGS] = LAYOUT(mapping),
	[FORMAT_INTERVALS] = LAYOUT(interval),
	[FORMAT_FACTS] = LAYOUT(fact),
	[FORMAT_BLOBS] = LAYOUT(blob),
};

const struct layout *layout_of(enum format_kind kind)
{
	const struct layout *l = kind < FORMAT_N_KINDS ? &layouts[kind] : NULL;

	return l && l->fields ? l : NULL;
}

static uint64_t load(const void *at, unsigned width)
{
	uint64_t v = 0;

	memcpy(&v, at, width);
	return v;
}

/* False: the number does not fit into the member. */
static bool store(void *at, unsigned width, uint64_t v)
{
	memcpy(at, &v, width);
	return width >= 8 || v >> (8 * width) == 0;
}

static uint32_t pair_at(const void *pairs, uint32_t i)
{
	return (uint32_t)load((const uint8_t *)pairs + 4 * (size_t)i, 4);
}

static void encode_field(const struct layout_field *f, const uint8_t *item,
			 struct buf *out)
{
	const uint8_t *at = item + f->at;
	int32_t number;
	uint32_t n;

	switch ((enum layout_type)f->type) {
	case LAYOUT_UINT:
	case LAYOUT_ID:
		buf_uleb(out, load(at, f->width));
		break;
	case LAYOUT_ID_OR_NONE:
		buf_uleb(out, (uint32_t)(load(at, 4) + 1));
		break;
	case LAYOUT_INT:
		memcpy(&number, at, sizeof(number));
		buf_zigzag(out, number);
		break;
	case LAYOUT_BYTES:
		n = item[f->size_at];
		buf_uleb(out, n);
		buf_add(out, at, n);
		break;
	case LAYOUT_PAIRS:
		n = (uint32_t)load(item + f->size_at, 4);
		buf_uleb(out, n);
		for (uint32_t i = 0; i < 2 * n; i++)
			buf_uleb(out, pair_at(at, i));
		break;
	}
}

void layout_encode(const struct layout *l, uint32_t id, const void *item, struct buf *out)
{
	size_t start = out->size;
	uint8_t length[10] = { 0 };

	buf_uleb(out, id);
	for (size_t i = 0; i < l->n_fields; i++)
		encode_field(&l->fields[i], item, out);

	/* The length goes in front of what it counts. */
	size_t size = out->size - start;
	struct buf prefix = { .data = length, .cap = sizeof(length) };

	buf_uleb(&prefix, size);
	buf_reserve(out, prefix.size);
	memmove(out->data + start + prefix.size, out->data + start, size);
	memcpy(out->data + start, length, prefix.size);
	out->size += prefix.size;
}

static void decode_bytes(const struct layout_field *f, struct reader *r, uint8_t *item)
{
	size_t n = reader_count(r, 1);
	const uint8_t *bytes = reader_bytes(r, n);

	if (!bytes || n > f->width) {
		r->bad = true;
		return;
	}
	memcpy(item + f->at, bytes, n);
	item[f->size_at] = (uint8_t)n;
}

static void decode_pairs(const struct layout_field *f, struct reader *r, uint8_t *item)
{
	size_t n = reader_count(r, 2);

	if (n > f->width) {
		r->bad = true;
		return;
	}
	store(item + f->size_at, 4, n);
	for (size_t i = 0; i < 2 * n; i++)
		if (!store(item + f->at + 4 * i, 4, reader_uleb(r)))
			r->bad = true;
}

static void decode_field(const struct layout_field *f, struct reader *r, uint8_t *item)
{
	uint8_t *at = item + f->at;
	int64_t number;

	switch ((enum layout_type)f->type) {
	case LAYOUT_UINT:
	case LAYOUT_ID:
		if (!store(at, f->width, reader_uleb(r)))
			r->bad = true;
		break;
	case LAYOUT_ID_OR_NONE:
		if (!store(at, 4, reader_uleb(r)))
			r->bad = true;
		store(at, 4, (uint32_t)(load(at, 4) - 1));
		break;
	case LAYOUT_INT:
		number = reader_zigzag(r);
		if (number != (int32_t)number)
			r->bad = true;
		store(at, f->width, (uint32_t)number);
		break;
	case LAYOUT_BYTES:
		decode_bytes(f, r, item);
		break;
	case LAYOUT_PAIRS:
		decode_pairs(f, r, item);
		break;
	}
}

void layout_decode(const struct layout *l, struct reader *r, uint32_t *ret_id, void *item)
{
	size_t size = reader_count(r, 1);
	const uint8_t *bytes = reader_bytes(r, size);
	struct reader record = reader_over(bytes, size);
	uint64_t id = reader_uleb(&record);

	memset(item, 0, l->item_size);
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct layout_field *f = &l->fields[i];

		if (reader_left(&record))
			decode_field(f, &record, item);
		else if (f->type == LAYOUT_ID_OR_NONE)
			store((uint8_t *)item + f->at, 4, MODEL_NONE);
	}
	if (record.bad || id >= MODEL_NONE)
		r->bad = true;
	*ret_id = (uint32_t)id;
}

static bool pairs_are_known(const struct layout_field *f, const uint8_t *item, uint32_t n)
{
	uint32_t count = (uint32_t)load(item + f->size_at, 4);

	for (uint32_t i = 0; i < count; i++)
		if (pair_at(item + f->at, 2 * i) >= n)
			return false;
	return true;
}

bool layout_ids_are_known(const struct layout *l, const void *item,
			  const uint32_t n[FORMAT_N_KINDS])
{
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct layout_field *f = &l->fields[i];
		const uint8_t *at = (const uint8_t *)item + f->at;
		uint32_t id = f->width == 4 ? (uint32_t)load(at, 4) : 0;

		if (f->type == LAYOUT_ID && id >= n[f->of])
			return false;
		if (f->type == LAYOUT_ID_OR_NONE && id != MODEL_NONE && id >= n[f->of])
			return false;
		if (f->type == LAYOUT_PAIRS && !pairs_are_known(f, item, n[f->of]))
			return false;
	}
	return true;
}
