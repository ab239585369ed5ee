/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_thread - what the tracer keeps for a thread: to walk its stack and to know the
 * stack again.
 *
 * In memory of its own, made with the thread's first event and reused when the thread is
 * gone.
 */
#ifndef DWELL_INJECT_TRACE_THREAD_H
#define DWELL_INJECT_TRACE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "inject/wait_place.h"

struct trace_fpe_event;

/* The id, told to the recorder, of the stack that ends in the caller of the function
 * whose frame pointer is given; WIRE_TRACER_NO_STACK where none can be taken: in a
 * handler of a signal that interrupted this very function, or without memory. */
uint64_t trace_thread_stack(const uint64_t *frame);
/* The same of an interrupted context, in the handler of the signal. */
uint64_t trace_thread_stack_at(const ucontext_t *context);
/* Is there room for a walk, and what else is done meanwhile, below that frame?  *ret is
 * NULL where the stack has it, else another's upper end.  Signals' handlers and
 * coroutines may have a stack of a few kilobytes, with something else right below. False:
 * there is none. */
bool trace_thread_room(const uint64_t *frame, void **ret);
/* Call f on the stack that was found. */
void trace_thread_call(void *stack, void (*f)(void *), void *arg);
/* All of it goes: no thread is about to use it. */
void trace_thread_unmap(void);
/* This thread's stack for that, its upper end; NULL without memory. */
void *trace_thread_handler_stack(void);
/* Where it tells what it waits for, once a stack of it was taken; NULL: none was. */
struct wait_place *trace_thread_wait_place(void);
/* Its id; 0: as above. */
int trace_thread_tid(void);
/* Where this thread has handlers of signals run from now on; NULL: it may be anywhere. */
void trace_thread_set_handlers(const stack_t *stack);
/* What of floating-point exceptions is kept for this thread; NULL without memory. */
struct trace_fpe_event *trace_thread_fpe(void);
void trace_thread_each_fpe(void (*fn)(struct trace_fpe_event *event));
/* The memory in which all that is kept; there is none when no stack was ever taken. */
void trace_thread_each_memory(void (*fn)(const void *at, size_t bytes));
/* In a forked child: one thread is left. */
void trace_thread_after_fork(void);

#endif
