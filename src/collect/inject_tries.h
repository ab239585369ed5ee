/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_tries - how often something is tried with a process that runs: a thread may be
 * where it cannot be done.
 */
#ifndef DWELL_COLLECT_INJECT_TRIES_H
#define DWELL_COLLECT_INJECT_TRIES_H

#include <stdbool.h>

#define INJECT_TRIES_MAX 40

struct inject_tries {
	unsigned n; /* with the one that is made */
};

/* Once more?  Waits a bit before all but the first. */
bool inject_tries_next(struct inject_tries *t);

#endif
