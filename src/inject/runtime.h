/* SPDX-License-Identifier: Apache-2.0
 *
 * runtime - the life of the sampler in one process: start, threads, fork.
 *
 * Every thread gets a timer on its own CPU clock that signals that thread alone.  Such
 * a timer never fires in a thread that waits, so no sleeping call is interrupted.
 *
 * The signal is the one that the C library keeps for pthread_cancel (32 in glibc, 33
 * in musl): programs can neither block, ignore, catch nor wait for it, and both
 * libraries' handlers ignore what pthread_cancel did not send.  Only pthread_cancel
 * itself installs a handler, which is then called behind ours.
 */
#ifndef DWELL_INJECT_RUNTIME_H
#define DWELL_INJECT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/account.h"
#include "inject/meeting.h"
#include "inject/ring.h"
#include "inject/slot.h"
#include "bare/sys.h"

struct runtime {
	bool is_on;
	int pid;
	int signal;
	struct meeting meeting;
	struct ring ring;
	uint32_t n_forks;	      /* by this process */
	bool is_prepared;	      /* the first sample was near */
	uintptr_t text_lo, text_hi;   /* this library, when prepared */
	struct sys_sigaction chained; /* the C library's handler of the signal */
};

extern struct runtime runtime;

/* Before a sample, in the signal handler; false when the ring has no room for it. */
bool runtime_prepare(void);
/* In the thread itself, before and after what it runs. */
void runtime_thread_enter(struct slot *s, uintptr_t frame, size_t stack_bytes);
void runtime_thread_leave(struct slot *s);
/* Give a running thread of this process, known by its id, its timer. */
void runtime_arm(struct slot *s, int tid, enum account_kind kind);
void runtime_disarm(struct slot *s);
/* Tell that a thread begins or has gone; cpu_ns 0 when unknown. */
void runtime_tell_thread(struct slot *s, enum wire_sampler_kind kind, uint64_t cpu_ns);
/* This is a forked child that no hook has told: begin anew. */
void runtime_check_fork(void);
/* The C library may have put its handler over ours: go in front of it again. */
void runtime_keep_signal(void);

#endif
