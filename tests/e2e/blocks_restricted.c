/* SPDX-License-Identifier: Apache-2.0
 *
 * What forbids itself calls, at once or from when it is told to, or locks its memory.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "blocks_lasting.h"

static void forbid(struct sock_filter *code, unsigned short n)
{
	struct sock_fprog program = { n, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		abort();
}

#define CALL	  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ARG(n)	  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define IS(k, n)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, n)
#define HAS(k, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, 0, n)
#define SAY(k)	  BPF_STMT(BPF_RET | BPF_K, k)

/* As containers have it, in two filters: some calls fail. */
void filter(void)
{
	struct sock_filter one[] = { CALL, IS(SYS_mount, 1),
				     SAY(SECCOMP_RET_ERRNO | EPERM),
				     SAY(SECCOMP_RET_ALLOW) };
	struct sock_filter other[] = { CALL,
				       IS(SYS_process_vm_readv, 1),
				       SAY(SECCOMP_RET_ERRNO | EPERM),
				       IS(SYS_process_vm_writev, 1),
				       SAY(SECCOMP_RET_ERRNO | EPERM),
				       IS(SYS_getpid, 1),
				       SAY(SECCOMP_RET_LOG),
				       SAY(SECCOMP_RET_ALLOW) };

	forbid(one, sizeof(one) / sizeof(one[0]));
	forbid(other, sizeof(other) / sizeof(other[0]));
	loop();
}

/* As services have it that are to have no new code. */
void no_code(void)
{
	struct sock_filter code[] = { CALL,
				      IS(SYS_mmap, 3),
				      ARG(2),
				      HAS(PROT_EXEC, 1),
				      SAY(SECCOMP_RET_ERRNO | EPERM),
				      SAY(SECCOMP_RET_ALLOW) };
	struct sock_filter all[] = { SAY(SECCOMP_RET_ALLOW) };

	forbid(code, sizeof(code) / sizeof(code[0]));
	forbid(all, 1);
	loop();
}

/* As those have it who are not to give memory back. */
void pinned(void)
{
	struct sock_filter code[] = { CALL, IS(SYS_madvise, 1),
				      SAY(SECCOMP_RET_ERRNO | EPERM),
				      SAY(SECCOMP_RET_ALLOW) };

	forbid(code, sizeof(code) / sizeof(code[0]));
	loop();
}

/* Whoever makes the call dies. */
void deadly(void)
{
	struct sock_filter code[] = { CALL, IS(SYS_process_vm_readv, 1),
				      SAY(SECCOMP_RET_KILL_PROCESS),
				      SAY(SECCOMP_RET_ALLOW) };

	forbid(code, sizeof(code) / sizeof(code[0]));
	loop();
}

/* From when it is told to: whoever takes memory away dies. */
void sealed(void)
{
	struct sock_filter code[] = { CALL, IS(SYS_munmap, 1),
				      SAY(SECCOMP_RET_KILL_PROCESS),
				      SAY(SECCOMP_RET_ALLOW) };

	loop();
	getchar();
	forbid(code, sizeof(code) / sizeof(code[0]));
	puts("done");
	is_over = 0;
	loop();
}

/* From when it is told to: whoever does other than read, write and end dies. */
void strict(void)
{
	char c;

	loop();
	getchar();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		abort();
	puts("done");
	while (read(0, &c, 1) > 0)
		;
	printf("%d wrong %s\n", n_wrong, first_wrong);
	syscall(SYS_exit, n_wrong);
}

/* What there is, and what is to come, from when it is told to. */
void locked(void)
{
	static const int how[] = { MCL_CURRENT, MCL_FUTURE };

	for (int i = 0; i < 2; i++) {
		loop();
		getchar();
		expect(mlockall(how[i]) == 0, "mlockall", how[i]);
		puts("done");
		is_over = 0;
	}
	loop();
}
