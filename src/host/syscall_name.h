/* SPDX-License-Identifier: Apache-2.0
 *
 * syscall_name - what system calls and their errors are called on this machine.
 */
#ifndef DWELL_HOST_SYSCALL_NAME_H
#define DWELL_HOST_SYSCALL_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: none has that number.  is_32bit: as 32-bit programs number them. */
const char *syscall_name(uint32_t number, bool is_32bit);
/* "ENOENT"; those too that only a tracer sees, as they restart the call. */
const char *syscall_name_error(uint32_t error);

#endif
