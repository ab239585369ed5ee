/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_local - what the tracer keeps for each thread at hand.
 *
 * Where the dynamic linker loads the library it is thread-local storage.  A library that
 * is put into a process that runs (DWELL_INJECTED) has none, as the threads are made
 * already: it is found in a table by the thread pointer.  A thread that got the pointer
 * of one that is gone is told from it by its id, which the C library keeps beside.
 */
#ifndef DWELL_INJECT_TRACE_LOCAL_H
#define DWELL_INJECT_TRACE_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/arch.h"
#include "inject/trace_fpe.h"

struct region_thread;
struct trace_thread;

struct trace_local {
	struct trace_thread *thread;   /* NULL: not yet */
	struct region_thread *regions; /* NULL: not yet */
	/* The outermost wrapper that waits.  One that was left by longjmp or by the end
	 * of its thread is further in than whoever comes next. */
	const uint64_t *within;
	bool has_told_within; /* the kernel's side knows where that word is */
	/* Some libraries' calls are made of others that come by here: the innermost
	 * counts.  As no pointer: nothing of ours may hold a block. */
	uintptr_t last_taken;
	int64_t until_next; /* bytes to the next block that is sampled */
	uint64_t random_state;
	struct trace_fpe_mine fpe;
	uint64_t blocked; /* by the program, of the signals that are ours */
};

#ifndef DWELL_INJECTED

__attribute__((visibility("hidden"))) extern __thread struct trace_local trace_local_own
	__attribute__((tls_model("initial-exec")));

static inline struct trace_local *trace_local(void)
{
	return &trace_local_own;
}

/* Are there so many threads that several share it? */
static inline bool trace_local_is_shared(const struct trace_local *l)
{
	(void)l;
	return false;
}

#else

#define TRACE_LOCAL_BITS 15

struct trace_local_place {
	uintptr_t thread_pointer; /* 0: nobody's */
	int tid;
	struct trace_local local;
} __attribute__((aligned(64)));

extern struct trace_local_place trace_local_places[1 << TRACE_LOCAL_BITS];
/* Bytes from the thread pointer to the id; 0: it is not known where. */
extern int trace_local_tid_at;

struct trace_local *trace_local_find(uintptr_t thread_pointer);
/* Of another thread, which stands: by its pointer, and its id. */
struct trace_local *trace_local_of(uintptr_t thread_pointer, int tid);
bool trace_local_is_shared(const struct trace_local *l);

static inline struct trace_local_place *trace_local_first(uintptr_t thread_pointer)
{
	return &trace_local_places[thread_pointer * UINT64_C(0x9e3779b97f4a7c15) >>
				   (64 - TRACE_LOCAL_BITS)];
}

static inline struct trace_local *trace_local(void)
{
	uintptr_t tp = arch_thread_pointer();
	struct trace_local_place *p = trace_local_first(tp);

	if (__builtin_expect(p->thread_pointer == tp && trace_local_tid_at &&
				     p->tid == *(const int *)(tp + trace_local_tid_at),
			     1))
		return &p->local;
	return trace_local_find(tp);
}

#endif
#endif
