/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_local.h"

#ifndef DWELL_INJECTED

__thread struct trace_local trace_local_own __attribute__((tls_model("initial-exec")));

#else

#include "bare/sys.h"
#include "inject/sandbox.h"
#include "inject/trace_runtime.h"

/* So many places are looked at for a thread. */
#define PROBES 64

struct trace_local_place trace_local_places[1 << TRACE_LOCAL_BITS];
int trace_local_tid_at;

static struct trace_local shared;

bool trace_local_is_shared(const struct trace_local *l)
{
	return l == &shared;
}

static bool claim(struct trace_local_place *p, uintptr_t tp)
{
	uintptr_t was = 0;

	return __atomic_load_n(&p->thread_pointer, __ATOMIC_RELAXED) == tp ||
	       __atomic_compare_exchange_n(&p->thread_pointer, &was, tp, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ||
	       was == tp;
}

/* Nobody but its thread comes to a place that is claimed; NULL: there is none. */
static struct trace_local_place *find_place(uintptr_t tp)
{
	const struct trace_local_place *end =
		trace_local_places + (1 << TRACE_LOCAL_BITS);
	struct trace_local_place *p = trace_local_first(tp);

	for (int i = 0; i < PROBES; i++, p = p + 1 < end ? p + 1 : trace_local_places)
		if (claim(p, tp))
			return p;
	return NULL;
}

static int own_tid(uintptr_t tp)
{
	return trace_local_tid_at ? *(const int *)(tp + trace_local_tid_at)
				  : sys_gettid();
}

/* Is this the one thread of a forked child, which nobody has told of the fork yet?  It is
 * the one that forked, by another id. */
static bool has_forked(int tid)
{
	const volatile uint32_t *is_same = trace_runtime.is_same_process;

	return is_same && !*is_same && !sandbox_is_on() && tid == sys_getpid();
}

static struct trace_local *share(void)
{
	shared = (struct trace_local){ 0 };
	return &shared;
}

struct trace_local *trace_local_find(uintptr_t tp)
{
	struct trace_local_place *p = find_place(tp);
	int tid = own_tid(tp);

	if (!p)
		return share();
	if (p->tid != tid) {
		if (!has_forked(tid))
			p->local = (struct trace_local){ 0 };
		p->tid = tid;
	}
	return &p->local;
}

struct trace_local *trace_local_of(uintptr_t tp, int tid)
{
	struct trace_local_place *p = find_place(tp);

	if (!p)
		return share();
	if (p->tid != tid)
		*p = (struct trace_local_place){ .thread_pointer = tp, .tid = tid };
	return &p->local;
}

#endif
