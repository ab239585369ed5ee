/* SPDX-License-Identifier: Apache-2.0
 *
 * debug_info - addresses to inlined call chains and lines, in bulk.
 *
 * The addresses are dealt out to the units that contain them (of several copies of one
 * inline function the first unit's, as other tools do); each such unit is walked
 * once, several at a time on several threads; then names are looked up.
 */
#ifndef DWELL_SYM_DEBUG_INFO_H
#define DWELL_SYM_DEBUG_INFO_H

#include "sym/debug_file.h"
#include "sym/image.h"
#include "sym/symtab.h"

struct debug_info;

/* Owns nothing of its arguments; alternate (dwz) may be NULL and is taken over. */
struct debug_info *debug_info_open(struct object *debug, struct object *alternate,
				   struct image *im, const struct symtab *symbols);
void debug_info_free(struct debug_info *d);

/* Addresses ascend; places of addresses that no unit contains are left alone. */
void debug_info_resolve(struct debug_info *d, const uint64_t *addresses, size_t n,
			struct image_place *ret);
/* Rows of all units, for the caller to free; sorted by address. */
size_t debug_info_lines(struct debug_info *d, uint64_t address, size_t size,
			struct sym_line_row **ret);
/* The files beside the debug file: dwz's, .dwo, .dwp. */
void debug_info_each_file(struct debug_info *d, sym_file_fn *visit, void *ctx);
/* A .dwo file that was named but is not there, or NULL. */
const char *debug_info_missing(const struct debug_info *d);

#endif
