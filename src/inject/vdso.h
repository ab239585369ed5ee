/* SPDX-License-Identifier: Apache-2.0
 *
 * vdso - clock and CPU without entering the kernel.
 *
 * A program may have forbidden itself system calls (seccomp), so the signal handler
 * must make none.
 */
#ifndef DWELL_INJECT_VDSO_H
#define DWELL_INJECT_VDSO_H

#include <stdint.h>

void vdso_init(const void *elf); /* NULL: none */
/* CLOCK_MONOTONIC; a system call only where there is no vDSO. */
uint64_t vdso_now_ns(void);
uint32_t vdso_cpu(void); /* UINT32_MAX: unknown */

#endif
