/* SPDX-License-Identifier: Apache-2.0
 *
 * session_control - a recording's socket: who recorded it marks moments from outside,
 * pauses it, and asks how it is.
 *
 * A request is one datagram, "VERB PID TEXT"; so is the answer, whose first line is one
 * of SESSION_CONTROL_… below.  The kernel says who has sent it: others than the
 * recorder's user and root are refused, and then nobody is heard for a moment, so that
 * nobody can keep the recorder busy.  The name of the socket is no file: it is gone with
 * the recorder.  One thread.
 */
#ifndef DWELL_COLLECT_SESSION_CONTROL_H
#define DWELL_COLLECT_SESSION_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* The socket's name, behind which are the recorder's pid and something random. */
#define SESSION_CONTROL_PREFIX "dwell-recording."

#define SESSION_CONTROL_OK     "ok\n"	  /* what was asked for is below */
#define SESSION_CONTROL_ERROR  "error\n"  /* why it was not done is below */
#define SESSION_CONTROL_OTHERS "others\n" /* another recording observes that process */

/* What a session does when it is asked to. */
struct session_control_ops {
	bool (*observes)(void *ctx, pid_t pid);
	int (*mark)(void *ctx, const char *name, struct err *e);
	int (*pause)(void *ctx, bool is_paused, struct err *e);
	int (*status)(void *ctx, struct buf *lines, struct err *e);
};

struct session_control {
	int fd; /* -1: no socket can be had here, and nobody asks */
	uint64_t deaf_until_ns;
};

void session_control_open(struct session_control *c);
void session_control_close(struct session_control *c);
/* What to wait for; 0: nothing now. */
size_t session_control_fds(const struct session_control *c, uint64_t now_ns,
			   struct pollfd *ret);
/* Answers who has asked. */
void session_control_serve(struct session_control *c, uint64_t now_ns,
			   const struct session_control_ops *ops, void *ctx);

#endif
