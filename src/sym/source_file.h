/* SPDX-License-Identifier: Apache-2.0
 *
 * source_file - the text of a source file that debug information names.
 */
#ifndef DWELL_SYM_SOURCE_FILE_H
#define DWELL_SYM_SOURCE_FILE_H

#include "sym/image.h"

#define SOURCE_FILE_BYTES_MAX (64u << 20)

/* The copy in the recording, else below the sysroot, else as named. */
must_use int source_file_read(struct image *im, const char *file, struct buf *ret,
			      struct err *e);

#endif
