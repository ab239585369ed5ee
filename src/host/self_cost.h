/* SPDX-License-Identifier: Apache-2.0
 *
 * self_cost - what this process itself takes.
 */
#ifndef DWELL_HOST_SELF_COST_H
#define DWELL_HOST_SELF_COST_H

#include <stdint.h>
#include <sys/types.h>

/* CPU time since it began, of all its threads. */
uint64_t self_cost_cpu_ns(void);
/* Memory without what is mapped of files and of the kernel; 0: not told. */
uint64_t self_cost_bytes(void);

/* Of a process that it started; 0: not told. */
uint64_t self_cost_bytes_of(pid_t child);
uint64_t self_cost_cpu_ns_of(pid_t child);
/* Of those that it started and that have ended: the CPU time of all, the most memory that
 * one had. */
uint64_t self_cost_children_cpu_ns(void);
uint64_t self_cost_children_peak_bytes(void);

#endif
