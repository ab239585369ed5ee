/* SPDX-License-Identifier: Apache-2.0
 *
 * row_table_file - compiled tables kept on disk by build-id.
 *
 * Compiling the table of a big library takes 0.1 s, reading it back a tenth.  Files are
 * replaced atomically and checksummed; a damaged one is an error, and rebuilt by
 * row_table_file_get().  Any process of the user may use the directory at once.
 */
#ifndef DWELL_UNWIND_ROW_TABLE_FILE_H
#define DWELL_UNWIND_ROW_TABLE_FILE_H

#include "unwind/row_table.h"

/* dir is made when it is not there; key names the file (a build-id in hex). */
must_use int row_table_file_save(const struct row_table *t, const char *dir,
				 const char *key, struct err *e);
must_use int row_table_file_load(const char *dir, const char *key, struct row_table **ret,
				 struct err *e);

/* From the bytes of a file, aligned to 4. */
must_use int row_table_file_parse(const void *data, size_t size, struct row_table **ret,
				  struct err *e);

/* Load, else build and try to save.  dir NULL: $XDG_CACHE_HOME/dwell/unwind. */
must_use int row_table_file_get(const struct unwind_image *image, const char *dir,
				const char *key, struct row_table **ret, struct err *e);

#endif
