/* SPDX-License-Identifier: Apache-2.0
 *
 * environment_read - an environment that other threads may be changing.
 *
 * An array that was given up may hold anything by now, so it is the kernel that reads it,
 * which says where nothing can be read; where it may not be asked all is trusted.
 */
#ifndef DWELL_INJECT_ENVIRONMENT_READ_H
#define DWELL_INJECT_ENVIRONMENT_READ_H

#include <stdbool.h>
#include <stddef.h>

/* At a time. */
#define ENVIRONMENT_READ_N 16
/* Of a variable, enough to tell those that are ours to extend. */
#define ENVIRONMENT_READ_NAME 16

/* The next pointers, of which fewer come before the last, a NULL; SIZE_MAX: they cannot
 * be read. */
size_t environment_read_pointers(char *const *at, char *ret[ENVIRONMENT_READ_N]);
/* What n of them begin with, and zeroes; false: one of them cannot be read. */
bool environment_read_names(char *const *variables, size_t n,
			    char (*ret)[ENVIRONMENT_READ_NAME]);

#endif
