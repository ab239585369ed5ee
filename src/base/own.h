/* SPDX-License-Identifier: Apache-2.0
 *
 * own - ownership in the declaration.
 *
 * `own(closep) int fd = open(...)` releases fd at the end of the scope;
 * `return steal(&p)` hands a pointer on instead.  A type T with T_free() gets its
 * T_freep() by OWN_FREEP(T).  No state, usable from any thread.
 */
#ifndef DWELL_BASE_OWN_H
#define DWELL_BASE_OWN_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The clean-up is a use, which clang does not count as one. */
#define own(fn)	 __attribute__((cleanup(fn), __unused__))
#define must_use __attribute__((warn_unused_result))
#define unused	 __attribute__((unused))

/* Give the pointer away: the variable becomes NULL, the value is returned. */
#define steal(pp)                                                                        \
	({                                                                               \
		__typeof__(*(pp)) stolen_ = *(pp);                                       \
		*(pp) = NULL;                                                            \
		stolen_;                                                                 \
	})

/* Same for a file descriptor: the variable becomes -1. */
static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

static inline void freep(void *pp)
{
	free(*(void **)pp);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#endif
