/* SPDX-License-Identifier: Apache-2.0
 *
 * count_late - threads that were told to stop, and did not while they were waited for.
 *
 * Who is in a call that cannot be interrupted (it waits for a disk, or for its child by
 * vfork) stops when it leaves it, and would stand from then on.  Nothing takes back what
 * it was told; so they are let go when they stand, whenever that is.
 *
 * Of each thread of ours: the kernel has them stop for the one that traces them.
 */
#ifndef DWELL_COLLECT_COUNT_LATE_H
#define DWELL_COLLECT_COUNT_LATE_H

#include <stdbool.h>
#include <sys/types.h>

void count_late_add(pid_t pid, pid_t tid);
/* Those that stand by now go on, and are known no more; to be called now and then. */
void count_late_let_go(void);
bool count_late_are_any(void);
/* A thread of the process that is still to stop, or 0. */
pid_t count_late_find(pid_t pid);
/* Before this thread ends, with which the kernel takes back what they were told. */
void count_late_forget(void);

#endif
