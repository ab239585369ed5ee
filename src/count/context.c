/* SPDX-License-Identifier: Apache-2.0 */
#include "count/context.h"

#include <stdbool.h>

#include "bare/sys.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/fatal.h"

static struct context *newest;

static bool try_take(struct context *c)
{
	uint64_t free_one = 1;

	return __atomic_compare_exchange_n(&c->is_free, &free_one, 0, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* In front of its counters, which are in the file. */
static struct context *make(void)
{
	struct context *c = count_output_add_thread();

	if (sys_call(SYS_mmap, c, CONTEXT_COUNTERS, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) < 0)
		fatal("no memory for a thread's registers");
	c->self = c;
	c->engine_sp = (uint64_t)context_counters(c);
	c->older = newest;
	newest = c;
	return c;
}

struct context *context_take(void)
{
	for (struct context *c = newest; c; c = c->older)
		if (try_take(c))
			return c;
	return make();
}

struct context *context_newest(void)
{
	return newest;
}

void context_free_all(void)
{
	for (struct context *c = newest; c; c = c->older)
		*c = (struct context){ .self = c,
				       .engine_sp = c->engine_sp,
				       .older = c->older,
				       .epoch = engine.epoch,
				       .is_free = 1 };
}

void context_keep_only(struct context *keep, const struct count_file_header *before)
{
	count_output_after_fork(before, (uint8_t *)keep);
	keep->older = NULL;
	keep->tid = (uint32_t)sys_gettid();
	newest = keep;
}

_Static_assert(CONTEXT_COUNTERS == COUNT_FILE_THREAD_SKIP,
	       "as readers of the file expect");
