/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_remote.h"

#include <errno.h>
#include <sys/uio.h>

#include "host/clock.h"

bool count_remote_read(pid_t pid, uint64_t addr, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)addr, bytes };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

bool count_remote_write(pid_t pid, uint64_t addr, const void *from, size_t bytes)
{
	struct iovec here = { (void *)from, bytes }, there = { (void *)addr, bytes };

	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Who has executed another program since the site was found has other code there, or
 * none. */
static bool is_call(const struct count_tracee *t, uint64_t site)
{
	uint8_t code[2];

	return count_remote_read(t->tid, site, code, sizeof(code)) &&
	       count_remote_find_call(code, sizeof(code), site) == site;
}

long count_remote_call(struct count_tracee *t, uint64_t site, long number, uint64_t a,
		       uint64_t b, uint64_t c, uint64_t d)
{
	struct user_regs_struct regs;

	if (!is_call(t, site) || !count_tracee_get(t, &regs))
		return -ESRCH;
	regs.rip = site;
	regs.rax = (unsigned long)number;
	regs.orig_rax = -1UL;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.r10 = d;
	regs.r8 = -1UL; /* of mmap(): no file */
	regs.r9 = 0;
	if (!count_tracee_set(t, &regs) || !count_tracee_go_to_call(t, COUNT_STOP_EXIT) ||
	    !count_tracee_get(t, &regs))
		return -ESRCH;
	return (long)regs.rax;
}

bool count_remote_run(struct count_tracee *t, const struct user_regs_struct *from,
		      uint64_t word)
{
	uint64_t is_told = 0;

	if (!count_tracee_set(t, from))
		return false;
	do
		if (!count_tracee_go_to_call(t, COUNT_STOP_ENTRY) ||
		    !count_remote_read(t->tid, word, &is_told, sizeof(is_told)))
			return false;
	while (!is_told);
	return count_tracee_go_to_call(t, COUNT_STOP_EXIT);
}

static bool is_told(const struct count_tracee *t, uint64_t word)
{
	uint64_t value = 0;

	return count_remote_read(t->tid, word, &value, sizeof(value)) && value;
}

bool count_remote_run_through(struct count_tracee *t, const struct user_regs_struct *from,
			      uint64_t word, uint64_t limit_ns)
{
	uint64_t since_ns = clock_monotonic_ns();

	if (!count_tracee_set(t, from))
		return false;
	count_tracee_go_on(t);
	while (!is_told(t, word) && clock_monotonic_ns() - since_ns < limit_ns) {
		count_tracee_nap(since_ns);
		if (!count_tracee_keep_going(t))
			return false;
	}
	return count_tracee_stop_now(t) && is_told(t, word);
}

/* By the instruction set's numbers. */
#define REGISTERS(X)                                                                     \
	X(rax, 0)                                                                        \
	X(rcx, 1)                                                                        \
	X(rdx, 2)                                                                        \
	X(rbx, 3)                                                                        \
	X(rsp, 4)                                                                        \
	X(rbp, 5)                                                                        \
	X(rsi, 6)                                                                        \
	X(rdi, 7)                                                                        \
	X(r8, 8)                                                                         \
	X(r9, 9)                                                                         \
	X(r10, 10)                                                                       \
	X(r11, 11)                                                                       \
	X(r12, 12)                                                                       \
	X(r13, 13)                                                                       \
	X(r14, 14)                                                                       \
	X(r15, 15)

void count_remote_put(struct user_regs_struct *to, const struct count_control_regs *from)
{
#define X(name, number) to->name = from->regs[number];
	REGISTERS(X)
#undef X
	to->eflags = from->flags;
	to->rip = from->ip;
	to->orig_rax = -1UL;
}

void count_remote_take(const struct user_regs_struct *from, struct count_control_regs *to)
{
#define X(name, number) to->regs[number] = from->name;
	REGISTERS(X)
#undef X
	to->flags = from->eflags;
	to->ip = from->rip;
	to->gs_base = from->gs_base;
}

uint64_t count_remote_find_call(const uint8_t *code, size_t bytes, uint64_t at)
{
	for (size_t i = 0; i + 1 < bytes; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return at + i;
	return 0;
}
