/* SPDX-License-Identifier: Apache-2.0
 *
 * call_filters - the filters of system calls (seccomp) that are in force already.
 *
 * A program may have them from whoever started it, who knew nothing of what a library of
 * ours asks of the kernel.
 */
#ifndef DWELL_INJECT_CALL_FILTERS_H
#define DWELL_INJECT_CALL_FILTERS_H

#include <stddef.h>
#include <stdint.h>

/* By the text of /proc/PID/status; UINT32_MAX: it is not told.  Kernels before 5.9 tell
 * no number: then it is 1 where there are some. */
uint32_t call_filters_count(const char *status, size_t n);
/* Of this process, by calls that its dynamic linker made, too; UINT32_MAX: unknown. */
uint32_t call_filters_own(void);

#endif
