/* SPDX-License-Identifier: Apache-2.0
 *
 * database_lock - one writer per host's directory.
 *
 * A record lock of the open file description: it goes with its holder, also when that is
 * killed, and network file systems pass it on to their server.
 */
#ifndef DWELL_STORE_DATABASE_LOCK_H
#define DWELL_STORE_DATABASE_LOCK_H

#include "base/err.h"
#include "base/own.h"

/* The descriptor that holds the lock: close it to let go.  When another process has it,
 * ERR_OS with its pid and host in the text. */
must_use int database_lock_take(const char *directory, int *ret_fd, struct err *e);

#endif
