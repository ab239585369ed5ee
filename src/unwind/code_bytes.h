/* SPDX-License-Identifier: Apache-2.0
 *
 * code_bytes - bytes of a file's code, read when a walk wants to look at it.
 *
 * Keeps a duplicate of the descriptor, so that the file may be deleted meanwhile, and
 * the lines read last.  The file is read, not mapped: it may be truncated under us.
 * One thread at a time.
 */
#ifndef DWELL_UNWIND_CODE_BYTES_H
#define DWELL_UNWIND_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_bytes_line;

struct code_bytes {
	int fd;		      /* owned; -1: bytes, or unreadable */
	const uint8_t *bytes; /* borrowed, or NULL */
	uint64_t size;
	struct code_bytes_line *lines; /* owned; NULL until the first word */
};

/* fd is borrowed, -1: bytes. */
void code_bytes_init(struct code_bytes *c, int fd, const uint8_t *bytes, uint64_t size);
void code_bytes_fini(struct code_bytes *c);

/* As many of n bytes (256 at most) at an offset as the file has; how many. */
unsigned code_bytes_read(struct code_bytes *c, uint64_t off, uint8_t *to, unsigned n);

#endif
