/* SPDX-License-Identifier: Apache-2.0
 *
 * program_memory - where a program says that something is, and it may not be.
 *
 * The kernel is asked to copy, as long as the program lets it be asked.
 */
#ifndef DWELL_COUNT_PROGRAM_MEMORY_H
#define DWELL_COUNT_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool program_memory_read(void *to, uint64_t from, size_t bytes);
bool program_memory_write(uint64_t to, const void *from, size_t bytes);

/* With the final 0; false: it is longer, or not all there. */
bool program_memory_read_text(char *to, uint64_t from, size_t size);

/* The program has forbidden itself all but some system calls: from now on it is believed.
 */
void program_memory_believe(void);
bool program_memory_is_believed(void);

#endif
