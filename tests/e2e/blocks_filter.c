/* SPDX-License-Identifier: Apache-2.0
 *
 * Forbids itself what only the engine calls in its name, and kinds of memory that
 * browsers forbid their children, and goes on to another program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#define MAP_FLAGS                                                                        \
	(MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE |          \
	 MAP_FIXED | MAP_DENYWRITE)

static volatile sig_atomic_t n_seen;

static void see(int signal)
{
	n_seen += signal;
}

int main(void)
{
	struct sock_filter lines[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 5, 0, SYS_process_vm_readv },
		{ BPF_JMP | BPF_JEQ | BPF_K, 4, 0, SYS_process_vm_writev },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 2, SYS_mmap },
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0,
		  offsetof(struct seccomp_data, args[3]) },
		{ BPF_JMP | BPF_JSET | BPF_K, 1, 0, (uint32_t)~MAP_FLAGS },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS },
	};
	struct sock_fprog filter = { sizeof(lines) / sizeof(lines[0]), lines };
	struct sigaction action = { .sa_handler = see }, was;
	char path[256];
	int fd, knows;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 1;
	/* as libraries ask whether there are filters */
	knows = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 &&
		errno == EFAULT;
	fd = open("/proc/self/exe", O_RDONLY);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &was);
	printf("%d %d %d %d %d\n", knows, fd >= 0, (int)n_seen, was.sa_handler == see,
	       readlink("/proc/self/exe", path, sizeof(path)) > 0);
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "trap 'echo seen' USR1; kill -USR1 $$; echo over",
	      (char *)NULL);
	return 1;
}
