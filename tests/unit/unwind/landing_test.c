/* SPDX-License-Identifier: Apache-2.0
 *
 * The stack of a throw is walked before each of its instructions: whatever the unwinder
 * of C++ does to it, it ends with the same callers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "landing_throw.h"
#include "self_maps.h"
#include "unwind/landing.h"
#include "unwind/offline.h"

#define DEPTH 6
/* Instructions between the one that writes the handler's address over the place that
 * tells and the one that leaves the frame. */
#define AT_EACH_LANDING 12

#define FRAMES_MAX 200
#define RED_ZONE   128

static struct self_maps maps;

static __attribute__((noinline, noreturn)) void be_stepped(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(landing_throw(DEPTH) > DEPTH ? 0 : 1);
}

struct stepped {
	pid_t pid;
	uint8_t stack[16384];
	struct unwind_frame frames[FRAMES_MAX];
	size_t n;
	enum unwind_stop stop;
};

static bool peek(void *ctx, uint64_t addr, uint64_t *ret)
{
	const struct stepped *s = ctx;

	errno = 0;
	*ret = (uint64_t)ptrace(PTRACE_PEEKDATA, s->pid, addr, NULL);
	return errno == 0;
}

/* What is there of it: words beyond are asked for one by one. */
static size_t copy_stack(struct stepped *s, uint64_t from)
{
	struct iovec to = { s->stack, sizeof(s->stack) };
	struct iovec of = { (void *)(uintptr_t)from, sizeof(s->stack) };
	ssize_t n = process_vm_readv(s->pid, &to, 1, &of, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static void walk(struct stepped *s)
{
	struct user_regs_struct r;
	struct unwind_memory memory = { .stack = s->stack, .read = peek, .ctx = s };
	struct unwind_regs g = { .arch = UNWIND_X86_64, .valid = 0x1ffff };

	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &r), 0);
	const uint64_t at[] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
				r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
				r.r12, r.r13, r.r14, r.r15, r.rip };

	memcpy(g.r, at, sizeof(at));
	memory.stack_addr = r.rsp - RED_ZONE;
	memory.stack_size = copy_stack(s, memory.stack_addr);
	s->n = unwind_offline(&g, &memory, self_maps_find, &maps, s->frames, FRAMES_MAX,
			      &s->stop);
}

static bool step(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	return true;
}

/* Is the end of both the same, from the callers of be_stepped() on? */
static bool has_callers(const struct stepped *s, const uint64_t *callers, size_t n)
{
	if (s->stop != UNWIND_END || s->n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s->frames[s->n - n + i].pc != callers[i])
			return false;
	return true;
}

/* The frames behind the first of be_stepped(). */
static size_t callers_of(const struct stepped *s, uint64_t *ret)
{
	size_t i = 0, n = 0;

	while (i < s->n && (s->frames[i].pc < (uintptr_t)be_stepped ||
			    s->frames[i].pc > (uintptr_t)be_stepped + 256))
		i++;
	while (++i < s->n)
		ret[n++] = s->frames[i].pc;
	return n;
}

static void every_instruction_of_a_throw_has_its_callers(void **state)
{
	struct stepped s = { .pid = fork() };
	uint64_t callers[FRAMES_MAX];
	unsigned n_early = 0;
	size_t n;
	int status;

	(void)state;
	if (s.pid == 0)
		be_stepped();
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	walk(&s);
	n = callers_of(&s, callers);
	assert_true(n >= 3);
	while (step(s.pid)) {
		walk(&s);
		if (has_callers(&s, callers, n))
			continue;
		print_message("# %s\n", self_maps_where(&maps, s.frames[0].pc));
		n_early++;
	}
	assert_in_range(n_early, 0, AT_EACH_LANDING * (DEPTH + 2));
}

static int set_up(void **state)
{
	(void)state;
	landing_throw(0); /* what it loads is loaded */
	self_maps_read(&maps);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	self_maps_fini(&maps);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_of_a_throw_has_its_callers),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
