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
 * that children do not load this library; and what environment_with() adds for it. */
void environment_forget(char **env, const char *name, const char *directory);

/* What a program is to be given so that it loads our library. */
struct environment_ours {
	const char *name, *directory; /* a variable of ours, and its value */
	const char *library;	      /* below it: for LD_PRELOAD */
	/* Only what has the variable is given the library, if it is without; else only
	 * what has neither, both. */
	bool is_told;
};

/* How much room a copy of env with ours takes; 0: it is to have nothing, cannot be read,
 * or is too large to be copied to a stack.  env may be NULL.  Other threads may be
 * changing it. */
size_t environment_with_bytes(char *const *env, const struct environment_ours *ours);
/* The copy, which borrows env's strings, in so much room; NULL: it takes more by now. */
char **environment_with(char *const *env, const struct environment_ours *ours, void *room,
			size_t bytes);

#endif
