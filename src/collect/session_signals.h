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

struct session_signals {
	int fd;
	sigset_t old_mask;
	bool is_launched;
	int toggle, mark; /* 0: none */
};

enum session_signal {
	SESSION_SIGNAL_NONE, /* no more for now */
	SESSION_SIGNAL_END,
	SESSION_SIGNAL_TOGGLE,
	SESSION_SIGNAL_MARK,
};

/* A full disk and a reader that has gone are told by write(), not by death.  Before the
 * first byte is written. */
void session_signals_ignore(void);
must_use int session_signals_init(struct session_signals *s, bool is_launched, int toggle,
				  int mark, struct err *e);
void session_signals_fini(struct session_signals *s);
enum session_signal session_signals_next(struct session_signals *s);

/* "USR1", "SIGUSR1" or a number. */
must_use int session_signals_parse(const char *name, int *ret, struct err *e);

#endif
