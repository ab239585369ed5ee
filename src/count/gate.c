/* SPDX-License-Identifier: Apache-2.0 */
#include "count/gate.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "bare/sys.h"
#include "count/alias.h"
#include "count/code_change.h"
#include "count/confine.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/depart.h"
#include "count/engine.h"
#include "count/exec_range.h"
#include "count/fd_path.h"
#include "count/follow.h"
#include "count/int80.h"
#include "count/link.h"
#include "count/memory_limit.h"
#include "count/nest.h"
#include "count/own_exe.h"
#include "count/program_memory.h"
#include "count/signals.h"
#include "count/thread.h"
#include "count/turnover.h"

/* Registers of a call and its arguments. */
enum { NR = 0, A = 7, B = 6, C = 2, D = 10, E = 8, F = 9 };

/* No address of the program's is beyond it. */
#define PROGRAM_END 0x7ffffffff000ULL

struct call {
	struct context *c;
	const struct link *at;
};

/* Unless a signal is held: crossing.S. */
long crossing_call(const struct context *c);

long gate_pass(const struct context *c)
{
	return crossing_call(c);
}

static long pass(const struct call *call)
{
	return gate_pass(call->c);
}

/* The kernel writes, or moves, where the engine has forbidden writes as well. */
static long pass_unforbidden(const struct call *call)
{
	long result = pass(call);
	bool is_allowed;

	if (result != -EFAULT)
		return result;
	spin_lock(&engine.lock);
	is_allowed = code_change_allow_all();
	spin_unlock(&engine.lock);
	return is_allowed ? pass(call) : result;
}

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

/* To a file, of which something may be executed. */
static long write_file(const struct call *call)
{
	long result = pass_unforbidden(call);

	if (!alias_is_any() || is_error(result))
		return result;
	spin_lock(&engine.lock);
	code_change_check_file((int)call->c->regs[A]);
	spin_unlock(&engine.lock);
	return result;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + 4095) & ~4095ULL;
}

/* Under the lock. */
static void add_range(uint64_t start, uint64_t end, int fd, uint64_t off,
		      bool is_writable, bool is_shared)
{
	static char path[4096];
	struct count_file_image image = { .start = start,
					  .size = end - start,
					  .off = off };
	const char *name = fd < 0 ? NULL : fd_path(fd, path, sizeof(path));
	uint32_t number = count_output_add_image(&image, name);

	exec_range_add((struct exec_range){
		.start = start,
		.end = end,
		.image = number,
		.is_exec = true,
		.is_writable = is_writable,
		.may_change = fd < 0 || is_shared,
	});
	if (fd >= 0)
		nest_add_code(fd, NULL, &image, number);
}

static void remove_range(uint64_t start, uint64_t end, bool is_unmapped)
{
	if (exec_range_remove(start, end))
		code_change_forget(start, end, is_unmapped);
	if (alias_remove(start, end))
		code_change_let(start, end);
}

/* Of a file, so that what is written there can be executed elsewhere. */
static bool is_shared(uint64_t flags)
{
	uint64_t type = flags & MAP_TYPE;

	return !(flags & MAP_ANONYMOUS) &&
	       (type == MAP_SHARED || type == MAP_SHARED_VALIDATE);
}

static void add_alias(const uint64_t *r, uint64_t start, uint64_t end)
{
	alias_add_fd(start, end, (uint32_t)r[C], (int)r[E], r[F]);
	if (r[C] & PROT_WRITE)
		code_change_check_others(start, end);
}

static long map(const struct call *call)
{
	const uint64_t *r = call->c->regs;
	long result = memory_limit_refuses(r[B]) ? -ENOMEM : pass(call);
	uint64_t start = (uint64_t)result, end = start + whole_pages(r[B]);

	if (is_error(result))
		return result;
	spin_lock(&engine.lock);
	remove_range(start, end, false);
	if (r[C] & PROT_EXEC) {
		add_range(start, end, r[D] & MAP_ANONYMOUS ? -1 : (int)r[E], r[F],
			  r[C] & PROT_WRITE, is_shared(r[D]));
		code_change_forget(start, end, false);
	}
	if (is_shared(r[D]))
		add_alias(r, start, end);
	spin_unlock(&engine.lock);
	return result;
}

static long unmap(const struct call *call)
{
	const uint64_t *r = call->c->regs;
	long result = pass(call);

	if (is_error(result))
		return result;
	spin_lock(&engine.lock);
	remove_range(r[A], r[A] + whole_pages(r[B]), true);
	spin_unlock(&engine.lock);
	return result;
}

/* Code that is moved is another's where it is then. */
static long remap(const struct call *call)
{
	const uint64_t *r = call->c->regs;
	uint64_t old = r[A], old_end = old + whole_pages(r[B]);
	const struct exec_range *was;
	struct alias alias;
	bool is_exec, is_writable, is_alias;
	long result;
	uint64_t start;

	spin_lock(&engine.lock);
	was = exec_range_find(old);
	is_exec = was;
	is_writable = was && was->is_writable;
	is_alias = alias_find(old, &alias);
	code_change_allow_between(old, old_end); /* rights move as well */
	spin_unlock(&engine.lock);
	result = r[C] > r[B] && memory_limit_refuses(r[C] - r[B])
			 ? -ENOMEM
			 : pass_unforbidden(call);
	if (is_error(result))
		return result;
	start = (uint64_t)result;
	spin_lock(&engine.lock);
	if (start != old || whole_pages(r[C]) < whole_pages(r[B]))
		remove_range(old, old_end, true);
	remove_range(start, start + whole_pages(r[C]), false);
	if (is_exec)
		add_range(start, start + whole_pages(r[C]), -1, 0, is_writable, false);
	if (is_alias) {
		alias.start = start;
		alias.end = start + whole_pages(r[C]);
		alias_add(&alias);
		code_change_check_others(alias.start, alias.end);
	}
	spin_unlock(&engine.lock);
	return result;
}

/* Flags may have been taken for free that code there is to need. */
static void expect_change(uint64_t start, uint64_t end)
{
	struct exec_range r;

	while (exec_range_expect_change(start, end, &r))
		if (code_change_is_any(r.start, r.end))
			turnover_ask();
}

static long protect(const struct call *call)
{
	const uint64_t *r = call->c->regs;
	uint64_t start = r[A], end = r[A] + whole_pages(r[B]);
	bool is_exec = r[C] & PROT_EXEC, is_writable = r[C] & PROT_WRITE;
	struct exec_range gap;
	long result = pass(call);

	if (is_error(result))
		return result;
	spin_lock(&engine.lock);
	if (is_writable)
		expect_change(start, end);
	if (exec_range_protect(start, end, is_exec, is_writable) || is_exec)
		code_change_check(start, end);
	if (alias_protect(start, end, (uint32_t)r[C])) {
		code_change_let(start, end);
		code_change_check_others(start, end);
	}
	while (is_exec && exec_range_gap(start, end, &gap))
		add_range(gap.start, gap.end, -1, 0, is_writable, false);
	spin_unlock(&engine.lock);
	return result;
}

/* gs is the engine's, and the program has a place in the context instead. */
static long set_gs_base(struct context *c, uint64_t base)
{
	if (base >= PROGRAM_END)
		return -EPERM;
	c->gs_base = base;
	return 0;
}

static long get_gs_base(const struct context *c, uint64_t to)
{
	return program_memory_write(to, &c->gs_base, sizeof(c->gs_base)) ? 0 : -EFAULT;
}

/* Not so what would have to know of translated code. */
static long arch(const struct call *call)
{
	const uint64_t *r = call->c->regs;

	if (r[A] == ARCH_SET_GS)
		return set_gs_base(call->c, r[B]);
	if (r[A] == ARCH_GET_GS)
		return get_gs_base(call->c, r[B]);
	return r[A] == ARCH_SET_FS || r[A] == ARCH_GET_FS ? pass(call) : -EINVAL;
}

/* Of the engine's own calls only those remain that any program may make. */
static long confine(const struct call *call)
{
	long result;

	if (!confine_may(call->c))
		return GATE_NOT_MADE;
	if (depart_must(call->c) && depart(call->c, call->at) == GATE_NOT_MADE)
		return GATE_NOT_MADE;
	result = pass_unforbidden(call);
	if (!is_error(result)) {
		program_memory_believe();
		engine.is_confined = true;
	}
	return result;
}

static long filter(const struct call *call)
{
	const uint64_t *r = call->c->regs;
	bool is_filter = r[NR] == SYS_seccomp ? r[A] <= SECCOMP_SET_MODE_FILTER
					      : r[A] == PR_SET_SECCOMP;

	return is_filter && !depart_need_not(call->c) ? confine(call)
						      : pass_unforbidden(call);
}

/* Critical sections could be interrupted within translated code.  Who has begun natively
 * takes it for granted in its new threads. */
static long restartable(const struct call *call)
{
	return engine.is_attached ? pass(call) : -ENOSYS;
}

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_io_pgetevents
#define SYS_io_pgetevents 333
#endif
#ifndef SYS_rseq
#define SYS_rseq 334
#endif

/* A handler would need the stack that is given up. */
static long end_thread(const struct call *call)
{
	uint64_t mask;

	if (!signals_block(call->c, &mask))
		return GATE_NOT_MADE;
	thread_end(call->c, call->at);
}

static long begin_thread(const struct call *call)
{
	return thread_clone(call->c, call->at);
}

static long set_action(const struct call *call)
{
	return signals_set_action(call->c);
}

static long set_signal_stack(const struct call *call)
{
	return signals_set_stack(call->c);
}

/* With the program's file in place of the engine's, if the argument names that. */
static long with_own_exe(const struct call *call, unsigned argument)
{
	uint64_t *r = call->c->regs, was = r[argument];
	const char *exe = own_exe_at(was);
	long result;

	if (exe)
		r[argument] = (uint64_t)exe;
	result = pass(call);
	r[argument] = was;
	return result;
}

static long open_path(const struct call *call)
{
	return with_own_exe(call, A);
}

static long open_path_at(const struct call *call)
{
	return with_own_exe(call, B);
}

static long read_link_to(const struct call *call, uint64_t name, uint64_t to, int size)
{
	const char *exe = own_exe_at(name);
	size_t bytes = exe ? strlen(exe) : 0;

	if (!exe || size <= 0)
		return pass(call);
	bytes = bytes < (size_t)size ? bytes : (size_t)size;
	return program_memory_write(to, exe, bytes) ? (long)bytes : -EFAULT;
}

static long read_link(const struct call *call)
{
	const uint64_t *r = call->c->regs;

	return read_link_to(call, r[A], r[B], (int)r[C]);
}

static long read_link_at(const struct call *call)
{
	const uint64_t *r = call->c->regs;

	return read_link_to(call, r[B], r[C], (int)r[D]);
}

/* The next program begins with what this one has blocked. */
static long execute_by(const struct call *call, long (*follow)(struct context *c))
{
	long result;

	signal_mask_lend(call->c);
	result = follow(call->c);
	signal_mask_end_loan(call->c);
	return result;
}

static long execute(const struct call *call)
{
	return execute_by(call, follow_execve);
}

static long execute_at(const struct call *call)
{
	return execute_by(call, follow_execveat);
}

static long set_signal_mask(const struct call *call)
{
	return signal_mask_set(call->c);
}

static long wait_with(const struct call *call, uint64_t mask_at)
{
	long result;

	signal_mask_wait(call->c, mask_at);
	result = pass_unforbidden(call);
	signal_mask_end_wait(call->c);
	return result;
}

static long wait_for_signal(const struct call *call)
{
	return wait_with(call, call->c->regs[A]);
}

static long wait_for_files(const struct call *call)
{
	return wait_with(call, call->c->regs[D]);
}

static long wait_for_events(const struct call *call)
{
	return wait_with(call, call->c->regs[E]);
}

/* Their mask is where the argument says, with its size. */
static long wait_by_pair(const struct call *call)
{
	uint64_t at = call->c->regs[F], mask_at = 0;

	if (at && !program_memory_read(&mask_at, at, sizeof(mask_at)))
		mask_at = 0;
	return wait_with(call, mask_at);
}

static long return_from_handler(const struct call *call)
{
	return signals_return(call->c);
}

static long set_limit(const struct call *call)
{
	return memory_limit_set(call->c);
}

static long get_limit(const struct call *call)
{
	return memory_limit_get(call->c);
}

static long change_limit(const struct call *call)
{
	return memory_limit_change(call->c);
}

static long move_break(const struct call *call)
{
	return memory_limit_break(call->c);
}

static long lock_memory(const struct call *call)
{
	return memory_limit_lock(call->c);
}

static const struct {
	unsigned number;
	long (*make)(const struct call *call);
} calls[] = {
	{ SYS_mmap, map },
	{ SYS_munmap, unmap },
	{ SYS_mremap, remap },
	{ SYS_mprotect, protect },
	{ SYS_pkey_mprotect, protect },
	{ SYS_write, write_file },
	{ SYS_pwrite64, write_file },
	{ SYS_writev, write_file },
	{ SYS_pwritev, write_file },
	{ SYS_pwritev2, write_file },
	{ SYS_exit, end_thread },
	{ SYS_clone, begin_thread },
	{ SYS_clone3, begin_thread },
	{ SYS_fork, begin_thread },
	{ SYS_vfork, begin_thread },
	{ SYS_execve, execute },
	{ SYS_execveat, execute_at },
	{ SYS_open, open_path },
	{ SYS_openat, open_path_at },
	{ SYS_openat2, open_path_at },
	{ SYS_readlink, read_link },
	{ SYS_readlinkat, read_link_at },
	{ SYS_prctl, filter },
	{ SYS_seccomp, filter },
	{ SYS_arch_prctl, arch },
	{ SYS_rseq, restartable },
	{ SYS_setrlimit, set_limit },
	{ SYS_getrlimit, get_limit },
	{ SYS_prlimit64, change_limit },
	{ SYS_mlockall, lock_memory },
	{ SYS_brk, move_break },
	{ SYS_rt_sigaction, set_action },
	{ SYS_sigaltstack, set_signal_stack },
	{ SYS_rt_sigreturn, return_from_handler },
	{ SYS_rt_sigprocmask, set_signal_mask },
	{ SYS_rt_sigsuspend, wait_for_signal },
	{ SYS_ppoll, wait_for_files },
	{ SYS_epoll_pwait, wait_for_events },
	{ SYS_epoll_pwait2, wait_for_events },
	{ SYS_pselect6, wait_by_pair },
	{ SYS_io_pgetevents, wait_by_pair },
};

static long make(const struct call *call)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == call->c->regs[NR])
			return calls[i].make(call);
	return pass_unforbidden(call);
}

/* Of the 32-bit kind; all registers but the result's stay. */
static long make_int80(const struct call *call)
{
	uint64_t *r = call->c->regs, were[16];
	long result;

	memcpy(were, r, sizeof(were));
	result = int80_translate(r) ? make(call) : int80_call(call->c);
	memcpy(r, were, sizeof(were));
	return result;
}

bool gate_call(struct context *c, const struct link *l)
{
	const struct call call = { c, l };
	bool is_int80 = l->kind == LINK_INT80;
	long result = is_int80 ? make_int80(&call) : make(&call);

	if (result == GATE_NOT_FINISHED)
		c->regs[NR] = is_int80 ? 0 : SYS_restart_syscall;
	if (result == GATE_NOT_MADE || result == GATE_NOT_FINISHED)
		return false;
	c->regs[NR] = (uint64_t)result;
	return true;
}
