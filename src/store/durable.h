/* SPDX-License-Identifier: Apache-2.0
 *
 * durable - files that are there as a whole or not at all, also after a power failure.
 *
 * A new file is written under a temporary name in its directory, fsynced, renamed, and
 * the directory fsynced.  Temporary names begin with DURABLE_PREFIX; what a killed writer
 * left of them is nobody's.
 */
#ifndef DWELL_STORE_DURABLE_H
#define DWELL_STORE_DURABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/own.h"

#define DURABLE_PREFIX ".new-"

/* The temporary path for a path; free it. */
char *durable_temporary(const char *path);
/* What was written to the temporary becomes the path.  On failure it is removed. */
must_use int durable_commit(const char *temporary, const char *path, struct err *e);
must_use int durable_write(const char *path, const void *data, size_t size,
			   struct err *e);
/* Makes the directory when it is not there. */
must_use int durable_directory(const char *path, struct err *e);
/* Renames and removals in a directory reach the disk. */
must_use int durable_sync(const char *directory, struct err *e);
bool durable_is_temporary(const char *name);

#endif
