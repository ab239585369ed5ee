/* SPDX-License-Identifier: Apache-2.0
 *
 * squeeze - zstd where it pays.
 *
 * Zero-initialise, release with squeeze_fini().  The packed bytes are borrowed until
 * the next call.
 */
#ifndef DWELL_STORE_SQUEEZE_H
#define DWELL_STORE_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct squeeze {
	void *zstd; /* ZSTD_CCtx */
	int level;  /* of zstd; 0: fast, as beside a program that is measured */
	struct buf packed;
};

void squeeze_fini(struct squeeze *s);
/* True: s->packed is clearly smaller than the data. */
bool squeeze_pack(struct squeeze *s, const void *data, size_t size);
/* Exactly raw_size bytes come out, or false.  The caller has bounded raw_size. */
bool squeeze_unpack(const void *data, size_t size, uint8_t *out, size_t raw_size);

#endif
