/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_range - the memory that the program may execute.
 */
#ifndef DWELL_COUNT_EXEC_RANGE_H
#define DWELL_COUNT_EXEC_RANGE_H

#include <stdint.h>

struct exec_range {
	uint64_t start, end;
	uint32_t image; /* its struct count_file_image */
};

/* What was known of those addresses is forgotten. */
void exec_range_add(uint64_t start, uint64_t end, uint32_t image);
void exec_range_remove(uint64_t start, uint64_t end);

/* NULL: it is not executable. */
const struct exec_range *exec_range_find(uint64_t addr);

#endif
