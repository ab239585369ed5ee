/* SPDX-License-Identifier: Apache-2.0
 *
 * block_list - where the blocks of a recording are.
 *
 * From the closing index when the file has one, else by walking the headers, around
 * damage where the next block can be found again.
 */
#ifndef DWELL_STORE_BLOCK_LIST_H
#define DWELL_STORE_BLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/block_source.h"
#include "store/damage.h"
#include "store/format.h"

struct block_list {
	VEC(struct format_entry) blocks; /* in file order */
	bool is_closed;			 /* the recorder ended in order */
	uint64_t whole_bytes;		 /* end of the last whole block */
	bool has_interim;		 /* one may be behind that (interim.h) */
	bool is_growing; /* more is to come: what is there of it yet is no damage */
};

must_use int block_list_read(struct block_list *l, const struct block_source *s,
			     struct damage *damage, struct err *e);
/* And what was appended since it was read: the source's size has grown. */
must_use int block_list_follow(struct block_list *l, const struct block_source *s,
			       struct damage *damage, struct err *e);
/* Leaves out those that begin at off or behind it. */
void block_list_cut(struct block_list *l, uint64_t off);
void block_list_fini(struct block_list *l);

#endif
