/* SPDX-License-Identifier: Apache-2.0
 *
 * record_list - the things of one record kind, dense by id: images, threads, facts …
 *
 * The writer adds and updates items and encodes what changed; the reader applies the
 * blocks that come of it, each as a whole or not at all.
 */
#ifndef DWELL_STORE_RECORD_LIST_H
#define DWELL_STORE_RECORD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/reader.h"
#include "base/vec.h"
#include "store/layout.h"

struct record_list {
	const struct layout *layout;
	uint8_t *items;
	uint8_t *is_changed; /* writer only */
	size_t cap;
	uint32_t n;
	uint32_t n_forgotten; /* ids below are no longer kept */
	VEC(uint32_t) changed;
};

void record_list_init(struct record_list *l, enum format_kind kind);
void record_list_fini(struct record_list *l);

uint32_t record_list_add(struct record_list *l, const void *item);
void record_list_update(struct record_list *l, uint32_t id, const void *item);
/* Borrowed until the next addition; NULL out of range. */
const void *record_list_get(const struct record_list *l, uint32_t id);
/* Records of what was added and updated since record_list_settle(), from the i-th change
 * on, up to about max_bytes; returns the next i. */
size_t record_list_encode(const struct record_list *l, size_t i, size_t max_bytes,
			  struct buf *out);
/* All changes are written; forget: the items are not needed any more. */
void record_list_settle(struct record_list *l, bool forget);

/* Adds and updates from a block.  False: it is malformed, leaves a gap, refers to what
 * is not known (n[kind]) or would take more than max_items; nothing was applied. */
bool record_list_apply(struct record_list *l, struct reader *r, enum format_kind kind,
		       const uint32_t n[FORMAT_N_KINDS], size_t max_items);
/* The same of a block that numbers its items from 0, and of none that refer to each
 * other: they go behind those that are there. */
bool record_list_append(struct record_list *l, struct reader r,
			const uint32_t n[FORMAT_N_KINDS], size_t max_items);

#endif
