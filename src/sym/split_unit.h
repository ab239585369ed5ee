/* SPDX-License-Identifier: Apache-2.0
 *
 * split_unit - the units that -gsplit-dwarf put into .dwo files or one .dwp.
 *
 * The package FILE.dwp next to the debug file or the binary is asked first, then the
 * .dwo where the compiler put it, then a .dwo of that name next to the binary; before
 * each, what an archive kept of it.  A unit counts only when its id is the skeleton's.
 */
#ifndef DWELL_SYM_SPLIT_UNIT_H
#define DWELL_SYM_SPLIT_UNIT_H

#include "sym/debug_file.h"
#include "sym/image.h"

struct split_units;

/* debug_path is the file with the skeletons; both are borrowed. */
struct split_units *split_unit_new(const struct image *im, const char *debug_path);
void split_unit_free(struct split_units *s);

/* The split unit of a skeleton, once found remembered, or NULL. */
struct debug_unit *split_unit_find(struct split_units *s, struct debug_unit *skeleton);

/* The files on disk in which the skeletons of a file would be found. */
void split_unit_each_file(struct split_units *s, const struct debug_file *skeletons,
			  sym_file_fn *visit, void *ctx);

#endif
