/* SPDX-License-Identifier: Apache-2.0
 *
 * row_pack_file - packed unwind rows as the bytes of a file.
 *
 * A header, the rules, the words; each checksummed.  The header also says where the file
 * that they are of has its code: one with the same build-id may have it elsewhere.
 */
#ifndef DWELL_COLLECT_ROW_PACK_FILE_H
#define DWELL_COLLECT_ROW_PACK_FILE_H

#include "base/buf.h"
#include "collect/row_pack.h"

/* layout: of the file of code, see struct executable. */
void row_pack_file_format(const struct row_pack *p, uint32_t layout, struct buf *to);
/* ret is initialised; it is checked as row_pack_check() does.  ERR_UNSUPPORTED: of a file
 * of another layout. */
must_use int row_pack_file_parse(const void *data, size_t size, uint32_t layout,
				 struct row_pack *ret, struct err *e);

#endif
