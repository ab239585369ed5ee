/* SPDX-License-Identifier: Apache-2.0
 *
 * system_late - how long after their time samples were taken, over all CPUs.
 */
#ifndef DWELL_COLLECT_SYSTEM_LATE_H
#define DWELL_COLLECT_SYSTEM_LATE_H

#include <stdint.h>

#include "wire/stack_record.h"

#define SYSTEM_LATE_PLACES 4 /* the first are told */

struct system_late {
	uint64_t steps[STACK_RECORD_LATE_STEPS];
	uint64_t n_late, late_ns; /* at least STACK_RECORD_LATE_NS */
	uint64_t n_user; /* of these, in user code: the CPU itself was not there */
	/* The others were in the kernel: where most were, estimated; count 0: no more. */
	struct stack_record_late_place places[SYSTEM_LATE_PLACES];
};

void system_late_sum(const struct stack_record_late *late, uint32_t n_cpus,
		     struct system_late *ret);
/* What a part of all samples, in thousandths, does not exceed; 0: not measured. */
uint64_t system_late_within_ns(const uint64_t steps[STACK_RECORD_LATE_STEPS],
			       uint64_t per_mille);

#endif
