/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/model.h"

void record_list_init(struct record_list *l, enum format_kind kind)
{
	*l = (struct record_list){ .layout = layout_of(kind) };
	assert(l->layout);
}

void record_list_fini(struct record_list *l)
{
	free(l->items);
	free(l->is_changed);
	vec_fini(&l->changed);
	*l = (struct record_list){ 0 };
}

static void *item_at(const struct record_list *l, uint32_t id)
{
	return l->items + (size_t)(id - l->n_forgotten) * l->layout->item_size;
}

static void grow(struct record_list *l)
{
	if (l->n - l->n_forgotten < l->cap)
		return;
	l->cap = l->cap ? l->cap * 2 : 16;
	l->items = xrealloc(l->items, l->cap, l->layout->item_size);
	l->is_changed = xrealloc(l->is_changed, l->cap, 1);
}

static void mark(struct record_list *l, uint32_t id)
{
	if (l->is_changed[id - l->n_forgotten])
		return;
	l->is_changed[id - l->n_forgotten] = 1;
	*vec_push(&l->changed) = id;
}

uint32_t record_list_add(struct record_list *l, const void *item)
{
	uint32_t id = l->n;

	grow(l);
	l->n++;
	memcpy(item_at(l, id), item, l->layout->item_size);
	l->is_changed[id - l->n_forgotten] = 0;
	mark(l, id);
	return id;
}

void record_list_update(struct record_list *l, uint32_t id, const void *item)
{
	assert(id >= l->n_forgotten && id < l->n);
	if (memcmp(item_at(l, id), item, l->layout->item_size) == 0)
		return;
	memmove(item_at(l, id), item, l->layout->item_size);
	mark(l, id);
}

const void *record_list_get(const struct record_list *l, uint32_t id)
{
	return id >= l->n_forgotten && id < l->n ? item_at(l, id) : NULL;
}

size_t record_list_encode(const struct record_list *l, size_t i, size_t max_bytes,
			  struct buf *out)
{
	for (; i < l->changed.n && out->size < max_bytes; i++) {
		uint32_t id = l->changed.at[i];

		layout_encode(l->layout, id, item_at(l, id), out);
	}
	return i;
}

void record_list_settle(struct record_list *l, bool forget)
{
	vec_each(id, &l->changed)
		l->is_changed[*id - l->n_forgotten] = 0;
	vec_clear(&l->changed);
	if (forget)
		l->n_forgotten = l->n;
}

/* Only looks: how many items there are once the block is applied. */
static bool check_block(const struct record_list *l, struct reader r, void *item,
			size_t max_items, uint32_t *ret_n)
{
	uint32_t n = l->n;

	while (reader_left(&r)) {
		uint32_t id;

		layout_decode(l->layout, &r, &id, item);
		if (r.bad || id > n)
			return false;
		n += id == n;
	}
	*ret_n = n;
	return !r.bad && n <= max_items;
}

static bool check_ids(const struct record_list *l, struct reader r, void *item,
		      const uint32_t n[FORMAT_N_KINDS])
{
	while (reader_left(&r)) {
		uint32_t id;

		layout_decode(l->layout, &r, &id, item);
		if (!layout_ids_are_known(l->layout, item, n))
			return false;
	}
	return true;
}

static void apply_block(struct record_list *l, struct reader r, void *item)
{
	while (reader_left(&r)) {
		uint32_t id;

		layout_decode(l->layout, &r, &id, item);
		if (id == l->n) {
			grow(l);
			l->n++;
		}
		memcpy(item_at(l, id), item, l->layout->item_size);
	}
}

bool record_list_apply(struct record_list *l, struct reader *r, enum format_kind kind,
		       const uint32_t n[FORMAT_N_KINDS], size_t max_items)
{
	own(freep) void *item = xcalloc(1, l->layout->item_size);
	uint32_t known[FORMAT_N_KINDS];

	memcpy(known, n, sizeof(known));
	/* Items of a block may refer to each other. */
	if (!check_block(l, *r, item, max_items, &known[kind]) ||
	    !check_ids(l, *r, item, known))
		return false;
	apply_block(l, *r, item);
	return true;
}

static bool is_in_order(const struct record_list *l, struct reader r, void *item,
			size_t max_items)
{
	uint32_t n = 0;

	while (reader_left(&r)) {
		uint32_t id;

		layout_decode(l->layout, &r, &id, item);
		if (r.bad || id != n++)
			return false;
	}
	return !r.bad && l->n + (size_t)n <= max_items;
}

bool record_list_append(struct record_list *l, struct reader r,
			const uint32_t n[FORMAT_N_KINDS], size_t max_items)
{
	own(freep) void *item = xcalloc(1, l->layout->item_size);

	if (!is_in_order(l, r, item, max_items) || !check_ids(l, r, item, n))
		return false;
	while (reader_left(&r)) {
		uint32_t id;

		layout_decode(l->layout, &r, &id, item);
		grow(l);
		memcpy(item_at(l, l->n++), item, l->layout->item_size);
	}
	return true;
}
