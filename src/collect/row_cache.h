/* SPDX-License-Identifier: Apache-2.0
 *
 * row_cache - packed unwind rows kept on disk by build-id.
 *
 * Compiling the tables of a big program takes 0.1 s, in which its stacks end early; what
 * is kept is there in some milliseconds.  Files are replaced atomically and verified when
 * they are read; what was not used for longest goes when there is too much.  Several
 * processes of a user may use the directory at once, and several threads the cache.
 */
#ifndef DWELL_COLLECT_ROW_CACHE_H
#define DWELL_COLLECT_ROW_CACHE_H

#include <stdbool.h>

#include "collect/row_pack.h"

struct row_cache;

/* directory NULL: $XDG_CACHE_HOME/dwell/unwind.  maker: what compiles them,
 * row_pack_maker(); others' rows are not found.  Cannot fail: where nothing can be kept
 * rows are compiled again. */
struct row_cache *row_cache_new(const char *directory, uint64_t max_bytes,
				uint32_t maker);
void row_cache_free(struct row_cache *c);
void row_cache_freep(struct row_cache **c);

/* key: a build-id in hex; layout: see row_pack_file.h.  ret is initialised. */
bool row_cache_find(const struct row_cache *c, const char *key, uint32_t layout,
		    struct row_pack *ret);
void row_cache_keep(struct row_cache *c, const char *key, uint32_t layout,
		    const struct row_pack *p);

#endif
