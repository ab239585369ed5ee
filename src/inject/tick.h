/* SPDX-License-Identifier: Apache-2.0
 *
 * tick - the signal handler: one sample.
 *
 * Makes no system call (a program may have forbidden them to itself) unless it comes
 * just as one ends, and then only about signals; takes no lock, allocates nothing and
 * uses little stack: it may run on a small alternate one.
 */
#ifndef DWELL_INJECT_TICK_H
#define DWELL_INJECT_TICK_H

#include <signal.h>
#include <stdint.h>

/* What a timer's signal carries: the slot's index, marked as ours. */
#define TICK_MARK      0x64770000u
#define TICK_MARK_MASK 0xffff0000u

void tick_handle(int signal, siginfo_t *info, void *context);

#endif
