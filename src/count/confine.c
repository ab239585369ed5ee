/* SPDX-License-Identifier: Apache-2.0 */
#include "count/confine.h"

#include <time.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/engine.h"

#define NAP_NS 1000000
#define N_NAPS 2000 /* recorders look ten times a second, and leave others as well */

static bool is_nobody_there; /* who would come: nobody did */

/* Who shares memory cannot be left before it executes or ends. */
static bool can_be_left(const struct context *c)
{
	return engine.is_attached && !is_nobody_there && !c->is_borrowed &&
	       !engine.n_sharers;
}

static bool is_held(const struct context *c)
{
	return __atomic_load_n(&c->is_held, __ATOMIC_ACQUIRE);
}

bool confine_may(const struct context *c)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (!can_be_left(c))
		return true;
	__atomic_fetch_add(&engine.n_confining, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < N_NAPS && !is_held(c); i++)
		sys_call(SYS_nanosleep, &nap, 0, 0, 0, 0, 0);
	__atomic_fetch_sub(&engine.n_confining, 1, __ATOMIC_RELEASE);
	if (is_held(c))
		return false;
	is_nobody_there = true;
	return true;
}
