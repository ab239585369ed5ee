/* SPDX-License-Identifier: Apache-2.0
 *
 * launch - starts the program that is to be observed, held back before its exec.
 *
 * The program gets our descriptors, directory, signals and terminal as they were; only
 * launch_env's changes differ.
 */
#ifndef DWELL_COLLECT_LAUNCH_H
#define DWELL_COLLECT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/launch_env.h"

/* Another user to run as. */
struct launch_user {
	char name[64];
	uid_t uid;
	gid_t gid;
};

/* Looks the user up and points HOME, USER, LOGNAME and SHELL to it. */
must_use int launch_user_find(const char *name, struct launch_user *ret,
			      struct launch_env *env, struct err *e);

struct launch {
	pid_t pid;
	int gate;   /* words and environment go in here, and with the end the program runs
		     */
	int report; /* errno of a failed exec comes out, or the end of file */
};

/* Forks; the child waits.  user NULL: as who we are. */
must_use int launch_begin(struct launch *l, const struct launch_user *user,
			  struct err *e);
/* Lets it run argv.  A failed exec is ERR_OS with its errno; the child is reaped then. */
must_use int launch_go(struct launch *l, char *const *argv, const struct launch_env *env,
		       const char *name, struct err *e);
/* The child ends without having run anything.  Does nothing after launch_go(). */
void launch_abandon(struct launch *l);

#endif
