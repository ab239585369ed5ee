/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_fpe_threads.h"

#include <signal.h>

#include "inject/trace_fpe.h"
#include "inject/trace_fpe_copy.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"
#include "inject/trace_signal.h"
#include "wire/injected.h"

__attribute__((visibility("default"))) struct {
	struct wire_injected_fpe head;
	struct wire_injected_thread threads[WIRE_INJECTED_THREADS];
} dwell_injected_fpe;

static struct wire_injected_fpe *const told = &dwell_injected_fpe.head;
static struct wire_injected_thread *const threads = dwell_injected_fpe.threads;

static struct trace_local *local_of(const struct wire_injected_thread *t)
{
	return trace_local_of(t->pointer, t->tid);
}

/* Here the recorder arms them. */
void trace_fpe_begin(void)
{
}

void trace_fpe_threads_arm(void)
{
	told->signals = UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGTRAP - 1);
	told->types = trace_fpe_observe(trace_runtime.meeting.control->fpe_types,
					&told->types_x87);
	for (uint32_t i = 0; i < told->n_threads; i++) {
		const struct wire_injected_thread *t = &threads[i];
		struct trace_local *l = local_of(t);

		trace_fpe_had(&l->fpe, t->allowed);
		if (t->tid == trace_runtime.pid)
			trace_fpe_will_have(t->allowed);
		l->blocked = t->blocked & told->signals;
	}
	trace_signal_take_handlers();
}

static void ask(struct wire_injected_thread *t)
{
	const struct trace_local *l = local_of(t);

	t->allowed = trace_fpe_has(&l->fpe);
	t->blocked = l->blocked;
	told->is_busy |= trace_fpe_is_busy(&l->fpe, t->pc);
}

bool trace_fpe_threads_disarm(void)
{
	told->is_busy = false;
	for (uint32_t i = 0; i < told->n_threads; i++)
		ask(&threads[i]);
	trace_fpe_fade();
	if (told->is_busy)
		return false;
	trace_fpe_end();
	trace_fpe_forget();
	told->types = told->types_x87 = 0;
	return true;
}
