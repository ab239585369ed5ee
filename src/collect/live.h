/* SPDX-License-Identifier: Apache-2.0
 *
 * live - samples as they are taken, from the daemon or from a recorder of our own.
 *
 * Both write a recording that is read along (recording_follow()) and are asked, over a
 * socket, to put there what was taken until now.  A recorder of our own is a process that
 * ends with this one, and its files with it.  One thread.
 */
#ifndef DWELL_COLLECT_LIVE_H
#define DWELL_COLLECT_LIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct live;

/* Of a recorder of our own; borrowed until live_start() returns. */
struct live_settings {
	uint64_t hz;	    /* samples per second of CPU time */
	const pid_t *pids;  /* with their descendants */
	size_t n_pids;	    /* 0: the whole machine */
	const char *source; /* NULL: the best that is permitted */
};

/* Where things stand.  The recording holds all that was taken from opened_ns to taken_ns,
 * of the monotonic clock; another path or opened_ns means that another one was begun. */
struct live_state {
	char path[PATH_MAX];
	char how[80];	/* "system cpu-clock, counted in the kernel", or "" */
	char note[300]; /* why it is not done in a better way, or "" */
	uint64_t opened_ns, taken_ns;
	uint64_t period_ns;
	uint64_t lost;	 /* samples, since the recorder's start */
	uint64_t cpu_ns; /* of the recorder, since its start */
	uint64_t own_bytes;
	bool has_processes; /* those of one name are told apart */
};

/* The daemon at that socket. */
must_use int live_join(const char *socket, struct live **ret, struct err *e);
/* A recorder of our own. */
must_use int live_start(const struct live_settings *settings, struct live **ret,
			struct err *e);
void live_free(struct live *l);
void live_freep(struct live **l);

/* What was taken until now is in the recording then. */
must_use int live_ask(struct live *l, struct live_state *ret, struct err *e);
/* A failure to ask meant that the processes have ended: what was taken last is in the
 * recording. */
bool live_has_ended(const struct live *l);

#endif
