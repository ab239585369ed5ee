/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_runtime - the life of the tracer in one process: start, fork, the ring.
 *
 * It begins with the first call that is traced, which may be made before any constructor
 * of ours ran.  A forked child is known by a page that the kernel clears there, whatever
 * forked it; it gets a ring of its own with its first call.  A child of vfork is its
 * parent as far as memory goes, and stays so.
 *
 * Nothing here calls the C library, sets errno or takes memory from it.
 */
#ifndef DWELL_INJECT_TRACE_RUNTIME_H
#define DWELL_INJECT_TRACE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/meeting.h"
#include "inject/ring.h"

struct trace_runtime {
	/* Of an injected library the recorder zeroes the first eight bytes
	 * (inject/entry). */
	bool is_on, is_fork;
	uint32_t traces;       /* enum wire_tracer_trace: all, until it is known */
	uint64_t sample_bytes; /* of memory, for each block observed; 0: every block is */
	int pid;
	struct meeting meeting;
	struct ring ring;
	uint64_t epoch;		    /* of what the ring was told: another after a fork */
	uintptr_t text_lo, text_hi; /* this library */
	bool has_filters;	    /* of calls, more than the recorder has */
	bool has_frames_within;	    /* this library's, not only innermost */
	size_t page_bytes;
	uintptr_t main_stack_hi; /* something above its first frame, 0 unknown */
	const volatile uint32_t *is_same_process; /* 0 in a forked child */
};

extern struct trace_runtime trace_runtime;

/* In a process that runs already, none of whose other threads comes by: false when the
 * recorder of that directory cannot be met. */
bool trace_runtime_begin(const char *directory);
/* From now on all calls pass.  is_empty: no thread is about to use memory of ours, which
 * goes but for the library's own. */
void trace_runtime_end(bool is_empty);

/* The part of trace_runtime_is_on() that is seldom needed. */
bool trace_runtime_settle(void);

/* Before each event. */
static inline bool trace_runtime_is_on(void)
{
	const struct trace_runtime *r = &trace_runtime;

	return __builtin_expect(r->is_on && *r->is_same_process, 1) ||
	       trace_runtime_settle();
}

/* Is that, enum wire_tracer_trace, asked for?  Before each event of it. */
static inline bool trace_runtime_traces(uint32_t trace)
{
	return (trace_runtime.traces & trace) && trace_runtime_is_on() &&
	       (trace_runtime.traces & trace);
}

/* Nothing new is to be observed now; what is known already may still end. */
static inline bool trace_runtime_is_paused(void)
{
	return trace_runtime.meeting.control->is_paused;
}

/* May the kernel be asked for more than every program asks of it?  Not where that is
 * restricted by who may not have thought of us. */
bool trace_runtime_may_ask(void);

/* Is this a child of vfork, which has our memory but is another process? */
bool trace_runtime_is_vforked(void);

/* Append a record.  When there is no room waits for the recorder, for as long as that
 * makes some and else a moment; what has no place then is counted as lost. */
bool trace_runtime_write(uint16_t kind, const void *head, size_t head_size,
			 const void *tail, size_t tail_size);

/* What the calling thread is called, before its first event: the recorder knows it by its
 * id only. */
void trace_runtime_tell_thread(int tid);

#endif
