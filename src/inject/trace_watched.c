/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_watched.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "inject/next.h"
#include "inject/trace_descriptors.h"
#include "inject/trace_thread.h"

#define EXPORT __attribute__((visibility("default")))

typedef int sigaltstack_fn(const stack_t *set, stack_t *get);

const bool trace_watched = true;

static sigaltstack_fn *next_sigaltstack;

static sigaltstack_fn *sigaltstack_of_library(void)
{
	sigaltstack_fn *f = __atomic_load_n(&next_sigaltstack, __ATOMIC_RELAXED);

	if (!f) {
		f = (sigaltstack_fn *)next_symbol("sigaltstack");
		__atomic_store_n(&next_sigaltstack, f, __ATOMIC_RELAXED);
	}
	return f;
}

void trace_watched_look_up(void)
{
	sigaltstack_of_library();
}

EXPORT sigaltstack_fn trace_watched_sigaltstack __asm__("sigaltstack");

/* A handler that comes in between asks, and what it gets may be of before or behind. What
 * the call was given is true of a stack that the kernel forgets in handlers, too; it may
 * have been written over, by what was there before. */
int trace_watched_sigaltstack(const stack_t *set, stack_t *get)
{
	int rc;

	if (set)
		trace_thread_set_handlers(NULL);
	rc = sigaltstack_of_library()(set, get);
	if (set)
		trace_thread_set_handlers(rc == 0 && get != set ? set : NULL);
	return rc;
}

void trace_watched_note(long nr, const long *arguments)
{
	if (nr == SYS_sigaltstack)
		trace_thread_set_handlers(NULL);
	trace_descriptor_note(nr, arguments);
}
