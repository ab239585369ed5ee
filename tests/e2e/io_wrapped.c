/* SPDX-License-Identifier: Apache-2.0
 *
 * I/O whose calls are met from within the program: io_wrapped MODE [ARGUMENT...].
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long call_fn(long a, long b, long c, long d, long e, long f);

/* Each by its name, of no descriptor and nowhere: all of them fail. */
static void symbols(char **names)
{
	for (; *names; names++) {
		call_fn *call = (call_fn *)dlsym(RTLD_DEFAULT, *names);
		int result;

		errno = 0;
		result = call ? (int)call(-1, 0, 0, 0, 0, 0) : 0;
		fprintf(stderr, "%s %d %d\n", *names, result, errno);
	}
}

static int ends[2];

static void clean(void *arg)
{
	(void)arg;
	fputs("cleaned\n", stderr);
}

static volatile pid_t waiter;

static void *wait_for_ever(void *arg)
{
	char c;

	(void)arg;
	waiter = gettid();
	pthread_cleanup_push(clean, NULL);
	if (read(ends[0], &c, 1) < 0)
		warn("read");
	pthread_cleanup_pop(0);
	return NULL;
}

/* Until it waits, by stdio: that is no call of ours. */
static void wait_for_waiter(void)
{
	char path[64], state = 0;

	while (state != 'S') {
		FILE *f;

		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
		f = waiter ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (f)
			fclose(f);
	}
}

static void cancel(char **unused)
{
	pthread_t thread;
	void *value;

	(void)unused;
	if (pipe(ends) < 0 || pthread_create(&thread, NULL, wait_for_ever, NULL))
		err(1, "pipe");
	wait_for_waiter();
	usleep(100000);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	fprintf(stderr, "%d\n", value == PTHREAD_CANCELED);
}

static sigjmp_buf behind;
static volatile sig_atomic_t jumps;

static void alarmed(int signal)
{
	(void)signal;
	if (write(ends[1], "x", jumps) < 0)
		warn("write");
	if (!jumps)
		return;
	ualarm(0, 0);
	siglongjmp(behind, 1);
}

/* And again, as it may be before the call that is to be interrupted. */
static void alarm_in(unsigned ms)
{
	struct sigaction action = { .sa_handler = alarmed };

	sigaction(SIGALRM, &action, NULL);
	ualarm(ms * 1000, ms * 1000);
}

/* Out of the handler by its return, and then by a jump. */
static void interrupted(char **unused)
{
	char c;

	(void)unused;
	if (pipe(ends) < 0)
		err(1, "pipe");
	alarm_in(50);
	fprintf(stderr, "%zd ", read(ends[0], &c, 1));
	fprintf(stderr, "%d\n", errno == EINTR);
	ualarm(0, 0);
	jumps = 1;
	if (!sigsetjmp(behind, 1)) {
		alarm_in(50);
		fprintf(stderr, "%zd\n", read(ends[0], &c, 1));
	}
	fprintf(stderr, "%zd\n", read(ends[0], &c, 1));
}

/* By a jump, and nothing that may wait is called afterwards. */
static void left(char **unused)
{
	char c;

	(void)unused;
	if (pipe(ends) < 0)
		err(1, "pipe");
	jumps = 1;
	if (!sigsetjmp(behind, 1)) {
		alarm_in(50);
		fprintf(stderr, "%zd\n", read(ends[0], &c, 1));
	}
	close(-1);
	usleep(200000);
}

/* One call, a while without any, and another. */
static void seldom(char **unused)
{
	(void)unused;
	lseek(0, 0, SEEK_CUR);
	sleep(2);
	lseek(0, 0, SEEK_CUR);
}

/* The number of bytes tells who wrote. */
static void children(char **arguments)
{
	pid_t pid = fork();

	(void)arguments;
	if (pipe(ends) < 0)
		err(1, "pipe");
	if (pid == 0) {
		if (write(ends[1], "abc", 3) != 3)
			err(1, "write");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0) {
		close(ends[0]);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	if (write(ends[1], "abcdefg", 7) != 7)
		err(1, "write");
	close(ends[0]);
}

static void blocked(char **unused)
{
	(void)unused;
	if (pipe(ends) < 0)
		err(1, "pipe");
	fputs("here\n", stderr);
	wait_for_ever(NULL);
}

static void kinds(char **unused)
{
	uint64_t n = 1;
	int fd = eventfd(0, 0);

	(void)unused;
	if (write(fd, &n, sizeof(n)) != sizeof(n) || read(fd, &n, sizeof(n)) != sizeof(n))
		err(1, "eventfd");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(char **arguments);
	} modes[] = {
		{ "symbols", symbols },
		{ "cancel", cancel },
		{ "interrupted", interrupted },
		{ "children", children },
		{ "blocked", blocked },
		{ "kinds", kinds },
		{ "left", left },
		{ "seldom", seldom },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run(argv + 2);
			return 0;
		}
	return 2;
}
