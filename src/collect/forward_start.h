/* SPDX-License-Identifier: Apache-2.0
 *
 * forward_start - a sample's registers as a walk over code takes them.
 *
 * No state.
 */
#ifndef DWELL_COLLECT_FORWARD_START_H
#define DWELL_COLLECT_FORWARD_START_H

#include "decode/forward.h"

struct unwind_regs;

/* cpu_flags: as of perf_regs_decode().  The walk over that architecture's code. */
forward_fn *forward_start(const struct unwind_regs *regs, uint64_t cpu_flags,
			  struct forward_state *ret);

#endif
