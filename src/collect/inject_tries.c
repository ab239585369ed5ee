/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_tries.h"

#include <time.h>

#define BETWEEN_NS 5000000

bool inject_tries_next(struct inject_tries *t)
{
	if (t->n >= INJECT_TRIES_MAX)
		return false;
	if (t->n++)
		nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
	return true;
}
