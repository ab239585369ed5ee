/* SPDX-License-Identifier: Apache-2.0
 *
 * self_cost - what this process itself takes.
 */
#ifndef DWELL_HOST_SELF_COST_H
#define DWELL_HOST_SELF_COST_H

#include <stdint.h>

/* CPU time since it began, of all its threads. */
uint64_t self_cost_cpu_ns(void);
/* Memory without what is mapped of files and of the kernel; 0: not told. */
uint64_t self_cost_bytes(void);

#endif
