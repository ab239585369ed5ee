/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread with random registers executes an instruction that is invalid; the handler of
 * SIGILL goes on behind it, by trace_resume() where that can and by the kernel where not.
 * All that the CPU stores of a thread must be what it was, and so must its masks, its
 * alternate stack and its red zone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "inject/trace_resume.h"

#define STATE_BYTES 16384
#define RED_ZONE    128
#define N_REGISTERS 16 /* rax to r15 in the order of their numbers; rsp is the fifth */
#define RSP	    4
#define FLAGS_ALL                                                                        \
	0x200cd5u /* status, direction, and one that the kernel is to restore            \
		   */
#define FLAG_ID 0x200000u

struct probe {
	uint64_t registers[N_REGISTERS], flags;
	uint8_t red_zone[RED_ZONE];
};

/* What it begins with, what it had in front of the instruction, and behind. */
__attribute__((visibility("hidden"))) struct probe probe_in, probe_out;
__attribute__((visibility("hidden"), aligned(64))) uint8_t state_in[STATE_BYTES],
	state_before[STATE_BYTES], state_after[STATE_BYTES], state_own[STATE_BYTES];
__attribute__((visibility("hidden"))) uint64_t probe_sp;

void probe(void);
extern const uint8_t probe_behind[], trace_resume_now[];

#define ALL_STATE "mov $-1, %eax\nmov $-1, %edx\n"
/* But rights to memory (PKRU), which the kernel gives to a handler as they are at first:
 * with others there is no way back but its own. */
#define STATE_BUT_RIGHTS "mov $~0x200, %eax\nmov $-1, %edx\n"

__asm__(".text\n"
	".globl probe, probe_behind\n"
	".type probe, @function\n"
	"probe:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, probe_sp(%rip)\n" ALL_STATE
	"xsave64 state_own(%rip)\n" STATE_BUT_RIGHTS "xrstor64 state_in(%rip)\n" ALL_STATE
	"xsave64 state_before(%rip)\n"
	"mov 32+probe_in(%rip), %rsp\n"
	"lea probe_in(%rip), %rdi\n"
	"pushq 128(%rdi)\n"
	"popf\n"
	".set i, 0\n"
	".rept 16\n"
	"mov 136+i*8(%rdi), %rax\n"
	"mov %rax, i*8-128(%rsp)\n"
	".set i, i+1\n"
	".endr\n"
	"mov 0(%rdi), %rax\nmov 8(%rdi), %rcx\nmov 16(%rdi), %rdx\nmov 24(%rdi), %rbx\n"
	"mov 40(%rdi), %rbp\nmov 48(%rdi), %rsi\nmov 64(%rdi), %r8\nmov 72(%rdi), %r9\n"
	"mov 80(%rdi), %r10\nmov 88(%rdi), %r11\nmov 96(%rdi), %r12\nmov 104(%rdi), "
	"%r13\n"
	"mov 112(%rdi), %r14\nmov 120(%rdi), %r15\nmov 56(%rdi), %rdi\n"
	"ud2\n"
	"probe_behind:\n"
	"mov %rdi, 56+probe_out(%rip)\n"
	"lea probe_out(%rip), %rdi\n"
	"mov %rax, 0(%rdi)\nmov %rcx, 8(%rdi)\nmov %rdx, 16(%rdi)\nmov %rbx, 24(%rdi)\n"
	"mov %rsp, 32(%rdi)\nmov %rbp, 40(%rdi)\nmov %rsi, 48(%rdi)\n"
	"mov %r8, 64(%rdi)\nmov %r9, 72(%rdi)\nmov %r10, 80(%rdi)\nmov %r11, 88(%rdi)\n"
	"mov %r12, 96(%rdi)\nmov %r13, 104(%rdi)\nmov %r14, 112(%rdi)\nmov %r15, "
	"120(%rdi)\n"
	".set i, 0\n"
	".rept 16\n"
	"mov i*8-128(%rsp), %rax\n"
	"mov %rax, 136+i*8(%rdi)\n"
	".set i, i+1\n"
	".endr\n"
	"mov probe_sp(%rip), %rsp\n"
	"pushf\npopq 128(%rdi)\n"
	"cld\n" ALL_STATE "xsave64 state_after(%rip)\n"
	"xrstor64 state_own(%rip)\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
	"ret\n"
	".size probe, . - probe\n");

static volatile unsigned n_by_kernel, n_nested, n_seen;
static uint8_t probe_stack[256 << 10] __attribute__((aligned(64)));
static uint8_t other_stack[64 << 10] __attribute__((aligned(64)));
static bool uses_kernel, is_kernels; /* what a handler is given */

#define MAGIC_OFF 464
static const uint8_t magic[] = { 0x53, 0x58, 0x50, 0x46 };

static void on_illegal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	is_kernels = memcmp((uint8_t *)uc->uc_mcontext.fpregs + MAGIC_OFF, magic,
			    sizeof(magic)) == 0;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	if (!uses_kernel)
		trace_resume(uc);
	n_by_kernel++;
}

static _Unwind_Reason_Code look_for_probe(struct _Unwind_Context *c, void *found)
{
	int is_before = 0;

	if (_Unwind_GetIPInfo(c, &is_before) != (uintptr_t)probe_behind)
		return _URC_NO_REASON;
	*(bool *)found = true;
	return _URC_END_OF_STACK;
}

static void on_nested(int signal, siginfo_t *info, void *context)
{
	volatile uint8_t rubbish[1024];
	bool found = false;

	(void)signal;
	(void)info;
	(void)context;
	for (size_t i = 0; i < sizeof(rubbish); i++)
		rubbish[i] = 0xaa;
	n_nested++;
	_Unwind_Backtrace(look_for_probe, &found);
	n_seen += found;
}

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void fill(void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)at)[i] = (uint8_t)random_word();
}

static uint64_t features(void)
{
	uint32_t lo, hi;

	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

/* A component that is not in use is as if it were new; for the kernel the first two
 * always are. */
static void make_state(void)
{
	uint64_t in_use = (random_word() & features() & 0xe7) | 3; /* up to AVX-512 */
	uint16_t control = (uint16_t)random_word() | 0x40,
		 status = (uint16_t)random_word();
	uint64_t places = random_word() & 0x7fffffffffffu;

	memset(state_in, 0, sizeof(state_in));
	fill(state_in, STATE_BYTES);
	if (status & ~control & 0x3f)
		status |= 0x8080; /* pending */
	else
		status &= 0x7f7f;
	memcpy(state_in, &control, 2);
	memcpy(state_in + 2, &status, 2);
	state_in[5] = 0;
	state_in[7] &= 7;
	memcpy(state_in + 8, &places, 8);
	memcpy(state_in + 16, &places, 8);
	state_in[26] = state_in[27] = 0;
	memset(state_in + 512, 0, 64);
	memcpy(state_in + 512, &in_use, 8);
}

static void make(uint32_t flags)
{
	make_state();
	fill(&probe_in, sizeof(probe_in));
	probe_in.registers[RSP] = (uintptr_t)probe_stack + sizeof(probe_stack) - 4096 -
				  random_word() % 8192;
	probe_in.flags = (random_word() & flags) | 2;
	memset(&probe_out, 0, sizeof(probe_out));
	memset(state_before, 0, sizeof(state_before));
	memset(state_after, 0, sizeof(state_after));
}

static void take(int signal, void (*handler)(int, siginfo_t *, void *), bool is_all)
{
	struct sigaction a = { .sa_sigaction = handler,
			       .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (is_all)
		sigfillset(&a.sa_mask);
	sigaction(signal, &a, NULL);
}

static void set_up(bool has_other_stack)
{
	stack_t s = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	if (!has_other_stack)
		s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	take(SIGILL, on_illegal, true);
	take(SIGUSR1, on_nested, false);
	uses_kernel = false;
	n_by_kernel = n_nested = n_seen = 0;
}

static void make_mask(sigset_t *ret)
{
	uint64_t bits =
		random_word() & ~UINT64_C(0x180000000); /* those of the C library */

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &bits, sizeof(bits));
	sigdelset(ret, SIGKILL);
	sigdelset(ret, SIGSTOP);
	sigdelset(ret, SIGILL);
	sigdelset(ret, SIGUSR1);
	sigdelset(ret, SIGTRAP);
}

static bool is_same(void)
{
	uint64_t keeps = FLAGS_ALL | 2;

	return memcmp(probe_in.registers, probe_out.registers,
		      sizeof(probe_in.registers)) == 0 &&
	       memcmp(probe_in.red_zone, probe_out.red_zone, RED_ZONE) == 0 &&
	       (probe_in.flags & keeps) == (probe_out.flags & keeps) &&
	       memcmp(state_before, state_after, STATE_BYTES) == 0;
}

/* Once more with other contents; is all as it was? */
static bool goes_on(uint32_t flags)
{
	sigset_t mask, after;
	stack_t stack, stack_after;

	make(flags);
	make_mask(&mask);
	memset(&after, 0, sizeof(after));
	sigaltstack(NULL, &stack);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	probe();
	sigprocmask(SIG_SETMASK, NULL, &after);
	sigaltstack(NULL, &stack_after);
	return is_same() && memcmp(&mask, &after, sizeof(mask)) == 0 &&
	       stack.ss_sp == stack_after.ss_sp && stack.ss_size == stack_after.ss_size &&
	       stack.ss_flags == stack_after.ss_flags;
}

/* Below valgrind, which makes frames of its own, there is nothing to go back to. */
static void need_kernel(void)
{
	set_up(true);
	uses_kernel = true;
	goes_on(0);
	if (!is_kernels)
		skip();
}

static void everything_is_as_it_was(void **state)
{
	(void)state;
	need_kernel();
	for (int has_other = 0; has_other < 2; has_other++) {
		set_up(has_other);
		for (unsigned i = 0; i < 2000; i++)
			assert_true(goes_on(FLAGS_ALL & ~FLAG_ID));
		assert_int_equal(n_by_kernel, 0);
	}
}

/* So that what is compared is what the kernel does. */
static void the_kernel_does_the_same(void **state)
{
	(void)state;
	need_kernel();
	set_up(true);
	uses_kernel = true;
	for (unsigned i = 0; i < 2000; i++)
		assert_true(goes_on(FLAGS_ALL));
	assert_int_equal(n_by_kernel, 2000);
}

static void unusual_flags_are_left_to_the_kernel(void **state)
{
	(void)state;
	need_kernel();
	set_up(true);
	for (unsigned i = 0; i < 100; i++) {
		unsigned was = n_by_kernel;

		assert_true(goes_on(FLAGS_ALL));
		assert_int_equal(n_by_kernel - was, probe_in.flags & FLAG_ID ? 1 : 0);
	}
	assert_in_range(n_by_kernel, 1, 99);
}

static void a_stack_that_disarms_itself_is_left_to_the_kernel(void **state)
{
	stack_t s = { .ss_sp = other_stack,
		      .ss_size = sizeof(other_stack),
		      .ss_flags = INT32_MIN };

	(void)state;
	need_kernel();
	set_up(true);
	assert_int_equal(sigaltstack(&s, NULL), 0);
	assert_true(goes_on(FLAGS_ALL & ~FLAG_ID));
	assert_int_equal(n_by_kernel, 1);
}

static ucontext_t made_up(void *fpu)
{
	ucontext_t uc = { .uc_flags = 7 };

	uc.uc_mcontext.fpregs = fpu;
	uc.uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000033;
	uc.uc_mcontext.gregs[REG_EFL] = 0x202;
	return uc;
}

/* None of these can be made to come of itself: each would crash if it were resumed. */
static void other_contexts_are_left_to_the_kernel(void **state)
{
	static uint8_t fpu[STATE_BYTES] __attribute__((aligned(64)));
	ucontext_t uc;

	(void)state;
	uc = made_up(fpu); /* no extended state */
	trace_resume(&uc);
	memcpy(fpu + MAGIC_OFF, magic, sizeof(magic));
	uc = made_up(fpu);
	uc.uc_flags = 6;
	trace_resume(&uc);
	uc = made_up(NULL);
	trace_resume(&uc);
	uc = made_up(fpu);
	uc.uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000023; /* of 32 bits */
	trace_resume(&uc);
	for (unsigned bit = 8; bit < 22; bit++) {
		static const unsigned left =
			1u << 8 | 1u << 14 | 1u << 17 | 1u << 18 | 1u << 21;

		if (!(left >> bit & 1))
			continue;
		uc = made_up(fpu);
		uc.uc_mcontext.gregs[REG_EFL] |= 1 << bit;
		trace_resume(&uc);
	}
}

/* The child goes that way over and over, and ends by what was not as it should be. */
static void go_that_way(bool has_other_stack)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	set_up(has_other_stack);
	for (;;) {
		unsigned was = n_nested, saw = n_seen;

		if (!goes_on(FLAGS_ALL & ~FLAG_ID) || n_by_kernel)
			_exit(1);
		if (n_nested != was + 1)
			_exit(2);
		if (n_seen != saw + 1)
			_exit(3);
	}
}

static uintptr_t stopped_at(pid_t child, int *status)
{
	struct user_regs_struct r;

	if (waitpid(child, status, 0) != child || !WIFSTOPPED(*status))
		return 0;
	ptrace(PTRACE_GETREGS, child, NULL, &r);
	return r.rip;
}

/* With a signal that comes in front of the instruction that is so many steps in; returns
 * whether there is one, within what is looked at. */
static bool disturb(pid_t child, unsigned n)
{
	int status = 0;
	uintptr_t at = stopped_at(child, &status);

	/* That of before, if it had to wait. */
	while (at && WSTOPSIG(status) == SIGUSR1) {
		ptrace(PTRACE_CONT, child, NULL, SIGUSR1);
		at = stopped_at(child, &status);
	}
	assert_true(at);
	assert_int_equal(WSTOPSIG(status), SIGILL);
	ptrace(PTRACE_SINGLESTEP, child, NULL, SIGILL);
	do {
		at = stopped_at(child, &status);
		assert_true(at);
		if (at != (uintptr_t)trace_resume_now)
			ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	} while (at != (uintptr_t)trace_resume_now);
	for (; n && at != (uintptr_t)probe_behind; n--) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		at = stopped_at(child, &status);
	}
	/* Blocked it waits. */
	ptrace(PTRACE_CONT, child, NULL, SIGUSR1);
	return at != (uintptr_t)probe_behind;
}

static void a_signal_may_come_anywhere_on_the_way(void **state)
{
	(void)state;
	need_kernel();
	for (int has_other = 0; has_other < 2; has_other++) {
		unsigned n = 0;
		pid_t child = fork();

		if (!child)
			go_that_way(has_other);
		while (disturb(child, n))
			n++;
		assert_in_range(n, 60, 200);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_does_the_same),
		cmocka_unit_test(everything_is_as_it_was),
		cmocka_unit_test(unusual_flags_are_left_to_the_kernel),
		cmocka_unit_test(a_stack_that_disarms_itself_is_left_to_the_kernel),
		cmocka_unit_test(other_contexts_are_left_to_the_kernel),
		cmocka_unit_test(a_signal_may_come_anywhere_on_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
