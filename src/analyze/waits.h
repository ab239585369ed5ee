/* SPDX-License-Identifier: Apache-2.0
 *
 * waits - where a program waits: the calls of its own code that end in the kernel.
 *
 * A thread that waits is always inside the scheduler, which says nothing.  What says
 * something is the innermost function outside the kernel and, as that mostly is a system
 * call's wrapper in a library, the function of another image that called into it.  Of the
 * C library the function that was called is named, not the layers below it.
 */
#ifndef DWELL_ANALYZE_WAITS_H
#define DWELL_ANALYZE_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"

struct wait {
	uint32_t function; /* the innermost outside the kernel, or libc's that was called
			    */
	uint32_t caller;   /* the innermost of another image before it; MODEL_NONE */
	uint64_t weight;
};

/* Whether a column is of threads that wait until something happens. */
bool waits_is_column(const struct profile_column *c);
/* The heaviest first; *ret is the caller's to free.  Returns how many. */
size_t waits_find(const struct profile *p, size_t column, struct wait **ret);

/* How many of the functions of a stack, the innermost first, are layers of the C library
 * that say no more than that a thread waits, or lets another go on: those below the one
 * that was called, and that as well where it is made for that, as pthread_cond_wait is
 * and malloc is not.  0 where nobody else's function is there. */
size_t waits_layers(const struct profile *p, const uint32_t *functions, size_t n);

#endif
