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

/* It stands, with that status: it goes on as if nothing had been. */
typedef void count_late_go_fn(pid_t tid, int status);

void count_late_add(pid_t pid, pid_t tid, count_late_go_fn *go);
/* Those that stand by now go on, and are known no more; to be called now and then. */
void count_late_let_go(void);
bool count_late_are_any(void);
/* A thread of the process that is still to stop, or 0. */
pid_t count_late_find(pid_t pid);
/* Those that are to stop on the next CPU that they get have it, if that is soon: what
 * they were told has interrupted a call, and when this thread ends nobody has that made
 * again. */
void count_late_await(void);
/* Before this thread ends, with which the kernel takes back what they were told. */
void count_late_forget(void);

#endif
