/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox_timers - what the sampler does when a program restricts its system calls.
 */
#include "inject/runtime.h"
#include "inject/sandbox.h"

/* Even the clock of the vDSO is out of bounds: strict mode forbids rdtsc. */
static struct slot *stop_this_thread(void)
{
	struct slot *s = slot_mine();

	if (!s || !s->is_armed)
		return NULL;
	runtime_disarm(s);
	account_close(s, sys_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	return s;
}

void *sandbox_before(bool is_strict)
{
	return runtime.is_on && is_strict ? stop_this_thread() : NULL;
}

void sandbox_after(void *stopped, bool has_failed)
{
	if (stopped && has_failed)
		runtime_arm(stopped, ((struct slot *)stopped)->tid, ACCOUNT_LATE);
	else if (stopped)
		ring_count(&runtime.ring.header->n_threads_refused, 1);
}

void sandbox_note(long nr, const long *arguments)
{
	(void)nr;
	(void)arguments;
}
