/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_io.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "inject/trace_descriptors.h"
#include "inject/trace_io_asked.h"
#include "inject/trace_io_file.h"
#include "inject/trace_runtime.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/io_record.h"
#include "wire/tracer.h"

__attribute__((weak)) extern int *__errno_location(void);

/* Where a call has its file, and how many bytes it asks for. */
static const struct what {
	uint8_t event, file, asks;
} whats[] = {
	{ IO_RECORD_OTHER, IO_RECORD_NO_FILE_AT, IO_RECORD_ASKS_NONE },
#define IO_CALL(name, event, file, asks)                                                 \
	{ IO_RECORD_##event, IO_RECORD_##file, IO_RECORD_ASKS_##asks },
#include "wire/io_calls.def"
#undef IO_CALL
};

/* What it makes of descriptors that it is given. */
static const uint8_t changes[WIRE_TRACER_IO_N_CALLS] = {
	[WIRE_TRACER_IO_OF_close] = TRACE_DESCRIPTOR_FIRST,
	[WIRE_TRACER_IO_OF_close_range] = TRACE_DESCRIPTOR_RANGE,
	[WIRE_TRACER_IO_OF_connect] = TRACE_DESCRIPTOR_FIRST,
	[WIRE_TRACER_IO_OF_dup2] = TRACE_DESCRIPTOR_SECOND,
	[WIRE_TRACER_IO_OF_dup3] = TRACE_DESCRIPTOR_SECOND,
};

/* Where it leaves new ones, whose numbers may have been other files' that were closed
 * unseen.  Those of what opens a file are asked for behind it. */
static const enum made {
	MADE_NONE,
	MADE_RETURNED,
	MADE_PAIR_FIRST, /* two, where its first argument points to */
	MADE_PAIR_FOURTH,
} makes[WIRE_TRACER_IO_N_CALLS] = {
	[WIRE_TRACER_IO_OF_accept] = MADE_RETURNED,
	[WIRE_TRACER_IO_OF_accept4] = MADE_RETURNED,
	[WIRE_TRACER_IO_OF_dup] = MADE_RETURNED,
	[WIRE_TRACER_IO_OF_pipe] = MADE_PAIR_FIRST,
	[WIRE_TRACER_IO_OF_pipe2] = MADE_PAIR_FIRST,
	[WIRE_TRACER_IO_OF_socketpair] = MADE_PAIR_FOURTH,
};

/* As the kernel has it: below 0 the number of an error. */
static long result_of(const struct trace_io_call *c, long returned)
{
	long result = c->result == TRACE_IO_SIZE ? returned : (int)returned;

	if (c->result == TRACE_IO_NOTHING)
		return 0;
	if (c->result == TRACE_IO_ERROR)
		return -result;
	return result < 0 && __errno_location ? -*__errno_location() : result;
}

/* For the other end of a socket. */
static bool is_meeting(enum wire_tracer_io_call call)
{
	return call == WIRE_TRACER_IO_OF_connect || call == WIRE_TRACER_IO_OF_accept ||
	       call == WIRE_TRACER_IO_OF_accept4;
}

/* It has its path in the first or second argument. */
static bool opens(enum wire_tracer_io_call call)
{
	return whats[call].file == IO_RECORD_OPENED_FIRST ||
	       whats[call].file == IO_RECORD_OPENED_SECOND;
}

/* For its file, or for a second one that the bytes go to: to ask of that takes longer
 * than to tell that the call begins. */
static bool may_wait(enum wire_tracer_io_call call, bool may_file)
{
	const struct what *what = &whats[call];

	if (what->asks == IO_RECORD_ASKS_FOURTH || what->asks == IO_RECORD_ASKS_FIFTH)
		return true;
	return may_file &&
	       (what->event != IO_RECORD_OTHER || is_meeting(call) || opens(call));
}

static void forget_made(const struct trace_io_call *c, int returned)
{
	enum made made = makes[c->call];
	const int *pair = (const int *)c->arguments[made == MADE_PAIR_FOURTH ? 3 : 0];

	if (made == MADE_NONE || returned < 0)
		return;
	if (made == MADE_RETURNED) {
		trace_descriptor_forget(returned);
		return;
	}
	trace_descriptor_forget(pair[0]);
	trace_descriptor_forget(pair[1]);
}

static long make(const struct trace_io_call *c)
{
	const long *a = c->arguments;
	long returned;

	trace_descriptor_change(changes[c->call], a);
	returned = c->make(a[0], a[1], a[2], a[3], a[4], a[5]);
	trace_descriptor_change(changes[c->call], a);
	forget_made(c, (int)returned);
	return returned;
}

/* What is known of it before it is made; one that closes its descriptor has none then. */
static struct trace_io_file file_before(const struct trace_io_call *c)
{
	const struct what *what = &whats[c->call];

	if (what->file == IO_RECORD_FIRST)
		return trace_io_file_of((int)c->arguments[0]);
	if (what->file == IO_RECORD_SECOND)
		return trace_io_file_of((int)c->arguments[1]);
	if (what->file == IO_RECORD_OPENED_FIRST)
		return trace_io_file_waits(AT_FDCWD, (const char *)c->arguments[0]);
	if (what->file == IO_RECORD_OPENED_SECOND)
		return trace_io_file_waits((int)c->arguments[0],
					   (const char *)c->arguments[1]);
	return (struct trace_io_file){ WIRE_TRACER_IO_NO_FILE, false };
}

static uint64_t file_behind(const struct trace_io_call *c, long result)
{
	uint8_t at = whats[c->call].file;

	if (at < IO_RECORD_RETURNED)
		return WIRE_TRACER_IO_NO_FILE;
	if (result >= 0)
		return trace_io_file_opened((int)result);
	if (at == IO_RECORD_OPENED_FIRST)
		return trace_io_file_unopened((const char *)c->arguments[0]);
	if (at == IO_RECORD_OPENED_SECOND)
		return trace_io_file_unopened((const char *)c->arguments[1]);
	return WIRE_TRACER_IO_NO_FILE;
}

/* One that is under way. */
struct observed {
	const struct trace_io_call *call;
	struct wire_tracer_io_done record;
	long result;
	bool is_late; /* it began in a pause */
};

/* Without pauses. */
static uint64_t observed(uint64_t time_ns)
{
	return wire_sampler_observed(&trace_runtime.meeting.control->pauses, time_ns);
}

/* Without a stack it were nobody's. */
static void tell_begun(struct observed *o)
{
	struct wire_tracer_io_done *r = &o->record;
	struct wire_tracer_io_begun begun = { .file = r->file,
					      .call = r->call,
					      .frame = (uintptr_t)o->call->frame };

	begun.stack = r->stack = trace_thread_stack(o->call->frame);
	begun.time_ns = vdso_now_ns();
	begun.observed_ns = observed(begun.time_ns);
	if (r->stack != WIRE_TRACER_NO_STACK &&
	    trace_runtime_write(WIRE_TRACER_IO_BEGUN, &begun, sizeof(begun), NULL, 0))
		r->frame = begun.frame;
}

static void observe_before(void *p)
{
	struct observed *o = p;
	struct trace_io_file file = file_before(o->call);

	o->record.file = file.id;
	if (may_wait(o->call->call, file.may_block))
		tell_begun(o);
}

static void observe_after(void *p)
{
	struct observed *o = p;
	const struct trace_io_call *c = o->call;
	struct wire_tracer_io_done *r = &o->record;

	r->asked = trace_io_asked(whats[c->call].asks, c->arguments, &o->result);
	r->done = o->result < 0 ? 0 : (uint64_t)o->result;
	r->error = o->result < 0 ? (uint32_t)-o->result : 0;
	if (o->is_late && c->call != WIRE_TRACER_IO_OF_close && !opens(c->call))
		r->file = file_before(c).id;
	if (!r->file || (opens(c->call) && o->result >= 0))
		r->file = file_behind(c, o->result);
	if (r->stack == WIRE_TRACER_NO_STACK)
		r->stack = trace_thread_stack(c->frame);
	trace_runtime_write(trace_runtime_is_paused() ? WIRE_TRACER_IO_LEFT
						      : WIRE_TRACER_IO_DONE,
			    r, sizeof(*r), NULL, 0);
}

/* A place to observe it from.  False: there is none. */
static bool find_room(struct observed *o, void **stack)
{
	if (!trace_thread_room(o->call->frame, stack)) {
		ring_count(&trace_runtime.ring.header->n_dropped, 1);
		return false;
	}
	if (!*stack) /* a handler's may be anywhere */
		o->record.frame = (uintptr_t)o->call->frame;
	return true;
}

/* Between two calls of the clock, so that what is done here is not in its time. */
static long make_timed(struct observed *o)
{
	struct wire_tracer_io_done *r = &o->record;
	uint64_t since_ns = observed(vdso_now_ns()), until_ns;
	long returned = make(o->call);

	r->time_ns = vdso_now_ns();
	until_ns = observed(r->time_ns);
	r->took_ns = until_ns > since_ns ? until_ns - since_ns : 0;
	o->result = result_of(o->call, returned);
	return returned;
}

/* In a pause nothing is done but to look at the clock: it may be over when the call is.
 */
static long make_paused(struct observed *o)
{
	long returned = make_timed(o);
	void *stack;

	if (!trace_runtime_is_paused() && trace_runtime_is_on() && find_room(o, &stack)) {
		o->is_late = true;
		trace_thread_call(stack, observe_after, o);
	}
	return returned;
}

/* errno is left as the call left it. */
long trace_io_make(const struct trace_io_call *c)
{
	struct observed o = { .call = c, .record = { .call = c->call } };
	void *stack;
	long returned;

	if (trace_runtime_is_paused())
		return make_paused(&o);
	if (!find_room(&o, &stack))
		return make(c);
	trace_thread_call(stack, observe_before, &o);
	returned = make_timed(&o);
	if (trace_runtime_is_on())
		trace_thread_call(stack, observe_after, &o);
	return returned;
}
