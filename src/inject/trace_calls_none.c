/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_calls_none - in a library that only hears what programs say of themselves no
 * calls of theirs are observed, and so none are wrapped.
 */
#include "inject/trace_exec.h"
#include "inject/trace_heap_end.h"
#include "inject/trace_sync.h"

void trace_exec_look_up(void)
{
}

void trace_heap_end(void)
{
}

void trace_sync_look_up(void)
{
}

void trace_sync_let_pass(const char **at)
{
	(void)at;
}

void trace_sync_after_fork(void)
{
}
