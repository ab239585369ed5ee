/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_regs - the user registers that samples carry.
 */
#ifndef DWELL_COLLECT_PERF_REGS_H
#define DWELL_COLLECT_PERF_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/offline.h"

/* perf_event_attr.sample_regs_user: all that unwinding may need. */
uint64_t perf_regs_mask(void);
unsigned perf_regs_count(void); /* bits in the mask */
/* Values in the order of the mask, as the kernel writes them. */
void perf_regs_decode(const uint8_t *values, struct unwind_regs *ret);
/* Those of a thread of which no others are known. */
void perf_regs_blocked(uint64_t sp, uint64_t pc, struct unwind_regs *ret);
uint64_t perf_regs_sp(const struct unwind_regs *regs);
uint64_t perf_regs_pc(const struct unwind_regs *regs);

#endif
