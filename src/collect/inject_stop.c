/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_stop.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>

#include "base/mem.h"
#include "collect/count_remote.h"
#include "collect/count_restart.h"
#include "collect/count_tracee.h"
#include "collect/inject_stack.h"
#include "host/clock.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define CODE_64BIT  0x33 /* cs */
#define PLAIN_FLAGS 0x202
#define VDSO_MAX    0x10000
#define RSEQ_CS_OFF 8		/* in what a thread has registered */
#define STEPS_MAX   2000	/* while all stand: of 2 us, in virtual machines 20 */
#define RUN_NS	    60000000000 /* an entry of the library, which takes milliseconds */

/* Since kernel 5.13; C libraries name it since. */
#define GET_RSEQ 0x420f
struct rseq_registered {
	uint64_t at;
	uint32_t bytes, signature, flags, pad;
};

/* Since kernel 4.3 if that can save processes (CONFIG_CHECKPOINT_RESTORE), for whoever
 * may administer the system and has no filter himself. */
#define SUSPEND_SECCOMP (1 << 21)

struct inject_stop {
	struct count_tracees threads;
	struct count_tracee *helper; /* NULL: not chosen yet */
	struct user_fpregs_struct fp;
	uint64_t since_ns;
	bool is_hurrying;
};

int inject_stop_site(const struct inject_memory *m, const char *maps, size_t maps_bytes,
		     uint64_t *ret, struct err *e)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	own(freep) uint8_t *code = xcalloc(1, VDSO_MAX);
	const char *end = maps + maps_bytes;

	*ret = 0;
	while (!*ret && proc_maps_next(&maps, end, map)) {
		size_t n = map->end - map->start;

		n = n < VDSO_MAX ? n : VDSO_MAX;
		if (!strcmp(map->path, "[vdso]") &&
		    inject_memory_read(m, map->start, code, n))
			*ret = count_remote_find_call(code, n, map->start);
	}
	return *ret ? 0
		    : err_set(e, ERR_UNSUPPORTED,
			      "it has no vDSO to make system calls from");
}

static int take_registers(struct inject_stop *s, struct err *e)
{
	vec_each(t, &s->threads.at) {
		if (t->is_gone)
			continue;
		t->is_gone = !count_tracee_get(t, &t->regs);
		if (!t->is_gone && t->regs.cs != CODE_64BIT)
			return err_set(e, ERR_UNSUPPORTED, "it executes 32-bit code");
	}
	return 0;
}

/* Who makes others stand does not wait for its turn meanwhile, if it may. */
static bool hurry(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	return sched_getscheduler(0) == SCHED_OTHER &&
	       sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

static void hurry_no_more(void)
{
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

static struct inject_stop *begin(pid_t pid, uint64_t limit_ns)
{
	struct inject_stop *s = xcalloc(1, sizeof(*s));

	s->threads.pid = pid;
	s->threads.limit_ns = limit_ns;
	s->is_hurrying = hurry();
	s->since_ns = clock_monotonic_ns();
	return s;
}

static struct inject_stop *settle(struct inject_stop *s, int rc, struct err *e)
{
	if (rc == 0 && take_registers(s, e) == 0)
		return s;
	inject_stop_end(s);
	return NULL;
}

struct inject_stop *inject_stop_begin(pid_t pid, uint64_t limit_ns, struct err *e)
{
	struct inject_stop *s = begin(pid, limit_ns);

	return settle(s, count_tracees_stop(&s->threads, e), e);
}

static bool waits(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	return procfs_task_stat(pid, tid, &stat, NULL) == 0 && stat.state == 'S';
}

/* 0: none. */
static pid_t find_waiting(pid_t pid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	if (procfs_tasks(pid, &tids, NULL) == 0)
		for (size_t i = 0; i < tids.ids.n; i++)
			if (waits(pid, tids.ids.at[i]))
				return tids.ids.at[i];
	return 0;
}

bool inject_stop_may_be_soon(pid_t pid)
{
	return find_waiting(pid) != 0;
}

/* The first of a process has the best name, and is taken if none waits. */
static pid_t choose_one(pid_t pid)
{
	pid_t tid = find_waiting(pid);

	return tid ? tid : pid;
}

struct inject_stop *inject_stop_begin_one(pid_t pid, uint64_t limit_ns, struct err *e)
{
	pid_t tid = choose_one(pid);
	struct inject_stop *s = begin(pid, limit_ns);

	return settle(s, count_tracees_stop_one(&s->threads, tid, e), e);
}

/* Whoever has done nothing for us is as it was.  The kernel makes a call again, or ends
 * it if a handler of the program's comes first; it looks only at those that it has
 * stopped on their way out of the kernel. */
static void go_on_as_before(struct inject_stop *s, struct count_tracee *t)
{
	struct count_restart call = { (int64_t)t->regs.rax, (int64_t)t->regs.orig_rax,
				      t->regs.rip };

	if (count_restart(&call) && count_tracee_stop_again(t))
		t->regs.rax = (unsigned long)call.kernels;
	count_tracee_set(t, &t->regs);
	ptrace(PTRACE_SETFPREGS, t->tid, 0, &s->fp);
	count_tracee_set_mask(t, t->mask);
}

uint64_t inject_stop_end(struct inject_stop *s)
{
	uint64_t stood_ns;

	if (!s)
		return 0;
	if (s->helper && s->helper->is_stopped && !s->helper->is_gone)
		go_on_as_before(s, s->helper);
	count_tracees_fini(&s->threads);
	stood_ns = clock_monotonic_ns() - s->since_ns;
	if (s->is_hurrying)
		hurry_no_more();
	free(s);
	return stood_ns;
}

void inject_stop_each(const struct inject_stop *s, inject_stop_registers_fn *fn,
		      void *ctx)
{
	vec_each(t, &s->threads.at) {
		const uint64_t registers[] = { t->regs.rax, t->regs.rbx, t->regs.rcx,
					       t->regs.rdx, t->regs.rsi, t->regs.rdi,
					       t->regs.rbp, t->regs.r8,	 t->regs.r9,
					       t->regs.r10, t->regs.r11, t->regs.r12,
					       t->regs.r13, t->regs.r14, t->regs.r15 };

		if (!t->is_gone)
			fn(ctx, registers, sizeof(registers) / sizeof(registers[0]));
	}
}

/* A section that is begun anew when it is interrupted, unless it is left elsewhere. */
static bool has_section(const struct count_tracee *t)
{
	struct rseq_registered c = { 0 };
	uint64_t section = 0;

	return ptrace(GET_RSEQ, t->tid, sizeof(c), &c) > 0 && c.at &&
	       count_remote_read(t->tid, c.at + RSEQ_CS_OFF, &section, sizeof(section)) &&
	       section;
}

/* The thread's id as it sees it itself. */
static int32_t own_id(pid_t pid, pid_t tid)
{
	char text[PROCFS_STATUS_BYTES], path[64];
	const char *ids;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return 0;
	ids = strstr(text, "\nNSpid:");
	if (!ids)
		return (int32_t)tid;
	ids++;
	ids += strcspn(ids, "\n");
	while (!strchr("\t :", ids[-1]))
		ids--;
	return (int32_t)strtol(ids, NULL, 10);
}

/* Where the C libraries of x86-64 have it, in what the thread pointer points to. */
static int32_t find_tid(pid_t pid, const struct count_tracee *t)
{
	static const int32_t places[] = { 0x2d0 /* glibc */, 0x30 /* musl */ };
	int32_t wanted = own_id(pid, t->tid), found;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && wanted; i++)
		if (t->regs.fs_base &&
		    count_remote_read(t->tid, t->regs.fs_base + (uint64_t)places[i],
				      &found, sizeof(found)) &&
		    found == wanted)
			return places[i];
	return 0;
}

/* Another thread may forbid system calls to all while this one makes some for us: they
 * are for the program's own.  Where we may not lift that, the moment is short. */
static void lift_filters(const struct count_tracee *t)
{
	ptrace(PTRACE_SETOPTIONS, t->tid, 0, PTRACE_O_TRACESYSGOOD | SUSPEND_SECCOMP);
}

int inject_stop_take(struct inject_stop *s, int32_t *ret_tid_at, struct err *e)
{
	if (s->helper)
		return 0;
	vec_each(t, &s->threads.at) {
		if (t->is_gone || has_section(t) || !count_tracee_get_mask(t, &t->mask) ||
		    ptrace(PTRACE_GETFPREGS, t->tid, 0, &s->fp) < 0 ||
		    !count_tracee_set_mask(t, ~0ULL))
			continue;
		s->helper = t;
		lift_filters(t);
		*ret_tid_at = find_tid(s->threads.pid, t);
		return 0;
	}
	return err_set(e, ERR_LIMIT, "no thread of it can be led elsewhere");
}

long inject_stop_call(struct inject_stop *s, uint64_t site, long number, uint64_t a,
		      uint64_t b, uint64_t c, uint64_t d)
{
	return count_remote_call(s->helper, site, number, a, b, c, d);
}

bool inject_stop_run(struct inject_stop *s, uint64_t entry, uint64_t arg, uint64_t stack,
		     uint64_t word)
{
	struct user_regs_struct regs = s->helper->regs;

	regs.rip = entry;
	regs.rdi = arg;
	regs.rsp = stack - 64 - 8; /* as if it had been called */
	regs.eflags = PLAIN_FLAGS;
	regs.orig_rax = -1UL;
	return count_remote_run_through(s->helper, &regs, word, RUN_NS);
}

/* What comes of an instruction: the kernel does not block that, but ends who does. */
#define FAULTS                                                                           \
	(UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGTRAP - 1) |                    \
	 UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGFPE - 1) |                     \
	 UINT64_C(1) << (SIGSEGV - 1))

static bool lead_out(struct count_tracee *t, uint64_t lo, uint64_t hi, unsigned *steps)
{
	bool is_in = t->regs.rip - lo < hi - lo;
	uint64_t mask;

	if (!is_in || !count_tracee_get_mask(t, &mask) ||
	    !count_tracee_set_mask(t, ~FAULTS))
		return !is_in;
	while (is_in && *steps) {
		--*steps;
		if (!count_tracee_step(t) || !count_tracee_get(t, &t->regs))
			break;
		is_in = t->regs.rip - lo < hi - lo;
	}
	count_tracee_set_mask(t, mask);
	return !is_in;
}

bool inject_stop_lead_out(struct inject_stop *s, uint64_t lo, uint64_t hi)
{
	unsigned steps = STEPS_MAX;
	bool are_out = true;

	vec_each(t, &s->threads.at)
		are_out &= t->is_gone || lead_out(t, lo, hi, &steps);
	return are_out;
}

static bool read_of_thread(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const struct count_tracee *t = ctx;

	return count_remote_read(t->tid, at, to, bytes);
}

bool inject_stop_is_within(const struct inject_stop *s, uint64_t lo, uint64_t hi)
{
	vec_each(t, &s->threads.at) {
		struct inject_memory m = { read_of_thread, t };

		if (!t->is_gone && (t->regs.rip - lo < hi - lo ||
				    inject_stack_leads(&m, t->regs.rsp, lo, hi)))
			return true;
	}
	return false;
}

size_t inject_stop_n(const struct inject_stop *s)
{
	return s->threads.at.n;
}

static bool get_fp(const struct inject_stop *s, const struct count_tracee *t,
		   struct user_fpregs_struct *ret)
{
	if (t == s->helper)
		*ret = s->fp;
	return t == s->helper || ptrace(PTRACE_GETFPREGS, t->tid, 0, ret) == 0;
}

bool inject_stop_get(const struct inject_stop *s, size_t i,
		     struct inject_stop_thread *ret)
{
	struct count_tracee *t = &s->threads.at.at[i];
	struct user_fpregs_struct fp;
	uint64_t mask = t->mask;

	if (t->is_gone || !get_fp(s, t, &fp) ||
	    (t != s->helper && !count_tracee_get_mask(t, &mask)))
		return false;
	*ret = (struct inject_stop_thread){ .tid = t->tid,
					    .pointer = t->regs.fs_base,
					    .pc = t->regs.rip,
					    .sp = t->regs.rsp,
					    .flags = t->regs.eflags,
					    .mask = mask,
					    .mxcsr = fp.mxcsr,
					    .control = fp.cwd,
					    .status = fp.swd };
	return true;
}

static void set_fp(struct inject_stop *s, const struct count_tracee *t,
		   const struct user_fpregs_struct *fp)
{
	if (t == s->helper)
		s->fp = *fp;
	else
		ptrace(PTRACE_SETFPREGS, t->tid, 0, fp);
}

void inject_stop_set(struct inject_stop *s, size_t i,
		     const struct inject_stop_thread *thread)
{
	struct count_tracee *t = &s->threads.at.at[i];
	struct inject_stop_thread now;
	struct user_fpregs_struct fp;

	if (!inject_stop_get(s, i, &now) || !get_fp(s, t, &fp))
		return;
	if (t == s->helper)
		t->mask = thread->mask;
	else if (now.mask != thread->mask)
		count_tracee_set_mask(t, thread->mask);
	if (now.mxcsr == thread->mxcsr && now.control == thread->control &&
	    now.status == thread->status)
		return;
	fp.mxcsr = thread->mxcsr;
	fp.cwd = thread->control;
	fp.swd = thread->status;
	set_fp(s, t, &fp);
}

int32_t inject_stop_tid(const struct inject_stop *s, size_t i, int32_t tid_at)
{
	const struct count_tracee *t = &s->threads.at.at[i];
	int32_t tid;

	if (tid_at && count_remote_read(t->tid, t->regs.fs_base + (uint64_t)tid_at, &tid,
					sizeof(tid)))
		return tid;
	return own_id(s->threads.pid, t->tid);
}
