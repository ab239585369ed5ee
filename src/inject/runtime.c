/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/runtime.h"

#include <string.h>
#include <sys/auxv.h>

#include "inject/arch.h"
#include "inject/environment.h"
#include "inject/loaded.h"
#include "inject/modules.h"
#include "inject/next.h"
#include "inject/restart.h"
#include "inject/sandbox.h"
#include "inject/tick.h"
#include "inject/vdso.h"

ARCH_RESTORER_DEFINE;

/* What the C library may or may not have. */
__attribute__((weak)) extern char **__environ;
__attribute__((weak)) extern const char *gnu_get_libc_version(void);
__attribute__((weak)) extern __typeof__(getauxval) getauxval;
__attribute__((weak)) extern int __register_atfork(void (*prepare)(void),
						   void (*parent)(void),
						   void (*child)(void), void *object);
__attribute__((weak)) extern int
pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

struct runtime runtime;

#define SIGNAL_GLIBC 32
#define SIGNAL_MUSL  33

/* The main thread's stack may grow down to here whatever its limit becomes. */
#define MAIN_STACK_BYTES (UINT64_C(64) << 20)
/* Thread-local storage lies between a thread's first frame and its stack's end. */
#define STACK_SLACK_BYTES (64 << 10)
#define ABOVE_FRAME_BYTES 256

void runtime_tell_thread(struct slot *s, enum wire_sampler_kind kind, uint64_t cpu_ns)
{
	struct wire_sampler_thread r = {
		.time_ns = vdso_now_ns(),
		.cpu_ns = cpu_ns,
		.tid = (uint32_t)s->tid,
	};

	if (s->thread_pointer && s->thread_pointer == arch_thread_pointer())
		meeting_comm(r.comm);
	ring_write(&runtime.ring, kind, &r, sizeof(r), NULL, 0);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

/* The kernel's clock id of a thread's CPU time. */
static clockid_t thread_clock(int tid)
{
	return (clockid_t)(~(unsigned)tid << 3 | 6);
}

void runtime_arm(struct slot *s, int tid, enum account_kind kind)
{
	struct sys_sigevent event = {
		.value = TICK_MARK | s->index,
		.signal = runtime.signal,
		.notify = SYS_SIGEV_THREAD_ID,
		.tid = tid,
	};
	struct itimerspec when;

	s->tid = tid;
	when.it_interval = timespec_of(runtime.meeting.control->interval_ns);
	when.it_value =
		timespec_of(account_open(s, kind, sys_clock_ns(thread_clock(tid))));
	s->current = 0;
	s->has_previous = false;
	if (sys_timer_create(thread_clock(tid), &event, &s->timer) < 0) {
		ring_count(&runtime.ring.header->n_threads_refused, 1);
		return;
	}
	s->is_armed = true;
	sys_timer_set(s->timer, &when);
	ring_count(&runtime.ring.header->n_threads, 1);
}

void runtime_disarm(struct slot *s)
{
	if (!s->is_armed)
		return;
	s->is_armed = false;
	sys_timer_delete(s->timer);
	ring_count(&runtime.ring.header->n_threads, (uint64_t)-1);
}

void runtime_thread_enter(struct slot *s, uintptr_t frame, size_t stack_bytes)
{
	size_t slack =
		stack_bytes / 2 < STACK_SLACK_BYTES ? stack_bytes / 2 : STACK_SLACK_BYTES;

	s->thread_pointer = arch_thread_pointer();
	s->stack_hi = frame + ABOVE_FRAME_BYTES;
	s->stack_lo = stack_bytes < frame ? frame - stack_bytes + slack : frame;
	runtime_arm(s, sys_gettid(), ACCOUNT_THREAD);
	runtime_tell_thread(s, WIRE_SAMPLER_THREAD, 0);
}

void runtime_thread_leave(struct slot *s)
{
	uint64_t cpu_ns;

	if (sandbox_is_on()) { /* the timer ends with the thread */
		s->is_armed = false;
		return;
	}
	runtime_disarm(s);
	cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	account_close(s, cpu_ns);
	runtime_tell_thread(s, WIRE_SAMPLER_LEAVE, cpu_ns);
	slot_free(s);
}

static void install_handler(unsigned long flags)
{
	struct sys_sigaction action = {
		.handler = (void *)tick_handle,
		.flags = flags | SA_SIGINFO | SA_RESTART | SA_ONSTACK |
			 (ARCH_HAS_RESTORER ? SYS_SA_RESTORER : 0),
		.restorer = arch_restorer,
		.mask = ~UINT64_C(0),
	};
	uint64_t signal_bit = UINT64_C(1) << (runtime.signal - 1);

	sys_signal_action(runtime.signal, &action, NULL);
	sys_signal_mask(SIG_UNBLOCK, &signal_bit, NULL);
}

void runtime_keep_signal(void)
{
	struct sys_sigaction now = { 0 };

	if (!runtime.is_on || sandbox_is_on() ||
	    sys_signal_action(runtime.signal, NULL, &now) < 0 ||
	    now.handler == (void *)tick_handle)
		return;
	runtime.chained = now;
	install_handler(0);
}

/* After a fork control_fd is -1. */
static bool open_ring(enum wire_sampler_origin origin, int control_fd)
{
	struct wire_sampler_start start = { .pid = (uint32_t)runtime.pid,
					    .origin = origin,
					    .signal = (uint32_t)runtime.signal };

	return meeting_ring(&runtime.meeting, control_fd, &start, &runtime.ring);
}

/* In the child of fork: one thread, no timers, the parent's memory. */
static void forked(void)
{
	struct slot *mine = slot_mine();

	if (!runtime.is_on)
		return;
	if (sandbox_is_on()) {
		runtime.is_on = false;
		return;
	}
	runtime.pid = sys_getpid();
	if (!runtime.meeting.rings)
		ring_unmap(&runtime.ring);
	account_forget();
	slot_after_fork(mine);
	runtime.is_on = runtime.meeting.control->flags & WIRE_SAMPLER_FOLLOW &&
			!runtime.meeting.control->is_stopped &&
			open_ring(WIRE_SAMPLER_FORK, -1);
	if (!runtime.is_on)
		return;
	if (!mine)
		mine = slot_new();
	if (mine)
		runtime_arm(mine, runtime.pid, ACCOUNT_MAIN);
}

/* In the parent.  Who forks again, as a shell does, will go on with it: mapping the rings
 * for all children to come costs less than each mapping its own. */
static void has_forked(void)
{
	if (runtime.is_on && !sandbox_is_on() &&
	    __atomic_add_fetch(&runtime.n_forks, 1, __ATOMIC_RELAXED) == 2 &&
	    !runtime.meeting.rings)
		meeting_map_rings(&runtime.meeting);
}

void runtime_check_fork(void)
{
	if (runtime.is_on && !sandbox_is_on() && runtime.pid != sys_getpid())
		forked();
}

/* stack_hi: something that the kernel put above the first frame. */
static void arm_main_thread(uintptr_t stack_hi)
{
	struct slot *s = slot_new();

	if (!s)
		return;
	s->thread_pointer = arch_thread_pointer();
	s->stack_hi = stack_hi;
	s->stack_lo = stack_hi ? stack_hi - MAIN_STACK_BYTES : 0;
	runtime_arm(s, runtime.pid, ACCOUNT_MAIN);
}

/* Frames of this library are nobody's business. */
static void find_own_text(void)
{
	struct loaded m = loaded_at(__ehdr_start);

	for (size_t i = 0; i < m.n_phdrs; i++) {
		if (m.phdrs[i].p_type != PT_LOAD || !(m.phdrs[i].p_flags & PF_X))
			continue;
		runtime.text_lo = m.bias + m.phdrs[i].p_vaddr;
		runtime.text_hi = runtime.text_lo + m.phdrs[i].p_memsz;
	}
}

static uintptr_t auxiliary(unsigned long type)
{
	return getauxval ? getauxval(type) : 0;
}

/* What only a sample needs, and no system call does: reading it from memory costs more
 * page faults than most of the rest of a short program's life.  Two threads may be at it
 * at once; both find the same. */
bool runtime_prepare(void)
{
	const void *vdso;
	struct loaded program;

	if (__atomic_load_n(&runtime.is_prepared, __ATOMIC_ACQUIRE))
		return true;
	vdso = (const void *)auxiliary(AT_SYSINFO_EHDR);
	program = loaded_by_phdrs((const void *)auxiliary(AT_PHDR), auxiliary(AT_PHNUM));
	find_own_text();
	vdso_init(vdso);
	if (!modules_begin(&runtime.ring, &program, vdso))
		return false;
	__atomic_store_n(&runtime.is_prepared, true, __ATOMIC_RELEASE);
	return true;
}

/* What takes the dynamic linker's lock cannot wait for a signal handler. */
static void prepare_locked(void)
{
	sandbox_init();
	unwind_local_refresh();
	if (runtime_prepare())
		modules_list(&runtime.ring);
}

static void begin(int control_fd)
{
	runtime.pid = sys_getpid();
	runtime.signal = gnu_get_libc_version ? SIGNAL_GLIBC : SIGNAL_MUSL;
	restart_init();
	if (!open_ring(WIRE_SAMPLER_EXEC, control_fd))
		return;
	runtime.is_on = true;
	if (next_needs_lock())
		prepare_locked();
	install_handler(0);
	if (__register_atfork)
		__register_atfork(NULL, has_forked, forked, NULL);
	else if (pthread_atfork)
		pthread_atfork(NULL, has_forked, forked);
	arm_main_thread(auxiliary(AT_RANDOM));
}

/* glibc passes the environment to constructors, musl does not. */
__attribute__((constructor)) static void start(int argc, char **argv, char **env)
{
	const char *directory;
	int control_fd;

	(void)argc;
	(void)argv;
	if (!gnu_get_libc_version)
		env = &__environ ? __environ : NULL;
	directory = environment_get(env, WIRE_SAMPLER_ENV);
	if (!directory || runtime.meeting.control)
		return;
	control_fd = meeting_open(&runtime.meeting, directory);
	if (control_fd < 0)
		return;
	begin(control_fd);
	if (!(runtime.meeting.control->flags & WIRE_SAMPLER_FOLLOW))
		environment_forget(env, WIRE_SAMPLER_ENV, runtime.meeting.directory);
}

/* Threads that are still there go with the process: what they used is carried on. */
__attribute__((destructor)) static void end(void)
{
	struct slot *s;

	if (!runtime.is_on || sandbox_is_on() || runtime.pid != sys_getpid())
		return;
	runtime.is_on = false;
	for (uint32_t i = 0; (s = slot_at(i)); i++)
		if (s->is_used && s->is_armed)
			account_close(s, sys_clock_ns(thread_clock(s->tid)));
	account_exit();
}
