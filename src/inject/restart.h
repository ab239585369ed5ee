/* SPDX-License-Identifier: Apache-2.0
 *
 * restart - system calls that fail with EINTR only because of our signal.
 *
 * A timer tick that lands inside a waiting call, just before it would sleep, makes
 * poll and its like fail with EINTR even under SA_RESTART.  Without us it would have
 * slept.  So the handler lets the program make the call again.  The handler runs with
 * every signal blocked: one of the program's own that came at the same moment is
 * handled next, as if it had come just before the call.
 */
#ifndef DWELL_INJECT_RESTART_H
#define DWELL_INJECT_RESTART_H

#include <ucontext.h>

void restart_interrupted(ucontext_t *uc);

#endif
