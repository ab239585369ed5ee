/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_process - a process that is counted exactly now and then: what is known of it
 * by its windows, and what tells how often that is between them.
 *
 * Calls and jumps lead through counters between windows (collect/anchor_meters): how
 * often they are executed in how much CPU time.  Where there are none some register or
 * word of memory may tell how often a loop was (collect/anchor_steps), or the CPU stops
 * at a few blocks, for a millisecond at a time (collect/anchor_watching).
 */
#ifndef DWELL_COLLECT_ANCHOR_PROCESS_H
#define DWELL_COLLECT_ANCHOR_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/anchor_meters.h"
#include "collect/anchor_record.h"
#include "collect/anchor_speed.h"
#include "collect/anchor_steps.h"
#include "collect/anchor_watching.h"
#include "collect/count_attach.h"
#include "collect/count_live.h"

/* What all of them have; borrowed. */
struct anchor_process_setting {
	struct tracker *tracker;
	struct writer *writer;
	struct anchor_budget *budget;
	struct anchor_heirs *heirs;
	double counter_ns;		      /* what meeting a counter takes, at most */
	struct anchor_watch_cost *watch_cost; /* and a breakpoint */
};

struct anchor_process {
	const struct anchor_process_setting *setting;
	pid_t pid;
	clockid_t clock; /* its CPU time */
	char *exe;	 /* NULL: nothing is known of its code */
	struct anchor_record record;
	struct count_live live; /* of an engine that rests in it */
	struct anchor_meters meters;
	struct anchor_speed speed;
	struct anchor_steps steps;
	struct count_look look; /* for those who begin and end windows */
	struct anchor_watching watching;
	unsigned n_refused; /* since the last window */
	/* It could not be left: it goes on in translation, which is no native time, and
	 * what has counters tells nothing of that. */
	bool is_kept;
	bool is_open;	 /* and its window, the number of which is ... */
	uint32_t window; /* ... this */
	bool is_paused;
	bool is_apart; /* in a window or a pause: what it executes anew is behind that */
	/* Of its CPU time: as last looked at, until then it has been told of, and when
	 * the last window was left. */
	uint64_t cpu_ns, told_ns, left_ns;
	uint64_t gap_ns; /* from then until it stood for the next, 0: disturbed */
	/* When it stood for a window, each of enum count_moment, 0: it did not. */
	uint64_t stood_ns[COUNT_MOMENT_AWAY + 1];
	/* When the last pause began, and how long it ran in those of an open window. */
	uint64_t paused_from_ns, paused_ns;
	/* When its turn was last asked for, and how long it ran until then. */
	uint64_t looked_ns, ran_ns;
	/* When others began not to look at it, since another is counted; and how long
	 * they did not, of what has not been told. */
	uint64_t unseen_from_ns, unseen_ns;
	size_t n_turns_before; /* the last window */
};

/* Of which nothing is known; ERR_OS: it has ended. */
must_use int anchor_process_new(const struct anchor_process_setting *setting, pid_t pid,
				struct anchor_process **ret, struct err *e);
void anchor_process_free(struct anchor_process *p);
void anchor_process_freep(struct anchor_process **p);

/* Asks for its CPU time, and what it runs; false: it is gone.  next: a window's number.
 */
bool anchor_process_look(struct anchor_process *p, uint32_t next);
/* Whether the CPU is to stop at places of it. */
bool anchor_process_is_watched(const struct anchor_process *p);
/* Forgets what is not there if it executes another program by now. */
void anchor_process_check(struct anchor_process *p);
void anchor_process_tell_time(struct anchor_process *p, uint32_t next);
/* While another one is counted. */
void anchor_process_begin_unseen(struct anchor_process *p, uint32_t next);
void anchor_process_end_unseen(struct anchor_process *p, uint32_t next);
/* A window begins at the time of the last look, which has been told. */
void anchor_process_begin(struct anchor_process *p, uint32_t window);
/* It cannot be ended, and is open until it can. */
void anchor_process_keep(struct anchor_process *p, uint32_t window);
/* The engine that another one's window has left in it runs it, and does no more. */
void anchor_process_hold(struct anchor_process *p);
void anchor_process_release(struct anchor_process *p, uint32_t next);
/* CPU time that its open window has taken out of pauses, as last looked at: until it
 * stood, or was seen in translation last. */
uint64_t anchor_process_open_ns(const struct anchor_process *p);
/* It does not: the process could not be counted. */
void anchor_process_refuse(struct anchor_process *p);
/* What was counted in it, before what is known by it is chosen: of the program to which
 * the engine came, whatever the process executes by now.  is_to_go_on: the engine rests
 * there, and the next window's file is the same. */
void anchor_process_take(struct anchor_process *p, uint32_t window,
			 const struct count_window *w, bool is_to_go_on);
/* How long that takes natively, about; and so what windows before cost that were only
 * supposed to: the budget has it. */
uint64_t anchor_process_native_ns(struct anchor_process *p);
/* It has ended, and took so much CPU time natively, about. */
void anchor_process_end(struct anchor_process *p, uint32_t window, uint64_t cpu_ns);
/* How much of the budget windows have. */
double anchor_process_windows_part(const struct anchor_process *p);
/* From now on nothing is told of it: what was is, and what it does then is no window's
 * neighbour. */
void anchor_process_pause(struct anchor_process *p, uint32_t next);
/* What has counters, unless it was not met natively. */
void anchor_process_tell_meters(struct anchor_process *p, uint32_t next);
/* Until the last look nothing is told. */
void anchor_process_resume(struct anchor_process *p, uint32_t next);
/* All that has not been told. */
void anchor_process_tell(struct anchor_process *p, uint32_t next);

#endif
