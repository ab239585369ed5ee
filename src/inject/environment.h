/* SPDX-License-Identifier: Apache-2.0
 *
 * environment - the program's environment, read and where needed cleaned in place.
 */
#ifndef DWELL_INJECT_ENVIRONMENT_H
#define DWELL_INJECT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The value, or NULL. */
const char *environment_get(char **env, const char *name);
/* The value that the program was started with, into ret; false when there was none.
 * Before the C library has set anything up. */
bool environment_initial(const char *name, char *ret, size_t cap);
/* Take our variable, and our entry (the one inside directory) of LD_PRELOAD, out, so
 * that children do not load this library. */
void environment_forget(char **env, const char *name, const char *directory);

#endif
