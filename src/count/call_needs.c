/* SPDX-License-Identifier: Apache-2.0 */
#include "count/call_needs.h"

#include <linux/audit.h>
#include <linux/sched.h>
#include <stdint.h>

#include "decode/seccomp_filter.h"
#include "wire/count_calls.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#define ANY	 COUNT_CALLS_ANY
#define SOME	 COUNT_CALLS_SOME
#define HERE	 COUNT_CALLS_HERE
#define A_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

struct call {
	unsigned of; /* COUNT_CALLS_… */
	uint32_t number;
	uint64_t args[6];
};

static const struct call programs[] = {
	{ COUNT_CALLS_OF_THREADS, SYS_clone, { A_THREAD } },
	{ COUNT_CALLS_OF_THREADS | COUNT_CALLS_OF_CHILDREN, SYS_clone3, { ANY, SOME } },
	{ COUNT_CALLS_OF_CHILDREN, SYS_clone, { SIGCHLD } },
	{ COUNT_CALLS_OF_CHILDREN, SYS_fork, { 0 } },
	{ COUNT_CALLS_OF_CHILDREN, SYS_vfork, { 0 } },
	{ COUNT_CALLS_OF_PROGRAMS, SYS_execve, { ANY, ANY, ANY } },
	{ COUNT_CALLS_OF_PROGRAMS, SYS_execveat, { HERE, ANY, ANY, ANY } },
	{ COUNT_CALLS_OF_PATHS, SYS_open, { ANY } },
	{ COUNT_CALLS_OF_PATHS, SYS_openat, { HERE, ANY } },
	{ COUNT_CALLS_OF_PATHS, SYS_openat2, { HERE, ANY, ANY } },
	{ COUNT_CALLS_OF_PATHS, SYS_readlink, { ANY, ANY, SOME } },
	{ COUNT_CALLS_OF_PATHS, SYS_readlinkat, { HERE, ANY, ANY, SOME } },
	{ COUNT_CALLS_OF_LIMITS, SYS_prlimit64, { 0, SOME, ANY, ANY } },
};

static const struct call engines[] = {
#define CALL(of, attached, number, ...) { of, number, { __VA_ARGS__ } },
#include "wire/count_calls.def"
#undef CALL
};

/* What the filter says of it. */
static uint32_t action_for(const struct sock_filter *code, size_t n, const struct call *c)
{
	struct seccomp_data call = { .nr = (int)c->number,
				     .arch = AUDIT_ARCH_X86_64,
				     .instruction_pointer = COUNT_CALLS_ANY };
	uint32_t said;

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = c->args[i];
	return seccomp_filter_run(code, n, &call, &said) ? said & SECCOMP_RET_ACTION_FULL
							 : SECCOMP_RET_KILL_PROCESS;
}

static bool is_untouched(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* Nobody is asked or told, and the process goes on.  Of what is trapped the engine hears
 * in a handler, which has to return. */
static bool is_met(const struct call *c, uint32_t action, bool returns)
{
	if (is_untouched(action))
		return true;
	return !(c->of & COUNT_CALLS_MUST) &&
	       (action == SECCOMP_RET_ERRNO || (action == SECCOMP_RET_TRAP && returns));
}

static bool can_return(const struct sock_filter *code, size_t n)
{
	static const struct call c = { COUNT_CALLS_OF_ALL, SYS_rt_sigreturn, { 0 } };

	return is_untouched(action_for(code, n, &c));
}

static unsigned find_uses(const struct sock_filter *code, size_t n)
{
	unsigned uses = COUNT_CALLS_OF_ALL;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (is_untouched(action_for(code, n, &programs[i])))
			uses |= programs[i].of;
	return uses;
}

bool call_needs_are_met(const struct sock_filter *code, size_t n, bool has_threads)
{
	unsigned uses = find_uses(code, n) | (has_threads ? COUNT_CALLS_OF_THREADS : 0);
	bool returns = can_return(code, n);

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if ((engines[i].of & uses) &&
		    !is_met(&engines[i], action_for(code, n, &engines[i]), returns))
			return false;
	return true;
}

bool call_needs_are_untouched(const struct sock_filter *code, size_t n)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!is_untouched(action_for(code, n, &engines[i])))
			return false;
	return true;
}
