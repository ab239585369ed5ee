/* SPDX-License-Identifier: Apache-2.0
 *
 * control - a daemon's socket, over which its owner asks and is answered.
 *
 * A request is a line, "flush" or "label TEXT"; the answer is "ok" or "error TEXT" in its
 * first line, and what was asked for below, until the connection ends.  The answer comes
 * when the thing is done.  One client at a time, one thread.
 */
#ifndef DWELL_COLLECT_CONTROL_H
#define DWELL_COLLECT_CONTROL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

#define CONTROL_SOCKET	    "/run/dwell/control"
#define CONTROL_REQUEST_MAX 1024

struct control;

/* Makes the directory (for its owner alone) and the socket.  One that nobody listens at
 * any more is replaced. */
must_use int control_listen(const char *path, struct control **ret, struct err *e);
void control_free(struct control *c);
void control_freep(struct control **c);
int control_fd(const struct control *c);

/* Does what the line says; what it appends to the answer comes below "ok".  On failure
 * the error is the answer. */
typedef int control_fn(void *ctx, const char *verb, const char *rest, struct buf *answer,
		       struct err *e);
/* Answer who is waiting; a client that says nothing is left alone. */
void control_serve(struct control *c, control_fn *fn, void *ctx);

/* The other end: the answer below "ok".  patience_ms 0: as long as it takes. */
must_use int control_ask(const char *path, const char *request, unsigned patience_ms,
			 struct buf *answer, struct err *e);

#endif
