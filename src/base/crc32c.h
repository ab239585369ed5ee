/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c - the Castagnoli checksum, in hardware where the CPU has it.
 */
#ifndef DWELL_BASE_CRC32C_H
#define DWELL_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Start with crc 0; feed the result back to go on. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
