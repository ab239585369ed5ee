/* SPDX-License-Identifier: Apache-2.0 */
#include "store/dictionary.h"

#include <string.h>

#include "base/mem.h"
#include "store/column_set.h"
#include "store/model.h"

/* What a kind may take in memory: generous for small files, and no more than what
 * honest ones of that size ever take for large ones. */
#define MEMORY_FLOOR	(UINT64_C(64) << 20)
#define MEMORY_PER_FILE 64
#define STRING_OVERHEAD 16 /* its pointer and rounding */

static const char malformed[] = "content";
static const char unknown_ids[] = "references";
static const char gap[] = "numbering";
static const char too_much[] = "size";

void dictionary_init(struct dictionary *d, uint64_t file_bytes)
{
	*d = (struct dictionary){ .info_keys = intern_new() };
	dictionary_grow(d, file_bytes);
	for (unsigned kind = 0; kind < FORMAT_N_KINDS; kind++)
		if (layout_of(kind))
			record_list_init(&d->lists[kind], kind);
	*vec_push(&d->strings) = "";
	d->n[FORMAT_STRINGS] = 1;
	vec_push(&d->stacks);
	d->n[FORMAT_STACKS] = 1;
}

void dictionary_grow(struct dictionary *d, uint64_t file_bytes)
{
	d->max_bytes = MEMORY_FLOOR + MEMORY_PER_FILE * file_bytes;
}

void dictionary_fini(struct dictionary *d)
{
	for (unsigned kind = 0; kind < FORMAT_N_KINDS; kind++)
		record_list_fini(&d->lists[kind]);
	intern_free(d->info_keys);
	vec_fini(&d->strings);
	vec_fini(&d->infos);
	vec_fini(&d->locations);
	vec_fini(&d->stacks);
	vec_fini(&d->spine);
	arena_fini(&d->text);
	dictionary_trim(d);
}

void dictionary_forget(struct dictionary *d)
{
	uint32_t n[FORMAT_N_KINDS];

	memcpy(n, d->n, sizeof(n));
	dictionary_fini(d);
	*d = (struct dictionary){ .max_bytes = d->max_bytes };
	memcpy(d->n, n, sizeof(n));
}

void dictionary_trim(struct dictionary *d)
{
	buf_fini(&d->scratch);
	buf_fini(&d->column);
}

static const char *add_string(struct dictionary *d, struct reader *r)
{
	size_t n = reader_count(r, 1);
	const uint8_t *s = reader_bytes(r, n);

	if (!s)
		return malformed;
	if (d->text.total_bytes + n + (d->strings.n + 1) * STRING_OVERHEAD >
		    d->max_bytes ||
	    d->strings.n >= MODEL_NONE)
		return too_much;
	*vec_push(&d->strings) = n ? arena_strndup(&d->text, (const char *)s, n) : "";
	return NULL;
}

static const char *apply_strings(struct dictionary *d, unsigned kind, struct reader r)
{
	size_t head_size = reader_count(&r, 1);
	const uint8_t *head = reader_bytes(&r, head_size);
	struct reader h = reader_over(head, head_size);
	uint64_t first = reader_uleb(&h);
	const char *why = r.bad || h.bad ? malformed : NULL;

	if (!why && first != d->strings.n)
		return gap;
	while (!why && reader_left(&r))
		why = add_string(d, &r);
	if (!why && r.bad)
		why = malformed;
	if (why)
		d->strings.n = d->n[kind];
	d->n[kind] = (uint32_t)d->strings.n;
	return why;
}

static const char *add_info(struct dictionary *d, struct reader *r)
{
	size_t size = reader_count(r, 1);
	const uint8_t *bytes = reader_bytes(r, size);
	struct reader record = reader_over(bytes, size);
	size_t key_size = reader_count(&record, 1);
	const char *key = (const char *)reader_bytes(&record, key_size);
	size_t value_size = reader_count(&record, 1);
	const char *value = (const char *)reader_bytes(&record, value_size);

	if (record.bad || r->bad || !key_size)
		return malformed;
	if (d->text.total_bytes + size + (d->infos.n + 1) * 4 * STRING_OVERHEAD >
	    d->max_bytes)
		return too_much;

	uint32_t i = intern_add(d->info_keys, key, key_size) - 1;

	if (i == d->infos.n)
		vec_push(&d->infos);
	d->infos.at[i] = arena_strndup(&d->text, value, value_size);
	return NULL;
}

static const char *apply_infos(struct dictionary *d, unsigned kind, struct reader r)
{
	const char *why = NULL;

	(void)kind;
	while (!why && reader_left(&r))
		why = add_info(d, &r);
	return why || !r.bad ? why : malformed;
}

static const char *apply_records(struct dictionary *d, unsigned kind, struct reader r)
{
	struct record_list *l = &d->lists[kind];
	const char *why =
		record_list_apply(l, &r, kind, d->n, d->max_bytes / l->layout->item_size)
			? NULL
			: unknown_ids;

	d->n[kind] = l->n;
	return why;
}

const char *dictionary_add_facts(struct dictionary *d, struct reader r)
{
	struct record_list *l = &d->lists[FORMAT_FACTS];

	if (!record_list_append(l, r, d->n, d->max_bytes / l->layout->item_size))
		return unknown_ids;
	d->n[FORMAT_FACTS] = l->n;
	return NULL;
}

/* Room for the rows of a block of a dictionary with n entries of `size` bytes. */
static const char *check_rows(const struct dictionary *d, const struct column_set *s,
			      size_t n, size_t size)
{
	if (s->head.summary.first != n)
		return gap;
	if (!column_set_is_known(s, d->n))
		return unknown_ids;
	if ((n + s->head.summary.n) * size > d->max_bytes ||
	    n + s->head.summary.n > MODEL_NONE)
		return too_much;
	return NULL;
}

static uint32_t *column_u32(struct dictionary *d, const struct column_set *s, unsigned id)
{
	size_t bytes = (size_t)s->head.summary.n * sizeof(uint32_t);

	buf_clear(&d->column);

	uint32_t *column = (uint32_t *)buf_reserve(&d->column, bytes + 1);

	return column_set_u32(s, id, 0, column, &d->scratch) ? column : NULL;
}

static uint64_t *column_u64(struct dictionary *d, const struct column_set *s, unsigned id)
{
	size_t bytes = (size_t)s->head.summary.n * sizeof(uint64_t);

	buf_clear(&d->column);

	uint64_t *column = (uint64_t *)buf_reserve(&d->column, bytes + 1);

	return column_set_u64(s, id, 0, column, &d->scratch) ? column : NULL;
}

static const char *read_locations(struct dictionary *d, const struct column_set *s,
				  struct model_location *rows)
{
	size_t n = (size_t)s->head.summary.n;
	const uint32_t *image = column_u32(d, s, LOCATION_COLUMN_IMAGE);

	if (!image)
		return malformed;
	for (size_t i = 0; i < n; i++) {
		if (image[i] >= d->n[FORMAT_IMAGES])
			return unknown_ids;
		rows[i].image = image[i];
	}

	const uint32_t *flags = column_u32(d, s, LOCATION_COLUMN_FLAGS);

	for (size_t i = 0; flags && i < n; i++)
		rows[i].flags = flags[i];

	const uint64_t *offset = flags ? column_u64(d, s, LOCATION_COLUMN_OFFSET) : NULL;

	for (size_t i = 0; offset && i < n; i++)
		rows[i].offset = offset[i];
	return offset ? NULL : malformed;
}

static const char *apply_locations(struct dictionary *d, unsigned kind, struct reader r)
{
	struct column_set s;

	if (!column_set_parse(r.at, reader_left(&r), &s))
		return malformed;

	size_t n = d->locations.n;
	const char *why = check_rows(d, &s, n, sizeof(struct model_location));

	if (why || !s.head.summary.n)
		return why;
	vec_reserve(&d->locations, n + (size_t)s.head.summary.n);
	why = read_locations(d, &s, d->locations.at + n);
	if (why)
		return why;
	d->locations.n = n + (size_t)s.head.summary.n;
	d->n[kind] = (uint32_t)d->locations.n;
	return NULL;
}

/* Where the row before a block hangs: ids that ascend, with their locations.  In a
 * part of a recording they become known here, else they must be what is known. */
static const char *read_spine(struct dictionary *d, struct reader r, size_t first,
			      bool is_part)
{
	size_t n = reader_count(&r, 2);
	uint64_t id = 0;

	vec_clear(&d->spine);
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = (uint32_t)id;
		uint64_t step = reader_uleb(&r);
		uint64_t location = reader_uleb(&r);

		id += step;
		if (r.bad || !step || step >= first || id >= first ||
		    location >= d->n[FORMAT_LOCATIONS])
			return malformed;

		const struct model_stack s = { parent, (uint32_t)location };

		if (is_part)
			d->stacks.at[id] = s;
		else if (memcmp(&d->stacks.at[id], &s, sizeof(s)) != 0)
			return unknown_ids;
		*vec_push(&d->spine) = (uint32_t)id;
	}
	return r.bad || id != first - 1 ? malformed : NULL;
}

/* Depth first: up from the row before. */
static const char *climb(struct dictionary *d, size_t first, const uint32_t *up, size_t n,
			 struct model_stack *rows)
{
	for (size_t i = 0; i < n; i++) {
		if (up[i] > d->spine.n)
			return unknown_ids;
		d->spine.n -= up[i];
		rows[i].parent = d->spine.n ? d->spine.at[d->spine.n - 1] : 0;
		*vec_push(&d->spine) = (uint32_t)(first + i);
	}
	return NULL;
}

static const char *read_parents(struct dictionary *d, const struct column_set *s,
				size_t first, bool is_part, struct model_stack *rows)
{
	size_t n = (size_t)s->head.summary.n;
	bool is_known = true, has_up = column_set_has(s, STACK_COLUMN_UP);
	const uint32_t *column =
		column_u32(d, s, has_up ? STACK_COLUMN_UP : STACK_COLUMN_DISTANCE);

	if (!column)
		return malformed;
	if (has_up) {
		const char *why = read_spine(d, s->more, first, is_part);

		return why ? why : climb(d, first, column, n, rows);
	}
	if (is_part && first > 1)
		return unknown_ids; /* they may be anywhere */
	for (size_t i = 0; i < n; i++) {
		is_known &= column[i] < first + i;
		rows[i].parent = (uint32_t)(first + i - 1 - column[i]);
	}
	return is_known ? NULL : unknown_ids;
}

static const char *read_stacks(struct dictionary *d, const struct column_set *s,
			       size_t first, bool is_part, struct model_stack *rows)
{
	size_t n = (size_t)s->head.summary.n;
	const uint32_t n_locations = d->n[FORMAT_LOCATIONS];
	const char *why = read_parents(d, s, first, is_part, rows);
	const uint32_t *column = why ? NULL : column_u32(d, s, STACK_COLUMN_LOCATION);
	bool is_known = true;

	if (!column)
		return why ? why : malformed;
	for (size_t i = 0; i < n; i++) {
		is_known &= column[i] < n_locations;
		rows[i].location = column[i];
	}
	return is_known ? NULL : unknown_ids;
}

static const char *apply_stacks(struct dictionary *d, unsigned kind, struct reader r)
{
	struct column_set s;

	if (!column_set_parse(r.at, reader_left(&r), &s))
		return malformed;

	size_t n = d->stacks.n;
	const char *why = check_rows(d, &s, n, sizeof(struct model_stack));

	if (why || !s.head.summary.n)
		return why;
	vec_reserve(&d->stacks, n + (size_t)s.head.summary.n);
	why = read_stacks(d, &s, n, false, d->stacks.at + n);
	if (why)
		return why;
	d->stacks.n = n + (size_t)s.head.summary.n;
	d->n[kind] = (uint32_t)d->stacks.n;
	return NULL;
}

bool dictionary_reserve(struct dictionary *d, unsigned kind, uint64_t n)
{
	bool is_stacks = kind == FORMAT_STACKS;
	size_t size =
		is_stacks ? sizeof(struct model_stack) : sizeof(struct model_location);

	if (n > MODEL_NONE || n * size > d->max_bytes)
		return false;
	if (is_stacks) {
		vec_reserve(&d->stacks, n + 1);
		while (d->stacks.n < n)
			vec_push(&d->stacks);
	} else {
		vec_reserve(&d->locations, n + 1);
		while (d->locations.n < n)
			vec_push(&d->locations);
	}
	d->n[kind] = (uint32_t)n;
	return true;
}

const char *dictionary_place(struct dictionary *d, unsigned kind, struct reader r)
{
	struct column_set s;

	if (!column_set_parse(r.at, reader_left(&r), &s))
		return malformed;

	uint64_t first = s.head.summary.first, n = s.head.summary.n;

	if (first > d->n[kind] || n > d->n[kind] - first ||
	    (kind == FORMAT_STACKS && !first))
		return gap;
	if (!column_set_is_known(&s, d->n))
		return unknown_ids;
	if (kind == FORMAT_STACKS)
		return read_stacks(d, &s, (size_t)first, true, d->stacks.at + first);
	return read_locations(d, &s, d->locations.at + first);
}

typedef const char *apply_fn(struct dictionary *d, unsigned kind, struct reader r);

static apply_fn *const appliers[FORMAT_N_KINDS] = {
	[FORMAT_INFO] = apply_infos,	      [FORMAT_STRINGS] = apply_strings,
	[FORMAT_IMAGES] = apply_records,      [FORMAT_PROCESSES] = apply_records,
	[FORMAT_THREADS] = apply_records,     [FORMAT_EVENTS] = apply_records,
	[FORMAT_TRACE_TYPES] = apply_records, [FORMAT_LOCATIONS] = apply_locations,
	[FORMAT_STACKS] = apply_stacks,	      [FORMAT_MAPPINGS] = apply_records,
	[FORMAT_INTERVALS] = apply_records,   [FORMAT_FACTS] = apply_records,
	[FORMAT_BLOBS] = apply_records,
};

bool dictionary_has_kind(unsigned kind)
{
	return kind < FORMAT_N_KINDS && appliers[kind];
}

const char *dictionary_apply(struct dictionary *d, unsigned kind, struct reader r)
{
	return appliers[kind](d, kind, r);
}
