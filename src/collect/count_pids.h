/* SPDX-License-Identifier: Apache-2.0
 *
 * count_pids - the ids of processes that have others among themselves, as in a container:
 * files of counts are named by those.
 */
#ifndef DWELL_COLLECT_COUNT_PIDS_H
#define DWELL_COLLECT_COUNT_PIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"

struct count_pids {
	bool is_inner; /* they have others than we do: of this namespace */
	dev_t device;
	ino_t inode;
	ino_t own;	   /* our namespace */
	struct map known;  /* their own, and the namespace if it is another → ours */
	struct map missed; /* the same → turn in which nobody was found */
	uint64_t turn;
	uint32_t n_gone; /* that nobody could be asked about */
};

void count_pids_fini(struct count_pids *p);

/* All that are added must have theirs in common. */
must_use int count_pids_add(struct count_pids *p, pid_t pid, struct err *e);

/* Who was looked for in vain is looked for again from now on only. */
void count_pids_turn(struct count_pids *p);

/* As we call it.  One that has ended before it was asked for has a number that is no
 * process's, or a stranger would be taken for it. */
uint32_t count_pids_ours(struct count_pids *p, uint32_t inner);

/* Those that were added are in it, or we are; 0 is taken for it. */
bool count_pids_is_own(struct count_pids *p, uint64_t namespace);

/* The same of one that says which namespace it is in, 0: it does not know; it may be
 * below the others'. */
uint32_t count_pids_find(struct count_pids *p, uint32_t inner, uint64_t namespace);

/* That number is no process's. */
bool count_pids_is_nobodys(uint32_t pid);

/* By the text of /proc/PID/status: what it is called where it is; 0: as we call it. */
pid_t count_pids_inner(const char *text);

#endif
