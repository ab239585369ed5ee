/* SPDX-License-Identifier: Apache-2.0
 *
 * experiment_cpu - what the experiments that sample CPU time have in common.
 *
 * Parts of initialisers: of a struct experiment, and of its column of CPU time.
 */
#ifndef DWELL_COLLECT_EXPERIMENT_CPU_H
#define DWELL_COLLECT_EXPERIMENT_CPU_H

#include "collect/experiment.h"
#include "store/model.h"

#define EXPERIMENT_CPU_INTERVALS                                                         \
	.has_variants = true, .unit = "ns", .on = 10000000, .hi = 1000000,               \
	.lo = 100000000, .min = 10000, .max = UINT64_C(10000000000)

#define EXPERIMENT_CPU_COLUMN                                                            \
	.name = "cpu-time", .unit = "ns", .description = "CPU time, user and system",    \
	.is_periodic = true

#endif
