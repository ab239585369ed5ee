/* SPDX-License-Identifier: Apache-2.0
 *
 * image_table - the files that run, each opened once while it can still be opened.
 *
 * A file is found where the target sees it: by its path, below /proc/PID/root, or
 * through /proc/PID/map_files when it was deleted; what is found must have the identity
 * (build-id or inode) that the kernel reported.  Unwind tables are read on first use.
 */
#ifndef DWELL_COLLECT_IMAGE_TABLE_H
#define DWELL_COLLECT_IMAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "collect/own_library.h"
#include "store/writer.h"
#include "unwind/offline.h"

struct image_table;
struct symbol_store;
struct tracker_mmap;

struct image_table *image_table_new(struct writer *w);
void image_table_free(struct image_table *t);
void image_table_freep(struct image_table **t);

/* The symbols of what is added from now on are kept there, which is borrowed. */
void image_table_keep_symbols(struct image_table *t, struct symbol_store *symbols);

#define IMAGE_TABLE_ANONYMOUS UINT32_MAX /* code in memory that no file explains */

/* Index of the image of a mapping of process pid. */
uint32_t image_table_of(struct image_table *t, uint32_t pid,
			const struct tracker_mmap *m);
/* Id in the recording. */
uint32_t image_table_id(const struct image_table *t, uint32_t image);
const char *image_table_path(const struct image_table *t, uint32_t image);
/* The open file, borrowed until its unwind tables are asked for; -1: not found. */
int image_table_file(const struct image_table *t, uint32_t image);
/* NULL when the file could not be opened. */
struct unwind_image *image_table_unwind(struct image_table *t, uint32_t image);

struct image_table_traits {
	bool is_32bit, is_static, is_setid;
	enum own_library_code whose;
	uint64_t entry_offset; /* where the kernel starts it, 0 unknown */
};
struct image_table_traits image_table_traits(const struct image_table *t, uint32_t image);
/* Ids are less than this. */
uint32_t image_table_count(const struct image_table *t);

#endif
