/* SPDX-License-Identifier: Apache-2.0
 *
 * count_tracee - the threads of a process that is being given to the counting engine, or
 * taken from it: seized, stopped, and let go.
 *
 * By one thread of ours, as ptrace(2) demands.  A thread that is seized goes on by itself
 * when we end.
 */
#ifndef DWELL_COLLECT_COUNT_TRACEE_H
#define DWELL_COLLECT_COUNT_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/count_restart.h"

enum count_stop {
	COUNT_STOP_NONE,   /* it runs */
	COUNT_STOP_ASKED,  /* as it was told to, in no call of ours */
	COUNT_STOP_ENTRY,  /* of a system call, traced as such */
	COUNT_STOP_EXIT,   /* likewise */
	COUNT_STOP_SIGNAL, /* which is ret_signal */
	COUNT_STOP_GONE,   /* it has ended */
};

struct count_tracee {
	pid_t tid;
	bool is_stopped, is_gone;
	int signal;		      /* that it is to have when it is let go, 0: none */
	struct user_regs_struct regs; /* the caller's, as below */
	uint64_t mask;
	uint64_t context; /* of the engine's; 0: it is none of its threads */
	uint64_t gs_base; /* the program's, of one that is away */
	uint64_t led_ns;  /* when it was last led on */
	bool is_away, is_parking;
	bool has_mask;		   /* its signals are blocked by us */
	struct count_restart call; /* that it was in, as it will be again */
};

struct count_tracees {
	pid_t pid;
	/* For which they are waited for, 0: two seconds; and a tenth of one at most to
	 * let those go that are not there by then. */
	uint64_t limit_ns;
	VEC(struct count_tracee) at;
};

void count_tracees_fini(struct count_tracees *t);

/* Seizes those that are new, and tells them to stop.  *ret_n: how many. */
must_use int count_tracees_seize(struct count_tracees *t, size_t *ret_n, struct err *e);
/* All, also such as are begun meanwhile; ERR_UNSUPPORTED: some thread does not stop,
 * ERR_LIMIT: has not had a CPU yet to stop on; it goes to collect/count_late at last.
 * ERR_LIMIT also: it is late for another thread of ours. */
must_use int count_tracees_stop(struct count_tracees *t, struct err *e);
/* That one only. */
must_use int count_tracees_stop_one(struct count_tracees *t, pid_t tid, struct err *e);
/* It goes on as its registers say. */
void count_tracee_let_go(struct count_tracee *t);
/* Those that stand go on as their registers say, and are known no more. */
void count_tracees_let_go(struct count_tracees *t);

/* What has happened to it since it ran, without waiting.  Of one that stands, but in a
 * call that it was followed to, registers say that the call that this has interrupted is
 * to be made again, as the kernel does it. */
enum count_stop count_tracee_poll(struct count_tracee *t, int *ret_signal);
/* On to the next system call, with a signal or 0. */
void count_tracee_go(struct count_tracee *t, int signal);
void count_tracee_interrupt(struct count_tracee *t);
/* What it executed last has failed, and the signal that tells it so has not come yet:
 * where it stands is what the signal tells of. */
bool count_tracee_has_fault(const struct count_tracee *t);
/* From where it stands to a stop as it was told to, without executing anything. */
bool count_tracee_stop_again(struct count_tracee *t);
/* On without a stop, with its signals blocked: what comes nevertheless is kept.  False:
 * it has ended, or stands as what it executes fails, and would again. */
void count_tracee_go_on(struct count_tracee *t);
bool count_tracee_keep_going(struct count_tracee *t);
/* On a machine with much to do it stops, or goes on, when its turn comes, after many
 * others': the longer that has been, the longer the naps, which add little to it.  Who
 * was late before goes on meanwhile. */
void count_tracee_nap(uint64_t since_ns);
/* By one instruction.  False: it has ended, or is to have a signal first, which it has
 * when it is let go. */
bool count_tracee_step(struct count_tracee *t);
/* It stands, wherever it is; false: it has ended. */
bool count_tracee_stop_now(struct count_tracee *t);
/* Waits until it stands in a system call; false: it has ended, or stands as what it
 * executes fails, and would again. */
bool count_tracee_go_to_call(struct count_tracee *t, enum count_stop which);

bool count_tracee_get(struct count_tracee *t, struct user_regs_struct *ret);
bool count_tracee_set(struct count_tracee *t, const struct user_regs_struct *regs);
bool count_tracee_get_mask(struct count_tracee *t, uint64_t *ret);
bool count_tracee_set_mask(struct count_tracee *t, uint64_t mask);

#endif
