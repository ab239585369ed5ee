/* SPDX-License-Identifier: Apache-2.0
 *
 * system_rows - the unwind rows that the kernel's side may look up.
 *
 * Rows lie in pages of maps that both sides see.  There is a limit; beyond it, what was
 * not used for longest goes.  Pages that went are left alone for a while, for a walk may
 * still be reading them.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_ROWS_H
#define DWELL_COLLECT_SYSTEM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/row_pack.h"

struct system_rows;

/* Descriptors of the maps, borrowed. */
struct system_rows_maps {
	int pools, rules, images;
};

/* first_bytes: had from the start, 0: as little as can be.  Later the kernel has whoever
 * loads rows that need more wait for 10 ms and longer, in which stacks end early. */
must_use int system_rows_new(const struct system_rows_maps *maps, size_t limit_bytes,
			     size_t first_bytes, struct system_rows **ret, struct err *e);
/* The same, with what the maps hold already. */
must_use int system_rows_take(const struct system_rows_maps *maps, size_t limit_bytes,
			      struct system_rows **ret, struct err *e);
void system_rows_free(struct system_rows *r);
void system_rows_freep(struct system_rows **r);

/* Place the rows of an image; from then on walks use them.  ERR_LIMIT: there is no room
 * now, and the image will be asked for again. */
must_use int system_rows_load(struct system_rows *r, uint32_t image,
			      const struct row_pack *p, struct err *e);
/* It has none: its code is walked by frame pointers. */
void system_rows_set_none(struct system_rows *r, uint32_t image);
/* Its file was not to be had: the next process that maps it may do better. */
void system_rows_ask_again(struct system_rows *r, uint32_t image);
/* Its data end there, as if all of them were in the file; to be told before its rows. */
void system_rows_set_data_end(struct system_rows *r, uint32_t image, uint64_t offset);
/* Is the number still a file's? */
bool system_rows_is_current(const struct system_rows *r, uint32_t image);
/* Its number becomes another file's. */
void system_rows_forget(struct system_rows *r, uint32_t image);
/* Note which were used; to be called now and then. */
void system_rows_tick(struct system_rows *r, uint64_t now_ns);

/* Memory of the maps. */
size_t system_rows_bytes(const struct system_rows *r);
size_t system_rows_n_loaded(const struct system_rows *r);

#endif
