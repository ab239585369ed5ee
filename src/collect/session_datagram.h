/* SPDX-License-Identifier: Apache-2.0
 *
 * session_datagram - texts between a recording and who asks it, of which the kernel says
 * whose they are.
 *
 * The sockets' names are no files: they are gone with who made them.
 */
#ifndef DWELL_COLLECT_SESSION_DATAGRAM_H
#define DWELL_COLLECT_SESSION_DATAGRAM_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/err.h"
#include "base/own.h"

#define SESSION_DATAGRAM_BYTES 8192 /* longer ones are cut */

struct session_datagram {
	struct sockaddr_un from;
	socklen_t from_size; /* of a name, or nobody is to be answered */
	uid_t uid;	     /* the sender's */
	bool is_text;	     /* all of it is there */
	char text[SESSION_DATAGRAM_BYTES + 1];
};

/* A socket of that name. */
must_use int session_datagram_open(const char *name, struct err *e);
/* One that only exchanges texts with that of the name. */
must_use int session_datagram_open_to(const char *name, struct err *e);
/* False: there is none; it does not wait.  Nothing but text is taken: no descriptors. */
bool session_datagram_receive(int fd, struct session_datagram *ret);
void session_datagram_answer(int fd, const struct session_datagram *d, const char *text);
/* To whom it was opened.  Where there is no room, waits for its turn, patience_ms at
 * most; 0, or as errno says why not. */
int session_datagram_send(int fd, const char *text, unsigned patience_ms);

#endif
