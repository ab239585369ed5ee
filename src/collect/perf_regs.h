/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_regs - the user registers that samples carry.
 */
#ifndef DWELL_COLLECT_PERF_REGS_H
#define DWELL_COLLECT_PERF_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/offline.h"

/* Beside aarch64's flags, which may all be clear: they are told. */
#define PERF_REGS_TOLD (UINT64_C(1) << 63)

/* What the kernel keeps of the user's registers and shows to BPF programs, the first of
 * struct pt_regs. */
#if defined(__x86_64__)
#define PERF_REGS_KERNEL_BYTES 168
#else
#define PERF_REGS_KERNEL_BYTES 272
#endif

/* perf_event_attr.sample_regs_user: all that unwinding may need, and the CPU's flags. */
uint64_t perf_regs_mask(void);
unsigned perf_regs_count(void); /* bits in the mask */
/* Values in the order of the mask, as the kernel writes them.  *ret_flags: the CPU's, 0
 * where they are not told, as aarch64's are not here. */
void perf_regs_decode(const uint8_t *values, struct unwind_regs *ret,
		      uint64_t *ret_flags);
/* PERF_REGS_KERNEL_BYTES of them; *ret_is_32bit: it runs 32-bit code.  False: there are
 * none, as of the kernel's threads. */
bool perf_regs_decode_kernel(const uint8_t *kept, struct unwind_regs *ret,
			     uint64_t *ret_flags, bool *ret_is_32bit);
/* Those of a thread of which no others are known. */
void perf_regs_blocked(uint64_t sp, uint64_t pc, struct unwind_regs *ret);
uint64_t perf_regs_sp(const struct unwind_regs *regs);
uint64_t perf_regs_pc(const struct unwind_regs *regs);

#endif
