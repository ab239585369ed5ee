/* SPDX-License-Identifier: Apache-2.0
 *
 * count_code - the bytes of code that was executed, from the files it was mapped from.
 *
 * Each mapped part of a file is read once, at first use.  Owns what it lends.
 */
#ifndef DWELL_COLLECT_COUNT_CODE_H
#define DWELL_COLLECT_COUNT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct count_code_part {
	uint64_t off;
	size_t size;
	uint8_t *bytes; /* NULL: they cannot be had */
};

/* Zero-initialise. */
struct count_code {
	struct map index; /* of an image and an offset: number of the part */
	VEC(struct count_code_part) parts;
};

void count_code_fini(struct count_code *c);
/* The part at off of a file, which is open as fd or gone (-1); image: its id in the
 * recording.  Its size is what was mapped, and may be beyond the end of the file. */
struct count_code_part count_code_of_file(struct count_code *c, uint32_t image, int fd,
					  uint64_t off, uint64_t size);
/* The kernel's code in every process, which is also in ours. */
struct count_code_part count_code_of_vdso(struct count_code *c, uint32_t image,
					  uint64_t size);
/* The bytes at an offset of the file, or NULL. */
const uint8_t *count_code_at(const struct count_code_part *p, uint64_t off, size_t size);

#endif
