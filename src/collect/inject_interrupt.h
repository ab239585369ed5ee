/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_interrupt - a thread of a process that waits in the kernel is made to leave it,
 * and to make its call again: whoever observes calls sees where it waits.
 *
 * Only that thread stands, for some microseconds.  By one thread of ours.
 */
#ifndef DWELL_COLLECT_INJECT_INTERRUPT_H
#define DWELL_COLLECT_INJECT_INTERRUPT_H

#include <stdint.h>
#include <sys/types.h>

/* How long it was told to stand; 0: it does not wait where it can be interrupted. */
uint64_t inject_interrupt(pid_t pid, pid_t tid);

#endif
