/* SPDX-License-Identifier: Apache-2.0
 *
 * entry - the entries of the library that is put into a running process.
 *
 * A thread of the program is led here and away again by the recorder, on a stack of ours
 * and while nobody else comes here, perhaps in the middle of the C library: nothing of it
 * that takes a lock may be called.
 */
#include "wire/injected.h"

#include <stddef.h>

#include "bare/sys.h"
#include "inject/next.h"
#include "inject/trace_cells.h"
#include "inject/trace_fpe_left.h"
#include "inject/trace_fpe_threads.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"

#define ENTRY __attribute__((visibility("default"), noreturn))

typedef void entry_fn(struct wire_injected *from);

_Static_assert(offsetof(struct trace_runtime, is_on) < 8 &&
		       offsetof(struct trace_runtime, traces) == 4,
	       "zeroes there, and all calls pass");

ENTRY entry_fn dwell_injected_arm, dwell_injected_begin, dwell_injected_disarm,
	dwell_injected_end;

static _Noreturn void tell(struct wire_injected *to, enum wire_injected_state state)
{
	__atomic_store_n(&to->state, state, __ATOMIC_RELEASE);
	for (;;)
		sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void dwell_injected_begin(struct wire_injected *from)
{
	next_told((const void *)(from + 1), from->n_calls);
	trace_local_tid_at = from->tid_at;
	trace_fpe_left_had(from->left);
	from->switch_at = (uintptr_t)&trace_runtime;
	if (!trace_runtime_begin(from->directory))
		tell(from, WIRE_INJECTED_FAILED);
	from->hooks_at = (uintptr_t)trace_cells_hooks();
	tell(from, WIRE_INJECTED_READY);
}

void dwell_injected_arm(struct wire_injected *from)
{
	trace_fpe_threads_arm();
	tell(from, WIRE_INJECTED_READY);
}

void dwell_injected_disarm(struct wire_injected *from)
{
	bool is_over = trace_fpe_threads_disarm();

	from->left = trace_fpe_left_keep();
	tell(from, is_over ? WIRE_INJECTED_OVER : WIRE_INJECTED_READY);
}

void dwell_injected_end(struct wire_injected *from)
{
	trace_runtime_end(from->is_empty);
	tell(from, WIRE_INJECTED_OVER);
}
