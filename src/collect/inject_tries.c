/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_tries.h"

#include <stdio.h>
#include <time.h>

#include "host/clock.h"

#define BETWEEN_NS 5000000
/* Those of its threads that stop stand as long as others are waited for. */
#define STOP_MIN_NS UINT64_C(100000000)
#define STOP_MAX_NS UINT64_C(2000000000)

struct inject_tries inject_tries_until(uint64_t until_ns)
{
	return (struct inject_tries){ .since_ns = clock_monotonic_ns(),
				      .until_ns = until_ns };
}

bool inject_tries_next(struct inject_tries *t)
{
	if (t->n && (t->n >= INJECT_TRIES_MAX || clock_monotonic_ns() >= t->until_ns))
		return false;
	if (t->n++)
		nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
	return true;
}

uint64_t inject_tries_stop_ns(const struct inject_tries *t)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ns = t->until_ns > now_ns ? t->until_ns - now_ns : 0;

	if (left_ns < STOP_MIN_NS)
		return STOP_MIN_NS;
	return left_ns < STOP_MAX_NS ? left_ns : STOP_MAX_NS;
}

int inject_tries_give_up(const struct inject_tries *t, int rc, struct err *e)
{
	bool was_late = t->until_ns <= t->since_ns;
	char text[64];

	if (rc != ERR_LIMIT)
		return rc;
	snprintf(text, sizeof(text), "given up after %.1f s",
		 (double)(clock_monotonic_ns() - t->since_ns) / 1e9);
	return err_in(e, ERR_UNSUPPORTED,
		      was_late ? "tried only once, as others had taken long" : text);
}
