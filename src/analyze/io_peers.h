/* SPDX-License-Identifier: Apache-2.0
 *
 * io_peers - connections that differ by nothing but a port somebody was given, as one
 * function.
 *
 * Connections to a server are one, by the server's address and port; those that a server
 * accepted are one of each host they are from.
 */
#ifndef DWELL_ANALYZE_IO_PEERS_H
#define DWELL_ANALYZE_IO_PEERS_H

#include <stdbool.h>

struct profile;

/* Frames of labels "TCP 10.0.0.1:4000->10.0.0.2:80" are of "TCP *->10.0.0.2:80" or of
 * "TCP 10.0.0.1:80->10.0.0.9:*" from now on, where several of them have weight; one that
 * is alone stays what it is.  Their own function is that of before. */
void io_peers_join(struct profile *p);

/* Is the connection one of that name? */
bool io_peers_has(const char *peer, const char *connection);

#endif
