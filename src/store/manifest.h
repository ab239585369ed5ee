/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest - what an epoch is: the small text file MANIFEST in its directory.
 *
 * One "key value" per line, a checksum in the last.  Keys that a reader does not know it
 * ignores.
 */
#ifndef DWELL_STORE_MANIFEST_H
#define DWELL_STORE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

#define MANIFEST_FILE	   "MANIFEST"
#define MANIFEST_TEXT_MAX  256
#define MANIFEST_MAX_BYTES (64u << 10)

struct manifest {
	char host[MANIFEST_TEXT_MAX];
	char label[MANIFEST_TEXT_MAX];	 /* "": none */
	char version[MANIFEST_TEXT_MAX]; /* of the dwell that wrote it */
	char clock[MANIFEST_TEXT_MAX];	 /* of the times of its samples */
	uint32_t epoch;
	int64_t start_s, end_s; /* seconds since 1970; end 0: it goes on */
	uint64_t period_ns;	/* between samples; 0: several, or not by time */
};

void manifest_encode(const struct manifest *m, struct buf *out);
must_use int manifest_parse(const void *data, size_t size, struct manifest *ret,
			    struct err *e);
/* Of an epoch's directory. */
must_use int manifest_read(const char *directory, struct manifest *ret, struct err *e);
must_use int manifest_write(const char *directory, const struct manifest *m,
			    struct err *e);
/* Copies a text, blanks for what would break a line. */
void manifest_set(char out[MANIFEST_TEXT_MAX], const char *text);

#endif
