/* SPDX-License-Identifier: Apache-2.0
 *
 * pipe_write - writes to a pipe whose reader may be gone, without the signal that ends a
 * program then.
 */
#ifndef DWELL_INJECT_PIPE_WRITE_H
#define DWELL_INJECT_PIPE_WRITE_H

#include <stddef.h>

/* How much was written, or a negative errno; -EPIPE: nobody reads. */
long pipe_write(int fd, const void *data, size_t size);

#endif
