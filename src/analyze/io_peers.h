/* SPDX-License-Identifier: Apache-2.0
 *
 * io_peers - rows of connections that differ by nothing but a port somebody was given.
 *
 * Connections to a server are one row, by the server's address and port; those that a
 * server accepted are one row of each host they are from.
 */
#ifndef DWELL_ANALYZE_IO_PEERS_H
#define DWELL_ANALYZE_IO_PEERS_H

#include "analyze/io_rows.h"

/* Of rows by file: "TCP *->10.0.0.2:80", "TCP 10.0.0.1:80->10.0.0.9:*"; one that
 * is alone keeps its name. */
void io_peers_join(struct io_rows *r);

#endif
