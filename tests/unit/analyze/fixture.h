/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture - a profile built from written-down stacks, without a file or symbols.
 *
 * A stack is "main;A;C", outermost first; every name is a function of its own, a name
 * after '+' instead of ';' is inlined into the one before it.
 */
#ifndef DWELL_TESTS_FIXTURE_H
#define DWELL_TESTS_FIXTURE_H

#include "analyze/profile_data.h"

struct fixture_stack {
	const char *path;
	uint64_t weight;
};

struct profile *fixture_profile(const struct fixture_stack *stacks, size_t n);
void fixture_free(struct profile *p);
void fixture_freep(struct profile **p);
/* The function's id; fails the test when there is none. */
uint32_t fixture_function(const struct profile *p, const char *name);

#endif
