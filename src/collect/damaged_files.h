/* SPDX-License-Identifier: Apache-2.0
 *
 * damaged_files - what was taken, cannot be read, and is kept beside a host's epochs for
 * whoever wants to know.
 *
 * FROM-TO.damaged, in seconds since 1970; no reader of the database looks at them.
 */
#ifndef DWELL_COLLECT_DAMAGED_FILES_H
#define DWELL_COLLECT_DAMAGED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/database_writer.h"

#define DAMAGED_FILES_SUFFIX ".damaged"

size_t damaged_files_count(const char *directory);
/* Those that are too old go, and then the oldest until they and other_bytes are no more
 * than there may be: no report reads them, so they go before any segment. */
must_use int damaged_files_retain(const char *directory,
				  const struct database_retention *r,
				  uint64_t other_bytes, int64_t now_s, struct err *e);

#endif
