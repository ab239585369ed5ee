/* SPDX-License-Identifier: Apache-2.0
 *
 * session_ask - asks the recordings that observe a process (collect/session_control.h).
 */
#ifndef DWELL_COLLECT_SESSION_ASK_H
#define DWELL_COLLECT_SESSION_ASK_H

#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

/* What each one answers that does it, as lines name=value. */
typedef void session_ask_fn(void *ctx, const char *lines);
/* Of a recorder's pid, or that of a process that recordings of the same user observe: all
 * are asked, and answer within patience_ms.  An error: none of them does it. */
must_use int session_ask(pid_t pid, const char *verb, const char *text,
			 unsigned patience_ms, session_ask_fn *fn, void *ctx,
			 struct err *e);

#endif
