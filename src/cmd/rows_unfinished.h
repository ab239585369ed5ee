/* SPDX-License-Identifier: Apache-2.0
 *
 * rows_unfinished - words of what had not ended, a call or a wait.
 */
#ifndef DWELL_CMD_ROWS_UNFINISHED_H
#define DWELL_CMD_ROWS_UNFINISHED_H

#include <stdint.h>

#include "base/buf.h"

/* "worker (18)", or so many threads that are not told apart. */
void rows_unfinished_who(struct buf *b, const char *thread, uint64_t n);
/* ", since 3.20 ms"; UINT64_MAX: since before the recording, or nobody knows, of n. */
void rows_unfinished_since(struct buf *b, uint64_t since_ns, uint64_t n);

#endif
