/* SPDX-License-Identifier: Apache-2.0
 *
 * victim - what a program does to itself that breaks recorders.
 *
 * A deed prints what it saw, the same with and without a recorder.  Builds with any C
 * library, statically, for 32 bits and with sanitizers.
 */
#ifndef DWELL_E2E_VICTIM_H
#define DWELL_E2E_VICTIM_H

#include <signal.h>
#include <stddef.h>

struct deed {
	const char *name;
	void (*run)(const char *arg);
};

/* Each ends with a NULL name. */
extern const struct deed memory_deeds[], process_deeds[], sandbox_deeds[], signal_deeds[],
	wait_deeds[];

/* Signals that on_signal()'s handler has counted. */
extern volatile sig_atomic_t n_seen;

void on_signal(int signal, int flags);
/* Use that much of the thread's CPU time. */
void burn(long ms);
/* The same without any system call; n of about 1 ms. */
void spin(int n);
void sleep_ms(long ms);
/* Have memory and give it back, and wait a little for what nobody does. */
void take_and_wait(void);
void die(const char *what);

#endif
