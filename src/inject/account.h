/* SPDX-License-Identifier: Apache-2.0
 *
 * account - CPU time that no sample stands for yet is carried over, not lost.
 *
 * CPU timers fire only at the kernel's tick, so most threads and processes that live
 * shorter than that never see one, and together they may be all of a program's time.
 * What a thread or process leaves behind becomes due in the next one that starts: its
 * first sample stands for it too.  Which of many short ones a tick hits is in
 * proportion to their CPU time, so the shares are right, and so is the sum.
 */
#ifndef DWELL_INJECT_ACCOUNT_H
#define DWELL_INJECT_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/slot.h"

enum account_kind {
	ACCOUNT_THREAD, /* all its CPU time counts */
	ACCOUNT_MAIN,	/* also what other processes left, and its earlier images did */
	ACCOUNT_LATE,	/* its CPU time so far does not count */
};

/* A thread that has used cpu_ns gets its timer.  Returns when its interval ends. */
uint64_t account_open(struct slot *s, enum account_kind kind, uint64_t cpu_ns);
/* A signal stands for count intervals; returns how many the sample stands for. */
uint64_t account_tick(struct slot *s, uint64_t count);
/* The thread ends, having used cpu_ns. */
void account_close(struct slot *s, uint64_t cpu_ns);
/* The process ends, without the slots that are still open. */
void account_exit(void);
/* In a forked child: what is carried stays the parent's. */
void account_forget(void);

#endif
