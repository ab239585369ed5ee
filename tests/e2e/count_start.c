/* SPDX-License-Identifier: Apache-2.0
 * Runs a program that is told less by the kernel: nothing of the vdso and of what other
 * launchers leave out, too.  usage: e2e-count_start PROGRAM ARGUMENT... */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_RSEQ_FEATURE_SIZE_ 27
#define AT_RSEQ_ALIGN_	      28

static uint64_t word_at(pid_t pid, uint64_t addr)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, addr, NULL);
}

static uint64_t after_nulls(pid_t pid, uint64_t addr)
{
	while (word_at(pid, addr))
		addr += 8;
	return addr + 8;
}

static void hide(pid_t pid)
{
	static const uint64_t hidden[] = { AT_SYSINFO_EHDR, AT_HWCAP2, AT_MINSIGSTKSZ,
					   AT_RSEQ_FEATURE_SIZE_, AT_RSEQ_ALIGN_ };
	struct user_regs_struct regs;
	uint64_t at;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
		exit(126);
	at = after_nulls(pid, after_nulls(pid, regs.rsp + 8));
	for (uint64_t type; (type = word_at(pid, at)) != AT_NULL; at += 16)
		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			if (type == hidden[i])
				ptrace(PTRACE_POKEDATA, pid, at, AT_IGNORE);
}

int main(int argc, char **argv)
{
	pid_t pid = fork();
	int status;

	if (argc < 2 || pid < 0)
		return 126;
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(126);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 126;
	hide(pid);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
