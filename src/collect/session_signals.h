/* SPDX-License-Identifier: Apache-2.0
 *
 * session_signals - signals to the recorder, taken from a descriptor.
 *
 * While a program that we launched runs, the terminal's interrupt and quit are its
 * business: it has got them too.  Initialise after the fork, so that nothing of this is
 * the program's.
 */
#ifndef DWELL_COLLECT_SESSION_SIGNALS_H
#define DWELL_COLLECT_SESSION_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"

/* What a user has chosen; 0: none. */
struct session_signal_numbers {
	int toggle, mark, callstack;
};

struct session_signals {
	int fd;
	sigset_t old_mask;
	bool is_launched;
	struct session_signal_numbers numbers;
};

enum session_signal {
	SESSION_SIGNAL_NONE, /* no more for now */
	SESSION_SIGNAL_END,
	SESSION_SIGNAL_TOGGLE,
	SESSION_SIGNAL_MARK,
	SESSION_SIGNAL_CALLSTACK,
};

/* A full disk and a reader that has gone are told by write(), not by death.  Before the
 * first byte is written. */
void session_signals_ignore(void);
must_use int session_signals_init(struct session_signals *s, bool is_launched,
				  const struct session_signal_numbers *numbers,
				  struct err *e);
void session_signals_fini(struct session_signals *s);
enum session_signal session_signals_next(struct session_signals *s);

/* "USR1", "SIGUSR1" or a number. */
must_use int session_signals_parse(const char *name, int *ret, struct err *e);

#endif
