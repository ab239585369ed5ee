/* SPDX-License-Identifier: Apache-2.0 */
#include "count/call_needs.h"

#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define CALLS_MAX 8
#define LINES_MAX (2 * CALLS_MAX + 2)

/* What is done with some calls, and with all others. */
struct filter {
	uint32_t calls[CALLS_MAX]; /* up to a 0, which none of them is */
	uint32_t some, others;
};

static size_t make(const struct filter *f, struct sock_filter *code)
{
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CALLS_MAX && f->calls[i]; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 f->calls[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, f->some);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, f->others);
	return n;
}

#define ALLOW SECCOMP_RET_ALLOW
#define KILL  SECCOMP_RET_KILL_PROCESS
#define FAIL  SECCOMP_RET_ERRNO
#define FORKS SYS_clone, SYS_fork, SYS_vfork, 435 /* clone3 */

static void a_filter_is_met_unless_the_program_dies_of_it(void **state)
{
	static const struct {
		struct filter filter;
		bool has_threads, is_met;
	} t[] = {
		{ { { 0 }, ALLOW, ALLOW }, false, true },
		{ { { 0 }, ALLOW, KILL }, false, false },
		{ { { SYS_write, SYS_exit, SYS_rt_sigreturn }, ALLOW, KILL },
		  false,
		  false },
		/* no call that the engine makes */
		{ { { SYS_process_vm_readv, SYS_mount }, KILL, ALLOW }, false, true },
		{ { { SYS_rt_sigprocmask }, KILL, ALLOW }, false, false },
		{ { { SYS_rt_sigprocmask }, FAIL, ALLOW }, false, true },
		{ { { SYS_rt_sigprocmask }, SECCOMP_RET_TRAP, ALLOW }, false, true },
		{ { { SYS_rt_sigprocmask }, SECCOMP_RET_USER_NOTIF, ALLOW },
		  false,
		  false },
		{ { { SYS_rt_sigprocmask }, SECCOMP_RET_KILL_THREAD, ALLOW },
		  false,
		  false },
		{ { { SYS_rt_sigprocmask, SYS_rt_sigreturn }, SECCOMP_RET_TRAP, ALLOW },
		  false,
		  false },
		{ { { SYS_rt_sigprocmask, SYS_rt_sigreturn }, FAIL, ALLOW },
		  false,
		  true },
		/* nothing goes on without memory */
		{ { { SYS_mmap }, FAIL, ALLOW }, false, false },
		{ { { SYS_mmap }, SECCOMP_RET_TRAP, ALLOW }, false, false },
		{ { { SYS_write, SYS_mmap }, ALLOW, FAIL }, false, true },
		{ { { SYS_write, SYS_mmap }, ALLOW, SECCOMP_RET_TRAP }, false, false },
		/* of threads alone, and of what there may be */
		{ { { SYS_sched_yield }, KILL, ALLOW }, false, false },
		{ { { SYS_sched_yield, FORKS }, KILL, ALLOW }, false, true },
		{ { { SYS_sched_yield, FORKS }, KILL, ALLOW }, true, false },
		/* as sandboxes of one process have it */
		{ { { SYS_write, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_mmap,
		      SYS_munmap, SYS_mprotect, SYS_brk },
		    ALLOW,
		    KILL },
		  false,
		  true },
		/* the engine looks whether a path is its own file's */
		{ { { SYS_openat, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_mmap,
		      SYS_munmap, SYS_mprotect, SYS_brk },
		    ALLOW,
		    KILL },
		  false,
		  false },
		{ { { SYS_openat, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_mmap,
		      SYS_munmap, SYS_mprotect, SYS_getpid },
		    ALLOW,
		    KILL },
		  false,
		  true },
		/* begins in the next program */
		{ { { SYS_ftruncate }, KILL, ALLOW }, false, false },
		{ { { SYS_ftruncate, SYS_execve, SYS_execveat }, KILL, ALLOW },
		  false,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sock_filter code[LINES_MAX];
		size_t n = make(&t[i].filter, code);

		if (call_needs_are_met(code, n, t[i].has_threads) != t[i].is_met)
			fail_msg("filter %zu", i);
	}
}

static void a_filter_that_is_nothing_to_the_engine_lets_all_be(void **state)
{
	static const struct {
		struct filter filter;
		bool is_untouched;
	} t[] = {
		{ { { 0 }, ALLOW, ALLOW }, true },
		{ { { 0 }, ALLOW, SECCOMP_RET_LOG }, true },
		{ { { SYS_mount, SYS_ptrace, SYS_bpf }, KILL, ALLOW }, true },
		{ { { SYS_mount, SYS_socket }, FAIL, ALLOW }, true },
		{ { { SYS_process_vm_readv }, FAIL, ALLOW }, false },
		{ { { SYS_rt_tgsigqueueinfo }, FAIL, ALLOW }, false },
		{ { { SYS_munmap }, KILL, ALLOW }, false },
		{ { { SYS_write }, ALLOW, KILL }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sock_filter code[LINES_MAX];
		size_t n = make(&t[i].filter, code);

		if (call_needs_are_untouched(code, n) != t[i].is_untouched)
			fail_msg("filter %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_is_met_unless_the_program_dies_of_it),
		cmocka_unit_test(a_filter_that_is_nothing_to_the_engine_lets_all_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
