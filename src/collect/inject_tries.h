/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_tries - how often, and for how long, something is tried with a process that
 * runs: a thread may be where it cannot be done, or not have had a CPU to stop on.
 *
 *	t = inject_tries_until(until_ns);
 *	while (rc == ERR_LIMIT && inject_tries_next(&t))
 *		rc = try(inject_tries_stop_ns(&t));
 */
#ifndef DWELL_COLLECT_INJECT_TRIES_H
#define DWELL_COLLECT_INJECT_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define INJECT_TRIES_MAX 40

struct inject_tries {
	uint64_t since_ns, until_ns;
	unsigned n; /* with the one that is made */
};

/* until_ns: of the monotonic clock.  When that has passed it is tried once. */
struct inject_tries inject_tries_until(uint64_t until_ns);
/* Once more?  Waits a bit before all but the first. */
bool inject_tries_next(struct inject_tries *t);
/* How long this time a thread may be waited for. */
uint64_t inject_tries_stop_ns(const struct inject_tries *t);
/* What came of it: where something was in the way each time (ERR_LIMIT), which *e tells,
 * that is the end of it, and *e tells for how long it was tried. */
must_use int inject_tries_give_up(const struct inject_tries *t, int rc, struct err *e);

#endif
