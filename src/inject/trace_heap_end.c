/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_heap_end.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/loaded.h"
#include "inject/pipe_write.h"
#include "inject/sandbox.h"
#include "inject/trace_runtime.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/tracer.h"

__attribute__((weak)) extern const char *gnu_get_libc_version(void);
__attribute__((weak)) extern int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);

__attribute__((visibility("hidden"))) extern const char __ehdr_start[];

/* So long without a sign of the recorder's; in all. */
#define SILENCE_NS UINT64_C(5000000000)
#define IN_ALL_NS  UINT64_C(60000000000)
/* Between two looks at the ring: at first, and at most. */
#define PAUSE_NS_MIN 20000
#define PAUSE_NS_MAX 1000000

static uint64_t token;
static bool has_unknown, has_stacks, is_told, is_registered;

void trace_heap_end_unknown(void)
{
	has_unknown = true;
}

static void tell_ours(const void *at, size_t bytes)
{
	struct wire_tracer_unmap r = { .time_ns = vdso_now_ns(),
				       .address = (uintptr_t)at,
				       .size_bytes = bytes };

	trace_runtime_write(WIRE_TRACER_OURS, &r, sizeof(r), NULL, 0);
}

static void note_stacks(const void *at, size_t bytes)
{
	(void)at;
	(void)bytes;
	has_stacks = true;
}

/* Without a stack nothing was ever told. */
static bool has_heap(void)
{
	trace_thread_each_memory(note_stacks);
	return has_stacks;
}

static void tell_own_data(void)
{
	struct loaded m = loaded_at(__ehdr_start);

	for (size_t i = 0; i < m.n_phdrs; i++)
		if (m.phdrs[i].p_type == PT_LOAD && (m.phdrs[i].p_flags & PF_W))
			tell_ours((const char *)m.bias + m.phdrs[i].p_vaddr,
				  m.phdrs[i].p_memsz);
}

static int open_bell(void)
{
	static const char name[] = "/" WIRE_SAMPLER_BELL;
	char path[WIRE_SAMPLER_DIRECTORY_MAX + sizeof(name)];
	size_t n = strlen(trace_runtime.meeting.directory);

	memcpy(path, trace_runtime.meeting.directory, n);
	memcpy(path + n, name, sizeof(name));
	return sys_open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0);
}

/* Nobody will read the pipe any more. */
static bool is_recorder_gone(int bell, long pause_ns)
{
	struct pollfd p = { .fd = bell };
	struct timespec t = { .tv_nsec = pause_ns };

	return sys_call(SYS_ppoll, &p, 1, &t, NULL, sizeof(uint64_t), 0) > 0;
}

static void wait_for_recorder(int bell)
{
	const uint32_t *request = &trace_runtime.ring.header->request;
	uint64_t begin_ns = vdso_now_ns(), seen_ns = begin_ns, now = begin_ns;
	uint32_t last = 0;
	long pause_ns = PAUSE_NS_MIN;

	while (now - seen_ns < SILENCE_NS && now - begin_ns < IN_ALL_NS) {
		uint32_t is = __atomic_load_n(request, __ATOMIC_ACQUIRE);

		if ((is & WIRE_SAMPLER_GO_ON) || !ring_is_ours(&trace_runtime.ring) ||
		    (!is && trace_runtime.meeting.control->is_stopped) ||
		    is_recorder_gone(bell, pause_ns))
			return;
		now = vdso_now_ns();
		if (is != last)
			seen_ns = now;
		last = is;
		if (pause_ns < PAUSE_NS_MAX)
			pause_ns += pause_ns / 2;
	}
}

/* What the caller had in its registers is on its stack, above this frame. */
static __attribute__((noinline)) void tell_and_wait(void)
{
	struct wire_tracer_heap_end r = {
		.time_ns = vdso_now_ns(),
		.stack_pointer = (uintptr_t)__builtin_frame_address(0),
		.token_address = (uintptr_t)&token,
		.tid = (uint32_t)sys_gettid(),
		.flags = (gnu_get_libc_version ? WIRE_TRACER_IS_GLIBC : 0) |
			 (has_unknown ? WIRE_TRACER_HAS_UNKNOWN : 0),
	};
	int bell = open_bell();
	char byte = 1;

	if (bell < 0)
		return;
	token = r.token = r.time_ns ^ (uint64_t)trace_runtime.pid << 40;
	tell_own_data();
	tell_ours(trace_runtime.ring.header,
		  WIRE_SAMPLER_RECORDS_AT + trace_runtime.ring.bytes);
	tell_ours(trace_runtime.meeting.control, WIRE_SAMPLER_CONTROL_BYTES);
	trace_thread_each_memory(tell_ours);
	if (trace_runtime_write(WIRE_TRACER_HEAP_END, &r, sizeof(r), NULL, 0) &&
	    pipe_write(bell, &byte, 1) != -EPIPE)
		wait_for_recorder(bell);
	sys_close(bell);
}

void trace_heap_end(void)
{
	if (!(trace_runtime.traces & WIRE_TRACER_HEAP) || !trace_runtime.is_on ||
	    trace_runtime.is_fork || !*trace_runtime.is_same_process || sandbox_is_on() ||
	    trace_runtime.sample_bytes || !has_heap() ||
	    sys_getpid() != trace_runtime.pid ||
	    __atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
		return;
	__builtin_unwind_init();
	tell_and_wait();
}

static void at_exit(void *unused)
{
	(void)unused;
	trace_heap_end();
}

/* Registered before the linker's own handler is, so that it comes behind all destructors;
 * where there is no such way, among them. */
__attribute__((constructor)) static void begin(void)
{
	if (trace_runtime_traces(WIRE_TRACER_HEAP) && gnu_get_libc_version &&
	    __cxa_atexit)
		is_registered = __cxa_atexit(at_exit, NULL, NULL) == 0;
}

__attribute__((destructor)) static void finish(void)
{
	if (!is_registered)
		trace_heap_end();
}
