/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * results - of system calls, as the kernel has them to itself: a signal came in between.
 */
#ifndef DWELL_COLLECT_BPF_RESULTS_BPF_H
#define DWELL_COLLECT_BPF_RESULTS_BPF_H

#include "collect/bpf/kernel.bpf.h"

#define RESULTS_INTERRUPTED  (-4)
#define RESULTS_AGAIN	     (-512)
#define RESULTS_AGAIN_ALWAYS (-513)
#define RESULTS_RESTART	     (-516)

static __always_inline bool results_is_broken_off(int64_t result)
{
	return result == RESULTS_AGAIN || result == RESULTS_AGAIN_ALWAYS ||
	       result == RESULTS_RESTART;
}

#endif
