/* SPDX-License-Identifier: Apache-2.0
 *
 * symbol_store - the symbols of files that may be gone by the time of a report.
 *
 * DIRECTORY/.build-id/ab/cdef… is the small ELF file of the file with that build-id, as
 * debuggers look for one.  The longest unused go when there is more than the limit.
 */
#ifndef DWELL_COLLECT_SYMBOL_STORE_H
#define DWELL_COLLECT_SYMBOL_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct image_file;
struct symbol_store;

/* Makes the directory. */
must_use int symbol_store_new(const char *directory, uint64_t max_bytes,
			      struct symbol_store **ret, struct err *e);
void symbol_store_free(struct symbol_store *s);
void symbol_store_freep(struct symbol_store **s);

/* What has no symbols or no build-id is passed over; a failure to write is counted, and
 * the file is tried again when it is met again. */
void symbol_store_keep(struct symbol_store *s, const struct image_file *file);

uint64_t symbol_store_bytes(const struct symbol_store *s);
uint64_t symbol_store_n_failures(const struct symbol_store *s);

#endif
