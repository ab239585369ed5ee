/* SPDX-License-Identifier: Apache-2.0
 *
 * layout - how the structs of model.h lie in records: one table line per field.
 *
 * A record is its length and its fields in order.  A reader ignores what follows the
 * fields it knows and leaves at 0 (ids: MODEL_NONE where allowed) what is not there,
 * so fields are only ever added at the end.
 */
#ifndef DWELL_STORE_LAYOUT_H
#define DWELL_STORE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/reader.h"
#include "store/format.h"

enum layout_type {
	LAYOUT_UINT,	   /* uleb */
	LAYOUT_INT,	   /* zigzag */
	LAYOUT_ID,	   /* uleb, an id of the dictionary `of` */
	LAYOUT_ID_OR_NONE, /* uleb, 0 for MODEL_NONE, else id + 1 */
	LAYOUT_BYTES,	   /* uleb length (kept at `size_at`), then the bytes */
	LAYOUT_PAIRS,	   /* uleb count (kept at `size_at`), then pairs of a string id
			    * and a number */
};

struct layout_field {
	uint16_t at;
	uint8_t width; /* bytes of the member; of BYTES and PAIRS: how many fit */
	uint8_t type;  /* enum layout_type */
	uint8_t of;    /* enum format_kind of the dictionary that an id is of */
	uint16_t size_at;
};

struct layout {
	const struct layout_field *fields;
	size_t n_fields;
	size_t item_size;
};

/* The layout of a record kind, or NULL: the kind does not consist of records. */
const struct layout *layout_of(enum format_kind kind);

/* Appends the id and the fields as one record. */
void layout_encode(const struct layout *l, uint32_t id, const void *item,
		   struct buf *out);
/* The next record; r->bad when it is none. */
void layout_decode(const struct layout *l, struct reader *r, uint32_t *ret_id,
		   void *item);
/* Every id in the item is below its dictionary's count (n[kind]). */
bool layout_ids_are_known(const struct layout *l, const void *item,
			  const uint32_t n[FORMAT_N_KINDS]);

#endif
