/* SPDX-License-Identifier: Apache-2.0
 *
 * locate - the files of an image: the binary, and where its debug information is.
 *
 * Order for the binary: kept in the recording, where the recorder opened it, below the
 * sysroot, its path, .build-id directories, debuginfod.  For debug information: the
 * binary itself, the recording, .build-id directories, .gnu_debuglink, debuginfod.
 * When the build-id of the image is known nothing else is accepted; without one the
 * binary must have the size and time that it had, and a debug file the checksum that
 * .gnu_debuglink states.
 */
#ifndef DWELL_SYM_LOCATE_H
#define DWELL_SYM_LOCATE_H

#include <stdbool.h>

#include "sym/image.h"
#include "sym/object.h"

struct locate_result {
	struct object *binary;	    /* or NULL */
	struct object *debug;	    /* has .debug_info; may be the binary; or NULL */
	bool is_replaced;	    /* there is a file at the path, but another one */
	const char *server_problem; /* why debug servers did not help; NULL: not asked */
};

void locate_image(const struct image *im, struct locate_result *ret);
void locate_fini(struct locate_result *r);
/* A file that the recording keeps, or NULL; name NULL: whatever there is. */
struct object *locate_blob(const struct image *im, const char *kind, const char *name);
/* The file that .gnu_debugaltlink of an object names (dwz), or NULL. */
struct object *locate_alternate(const struct image *im, struct object *o);
/* Has debug information of its own. */
bool locate_has_debug(const struct object *o);

#endif
