/* SPDX-License-Identifier: Apache-2.0
 *
 * victim MODE - a program that does to itself what breaks recorders, and prints what it
 * saw of it: the same with and without one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t n_seen;
static volatile unsigned long sink;

static void burn(long ms)
{
	struct timespec t;
	long end = 0;

	do {
		for (int i = 0; i < 10000; i++)
			sink = sink * 2862933555777941757UL + 3037000493UL;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		if (!end)
			end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
}

static void count(int signal)
{
	(void)signal;
	n_seen++;
}

static void on_signal(int signal, int flags)
{
	struct sigaction a = { .sa_handler = count, .sa_flags = flags };

	sigaction(signal, &a, NULL);
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0)
		;
}

/* A blocked read() ends with EINTR by the program's own signal, and by no other; with
 * SA_RESTART it goes on. */
static void interrupted(void)
{
	int fds[2];
	char c;

	if (pipe(fds) < 0)
		exit(1);
	for (int i = 0; i < 20; i++) {
		struct itimerval in = { .it_value = { 0, 5000 } };

		on_signal(SIGALRM, 0);
		setitimer(ITIMER_REAL, &in, NULL);

		ssize_t n = read(fds[0], &c, 1);

		int why = errno;

		printf("read %zd %s after %d\n", n, strerrorname_np(why), n_seen);
		burn(3);
	}
	on_signal(SIGALRM, SA_RESTART);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 5000 } }, NULL);

	pid_t pid = fork();

	if (pid == 0) {
		sleep_ms(30);
		_exit(write(fds[1], "x", 1) != 1);
	}
	printf("restarted read %zd", read(fds[0], &c, 1));
	waitpid(pid, NULL, 0);
	printf(" after %d\n", n_seen);
}

static void children(void)
{
	static const int ends[] = { 0, 7, 255 };
	int status;

	on_signal(SIGCHLD, SA_RESTART);
	for (size_t i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(2);
			_exit(ends[i]);
		}
		printf("waited %d", waitpid(pid, &status, 0) == pid);
		printf(" status %x signals %d\n", status, n_seen);
	}

	int go[2];
	char c;

	if (pipe(go) < 0)
		exit(1);

	pid_t pid = fork();

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
		exit(1);
	waitpid(pid, &status, 0);
	printf("aborted %x\n", status & 0x7f);
	pid = wait(NULL);
	printf("none left %d %s\n", pid, strerrorname_np(errno));
}

static void deleted_directory(void)
{
	char path[] = "/tmp/victim-XXXXXX", cwd[4096];

	if (!mkdtemp(path) || chdir(path) < 0 || rmdir(path) < 0)
		exit(1);
	burn(20);
	if (fork() == 0) {
		burn(5);
		_exit(0);
	}
	wait(NULL);
	printf("getcwd %s\n",
	       getcwd(cwd, sizeof(cwd)) ? "works" : strerrorname_np(errno));
}

static void closed_descriptors(void)
{
	int out = dup2(1, 200);

	syscall(SYS_close_range, 3, 199, 0);
	syscall(SYS_close_range, 201, ~0U, 0);
	burn(30);

	int next = open("/dev/null", O_RDONLY);

	dprintf(out, "next descriptor %d\n", next);
	if (fork() == 0) {
		syscall(SYS_close_range, 0, ~0U, 0);
		burn(10);
		_exit(open("/dev/null", O_RDONLY) + 40);
	}

	int status;

	wait(&status);
	dprintf(out, "child %d\n", WEXITSTATUS(status));
}

/* Outlives its parent in a session of its own and says so in a file. */
static void daemonise(const char *path)
{
	if (fork())
		return;
	setsid();
	if (fork())
		_exit(0);

	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	for (int i = 0; i < 3; i++)
		dup2(open("/dev/null", O_RDWR), i);
	burn(50);
	sleep_ms(300);
	burn(50);
	dprintf(fd, "the daemon is done, parent %s\n", getppid() == 1 ? "init" : "other");
	_exit(0);
}

static void count_interrupts(void)
{
	on_signal(SIGINT, SA_RESTART);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 50 && !n_seen; i++)
		sleep_ms(20);
	sleep_ms(200);
	printf("interrupted %d\n", n_seen);
}

static void goes_on(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 10; i++) {
		burn(30);
		sleep_ms(50);
	}
	dprintf(fd, "went on\n");
}

static void limits(void)
{
	struct rlimit files, size;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_FSIZE, &size);
	burn(20);
	printf("files %ld size %ld nice %d next %d\n", (long)files.rlim_cur,
	       (long)size.rlim_cur, getpriority(PRIO_PROCESS, 0), dup(1));
}

static void own_timers(void)
{
	struct itimerval prof = { { 0, 10000 }, { 0, 10000 } };
	char name[16] = "";

	on_signal(SIGPROF, SA_RESTART);
	setitimer(ITIMER_PROF, &prof, NULL);
	burn(200);
	setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
	printf("profiling signals %s\n",
	       n_seen >= 10 && n_seen <= 60 ? "come" : "are off");
	printf("command %s\n", fgets(name, 1, stdin) ? "read" : "none");
}

static void overflow(int n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	if (frame[0] == (char)n) /* always, but the compiler cannot know */
		overflow(n + 1);
	frame[1] = frame[0];
}

static int dispatch(const char *mode, const char *arg)
{
	if (!strcmp(mode, "interrupted"))
		interrupted();
	else if (!strcmp(mode, "children"))
		children();
	else if (!strcmp(mode, "directory"))
		deleted_directory();
	else if (!strcmp(mode, "descriptors"))
		closed_descriptors();
	else if (!strcmp(mode, "daemon"))
		daemonise(arg);
	else if (!strcmp(mode, "interrupts"))
		count_interrupts();
	else if (!strcmp(mode, "goes-on"))
		goes_on(arg);
	else if (!strcmp(mode, "limits"))
		limits();
	else if (!strcmp(mode, "timers"))
		own_timers();
	else if (!strcmp(mode, "overflow"))
		overflow(0);
	else if (!strcmp(mode, "die"))
		raise(atoi(arg));
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	burn(5);
	return argc > 1 ? dispatch(argv[1], argc > 2 ? argv[2] : "") : 0;
}
