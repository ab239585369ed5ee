/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/account.h"

#include "inject/runtime.h"

/* The control file is foreign memory: a time that cannot be is none. */
#define CARRY_MAX_NS (INT64_C(1) << 50)

/* Of ended threads of this process. */
static int64_t carry_ns;

static struct wire_sampler_account *entry(void)
{
	struct wire_sampler_account *all =
		(void *)((char *)runtime.meeting.control + WIRE_SAMPLER_PAGE);

	return &all[(uint32_t)runtime.pid % WIRE_SAMPLER_N_ACCOUNTS];
}

/* How far the main thread's CPU time is in samples, for an image that it may exec. */
static void note(const struct slot *s)
{
	struct wire_sampler_account *a = entry();

	a->pid = (uint32_t)runtime.pid;
	a->ns = (int64_t)(s->n_intervals * runtime.meeting.control->interval_ns) -
		s->carried_ns;
}

/* What other processes left, less what is in samples of an earlier image. */
static int64_t take_over(uint64_t cpu_ns)
{
	struct wire_sampler_account a = *entry();
	int64_t left = (int64_t)__atomic_exchange_n(&runtime.meeting.control->carry_ns, 0,
						    __ATOMIC_RELAXED);

	if (left < 0 || left > CARRY_MAX_NS)
		left = 0;
	/* Another process had this pid. */
	if (a.pid != (uint32_t)runtime.pid || a.ns > (int64_t)cpu_ns ||
	    a.ns < -CARRY_MAX_NS)
		a.ns = 0;
	return left - a.ns;
}

uint64_t account_open(struct slot *s, enum account_kind kind, uint64_t cpu_ns)
{
	uint64_t interval = runtime.meeting.control->interval_ns, now;

	s->carried_ns = __atomic_exchange_n(&carry_ns, 0, __ATOMIC_RELAXED);
	if (kind == ACCOUNT_MAIN)
		s->carried_ns += take_over(cpu_ns);
	else if (kind == ACCOUNT_LATE)
		s->carried_ns -= (int64_t)cpu_ns;
	now = (uint64_t)((int64_t)cpu_ns + s->carried_ns);
	s->n_due = now / interval;
	s->n_intervals = 0;
	if (kind == ACCOUNT_MAIN)
		note(s);
	if (!s->n_due)
		return interval - now % interval;
	s->n_due--; /* the signal itself counts for one: at the very next tick */
	return 1;
}

uint64_t account_tick(struct slot *s, uint64_t count)
{
	count += s->n_due;
	s->n_due = 0;
	s->n_intervals += count;
	if (s->tid == runtime.pid)
		note(s);
	return count;
}

void account_close(struct slot *s, uint64_t cpu_ns)
{
	int64_t left = (int64_t)cpu_ns + s->carried_ns -
		       (int64_t)(s->n_intervals * runtime.meeting.control->interval_ns);

	if (left > 0)
		__atomic_fetch_add(&carry_ns, left, __ATOMIC_RELAXED);
}

void account_exit(void)
{
	int64_t left = __atomic_exchange_n(&carry_ns, 0, __ATOMIC_RELAXED);

	entry()->pid = 0;
	if (left > 0)
		__atomic_fetch_add(&runtime.meeting.control->carry_ns, (uint64_t)left,
				   __ATOMIC_RELAXED);
}

void account_forget(void)
{
	carry_ns = 0;
}
