/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_none - where the CPU does not trap floating-point exceptions, or need not.
 */
#include "inject/trace_fpe.h"

void trace_fpe_begin(void)
{
}

void trace_fpe_end(void)
{
}

void trace_fpe_unmap(void)
{
}

void trace_fpe_settle(struct trace_fpe_event *event)
{
	(void)event;
}

void trace_fpe_leave(void)
{
}
