/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_exit - the end of a process that ran already: the dynamic linker knows of no
 * destructor of ours, but each of its objects tells when its own are called.
 */
#include "inject/next.h"
#include "inject/sandbox.h"
#include "inject/trace_fpe.h"
#include "inject/trace_regions.h"
#include "inject/trace_runtime.h"

#define EXPORT __attribute__((visibility("default")))

/* A child of vfork has nothing of its own to tell. */
static void tell(void)
{
	if (!trace_runtime.is_on || sandbox_is_on() || trace_runtime_is_vforked())
		return;
	trace_regions_tell();
	trace_fpe_end();
}

typedef void finalize_fn(void *object);

EXPORT finalize_fn trace_exit_finalize __asm__("__cxa_finalize");

void trace_exit_finalize(void *object)
{
	finalize_fn *next = (finalize_fn *)next_symbol("__cxa_finalize");

	tell();
	next(object);
}

typedef void exit_fn(int status);

EXPORT exit_fn trace_exit_exit __asm__("exit");

void trace_exit_exit(int status)
{
	exit_fn *next = (exit_fn *)next_symbol("exit");

	tell();
	next(status);
}
