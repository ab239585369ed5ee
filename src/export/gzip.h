/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip - a compressed stream onto a FILE, which stays the caller's.
 */
#ifndef DWELL_EXPORT_GZIP_H
#define DWELL_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/own.h"

struct gzip;

struct gzip *gzip_new(FILE *out);
void gzip_free(struct gzip *g);
void gzip_freep(struct gzip **g);

must_use int gzip_write(struct gzip *g, const void *data, size_t n, struct err *e);
/* Write what is pending and the trailer; nothing may be written after it. */
must_use int gzip_finish(struct gzip *g, struct err *e);

#endif
