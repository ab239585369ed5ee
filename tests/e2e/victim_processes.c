/* SPDX-License-Identifier: Apache-2.0
 *
 * victim_processes - children, daemons, spawns, sessions and tracing are as they are
 * alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

extern char **environ;

static void children(const char *arg)
{
	static const int ends[] = { 0, 7, 255 };
	int status, go[2];
	char c;
	pid_t pid;

	(void)arg;
	on_signal(SIGCHLD, SA_RESTART);
	for (size_t i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0) {
			burn(2);
			_exit(ends[i]);
		}
		printf("waited %d", waitpid(pid, &status, 0) == pid);
		printf(" status %x signals %d\n", status, n_seen);
	}
	if (pipe(go) < 0 || (pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		raise(SIGSTOP);
		if (read(go[0], &c, 1) == 1)
			abort();
	}
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %x\n", status);
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	printf("continued %x\n", status);
	if (write(go[1], "x", 1) != 1)
		die("write");
	waitpid(pid, &status, 0);
	printf("aborted %x\n", status & 0x7f);
	pid = wait(NULL);
	printf("none left %d errno %d\n", pid, errno);
}

static volatile sig_atomic_t n_reaped, sum_reaped;

static void reap(int signal)
{
	int status, why = errno;

	(void)signal;
	while (waitpid(-1, &status, WNOHANG) > 0) {
		n_reaped++;
		sum_reaped += WEXITSTATUS(status);
	}
	errno = why;
}

/* A server's loop: every child is reaped, and none that is not its own. */
static void reap_all(const char *arg)
{
	struct sigaction a = { .sa_handler = reap };
	sigset_t chld, old;
	int n = atoi(arg);

	sigaction(SIGCHLD, &a, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	for (int i = 0; i < n; i++)
		if (fork() == 0) {
			spin(1);
			_exit(i & 7);
		}
	while (n_reaped < n)
		sigsuspend(&old);
	printf("reaped %d sum %d, %d more, errno %d\n", n_reaped, sum_reaped,
	       waitpid(-1, NULL, WNOHANG), errno);
}

static int exit_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return status;
}

static void spawns(const char *arg)
{
	char sh[] = "sh", c[] = "-c", script[] = "exit 6", text[64];
	char *const argv[] = { sh, c, script, NULL };
	pid_t pid;
	FILE *f;

	(void)arg;
	if (posix_spawnp(&pid, sh, NULL, NULL, argv, environ))
		die("posix_spawn");
	printf("posix_spawn %x\n", exit_of(pid));
	printf("nothing there %d\n",
	       posix_spawn(&pid, "/no/such", NULL, NULL, argv, environ));
	pid = vfork();
	if (pid == 0) {
		execvp(sh, argv);
		_exit(1);
	}
	printf("vfork %x\n", exit_of(pid));
	pid = vfork();
	if (pid == 0)
		_exit(5);
	printf("vfork without exec %x\n", exit_of(pid));
	fflush(stdout);
	printf("system %x\n", system("exit 9"));
	f = popen("echo from a pipe", "r");
	printf("popen %s", fgets(text, sizeof(text), f));
	printf("pclose %x\n", pclose(f));
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		spin(10);
		_exit(4);
	}
	printf("clone %x\n", exit_of(pid));
	pid = fork();
	if (pid == 0) {
		char *const nothing[] = { NULL };

		execve("/bin/sh", argv, nothing);
	}
	printf("empty environment %x\n", exit_of(pid));
}

/* Outlives its parent, in a session of its own, until it is told to end by a file; says
 * so in another. */
static void daemonise(const char *path)
{
	char end[4096];

	snprintf(end, sizeof(end), "%s.end", path);
	if (fork()) { /* that it is there when we end is certain */
		wait(NULL);
		return;
	}
	setsid();
	if (fork())
		_exit(0);

	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	for (int i = 0; i < 3; i++)
		dup2(open("/dev/null", O_RDWR), i);
	burn(50);
	for (int i = 0; i < 3000 && access(end, F_OK) != 0; i++)
		sleep_ms(10);
	burn(50);
	dprintf(fd, "the daemon is done, parent %s\n", getppid() == 1 ? "init" : "other");
	_exit(0);
}

static void sessions(const char *arg)
{
	int status;
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		pid_t is_new = setsid();

		printf("leader %d, group %d, session %d\n", is_new == getpid(),
		       getpgrp() == getpid(), getsid(0) == getpid());
		fflush(stdout);
		kill(0, SIGTERM);
		pause();
	}
	waitpid(pid, &status, 0);
	printf("a group's signal ends its group only: %x\n", status);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		burn(5);
		kill(-getpid(), SIGUSR1);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("and another %x\n", status);
}

/* A debugger's loop over a child that burns: the stops are the child's own. */
static void trace(const char *arg)
{
	int status, n = 0, last = 0;
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		spin(20);
		raise(SIGUSR1);
		spin(20);
		_exit(3);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		last = WSTOPSIG(status);
		n += last < 32; /* the two of the C library are no one's business */
		if (last < 32)
			printf("stopped by %d\n", last);
		if (last == SIGSTOP || last == SIGUSR1)
			last = 0;
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)last);
	}
	printf("stops %d, end %x\n", n, status);
}

static void *fork_there(void *ret)
{
	pid_t pid = fork();

	if (pid == 0) {
		burn(5);
		_exit(11);
	}
	*(int *)ret = exit_of(pid);
	return NULL;
}

static void *exec_there(void *arg)
{
	char name[] = "echo", text[] = "from another thread";
	char *const argv[] = { name, text, NULL };

	execvp(name, argv);
	return arg;
}

static void *burn_on(void *arg)
{
	for (;;)
		spin(1);
	return arg;
}

/* Threads that fork, and one that becomes another program while others run. */
static void threads(const char *arg)
{
	pthread_t t[4];
	int status[4];

	(void)arg;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, fork_there, &status[i]))
			die("pthread_create");
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		printf("thread's child %x\n", status[i]);
	}
	fflush(stdout);
	pthread_create(&t[0], NULL, burn_on, NULL);
	pthread_create(&t[1], NULL, exec_there, NULL);
	burn_on(NULL);
}

const struct deed process_deeds[] = {
	{ "children", children }, { "reap", reap_all },
	{ "spawns", spawns },	  { "daemon", daemonise },
	{ "sessions", sessions }, { "trace", trace },
	{ "threads", threads },	  { 0 },
};
