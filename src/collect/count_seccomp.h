/* SPDX-License-Identifier: Apache-2.0
 *
 * count_seccomp - whether a thread whose system calls are filtered may make those that
 * the counting engine needs.
 *
 * The kernel gives a filter to root only.  Each call is tried on it with the arguments
 * that the engine has, so that nothing is found out by dying of it.
 */
#ifndef DWELL_COLLECT_COUNT_SECCOMP_H
#define DWELL_COLLECT_COUNT_SECCOMP_H

#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

/* Of a thread that we trace and that stands; one without filters may everything. */
must_use int count_seccomp_check(pid_t tid, struct err *e);

/* The same of what takes an engine's memory away. */
must_use int count_seccomp_check_unmap(pid_t tid, struct err *e);

#endif
