/* SPDX-License-Identifier: Apache-2.0
 *
 * restart - an interrupted system call ends as it would have ended without our signal.
 *
 * The kernel decides between EINTR and making the call again by the first signal that
 * it delivers.  When another signal is what woke the call and ours, being private to
 * the thread, comes first, the decision is the other one's: a blocking call woken by a
 * handler without SA_RESTART must end with EINTR.  The handler runs with every signal
 * blocked, so the other one is still pending and can be asked about.
 *
 * Kernels before 5.11 queue the signal from the timer interrupt, also inside a waiting
 * call that is about to sleep: poll and its like then fail with EINTR because of ours
 * alone, and are made again.  Later ones wait for the call's end.
 */
#ifndef DWELL_INJECT_RESTART_H
#define DWELL_INJECT_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

void restart_init(void);
/* In the handler of signal. */
void restart_settle(ucontext_t *uc, int signal);

/* The two decisions.  other_flags: of the signal that is pending besides ours. */
void restart_for_other(ucontext_t *uc, unsigned long other_flags);
void restart_alone(ucontext_t *uc);
/* "5.10.0-29-amd64" → true */
bool restart_is_early(const char *release);

#endif
