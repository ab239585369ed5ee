/* SPDX-License-Identifier: Apache-2.0
 *
 * unix_names - local sockets that have a name and no file, by /proc/net/unix.
 *
 * Anybody may give a socket any name.
 */
#ifndef DWELL_HOST_UNIX_NAMES_H
#define DWELL_HOST_UNIX_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/own.h"

/* With the byte 0 in front. */
#define UNIX_NAMES_MAX 108

/* The next name of the text that begins so and has only letters, digits, dots and dashes;
 * false: there is none. */
bool unix_names_next(const char **at, const char *end, const char *prefix,
		     char ret[UNIX_NAMES_MAX]);
/* For each; at most so many. */
typedef void unix_names_fn(void *ctx, const char *name);
must_use int unix_names_each(const char *prefix, size_t max, unix_names_fn *fn, void *ctx,
			     struct err *e);

#endif
