/* SPDX-License-Identifier: Apache-2.0
 *
 * count_restart - a system call that was interrupted to stop its thread, made again.
 *
 * Once the registers of a stopped thread are changed the kernel does not do it.
 */
#ifndef DWELL_COLLECT_COUNT_RESTART_H
#define DWELL_COLLECT_COUNT_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/count_control.h"

#define COUNT_RESTART_REST 219 /* restart_syscall: what is left of the one before */

/* Of a thread of an x86-64 program that stopped for its tracer, with no signal. */
struct count_restart {
	int64_t result; /* rax */
	int64_t call;	/* orig_rax; -1: it is in none */
	uint64_t ip;	/* behind the call */
	/* Of one that is made again: what makes the kernel do it, or end it for a
	 * handler, if that is told to it in a stop of the same kind. */
	int64_t kernels, number;
};

/* It goes on where the program makes the call, or what is left of it, and how that would
 * be if a handler came first; COUNT_CALL_NONE: it is in none, or that has its result. */
enum count_control_call count_restart(struct count_restart *r);

#endif
