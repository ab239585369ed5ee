/* SPDX-License-Identifier: Apache-2.0
 *
 * visited [busy] - a program that is traced for a while of its life, and counts what it
 * does.  With busy threads of it look all the time whether anything is as it was not.
 * Does what lines of its input say, and answers each:
 *	calls		takes and gives back memory, some of it older
 *	open LIBRARY	loads a library that takes memory
 *	fork		makes a child that takes memory, and lives until the end
 *	ended		makes a child that ends, and is not asked how
 *	box		forbids itself a system call: who makes it is killed
 *	box thread	makes a thread that does so
 *	box child	makes a child that does so
 *	user		is no longer root's
 *	orphan		makes a child that makes such a one, and ends
 *	litter		makes a child that makes forty, one by one
 *	park, go	a thread that takes memory is interrupted until then, by a
 *			handler on another stack
 *	stick, loosen	a thread cannot be interrupted until then
 *	wrong		how much was wrong so far
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define N_OLD	 16

static _Atomic unsigned n_wrong, n_rounds;
static _Atomic int is_over;
static char *old[N_OLD];
static void *volatile kept;
static pid_t child;

static void check(int is_right)
{
	if (!is_right)
		n_wrong++;
}

NOINLINE void *in_thread(void *arg)
{
	void *volatile mine;

	for (int i = 0; i < 1000; i++) {
		mine = malloc((size_t)i + 1);
		free(mine);
	}
	return arg;
}

/* 2000 blocks in threads, 4 that are older change their size, 4 are given back; of 3 + 2
 * + 1 new ones the last is left. */
NOINLINE void calls(void)
{
	static unsigned n_calls;
	void *few[5];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 4; i++) {
		char **p = &old[(n_calls + i) % N_OLD];

		*p = realloc(*p, 3000);
		check(*p && (*p)[0] == 'x' && (*p)[999] == 'x');
	}
	for (unsigned i = 4; i < 8; i++) {
		free(old[(n_calls + i) % N_OLD]);
		old[(n_calls + i) % N_OLD] = NULL;
	}
	n_calls += 8;
	for (int i = 0; i < 3; i++)
		few[i] = malloc(50);
	for (int i = 3; i < 5; i++)
		few[i] = calloc(5, 11);
	for (int i = 0; i < 5; i++)
		free(few[i]);
	kept = strdup("left behind");
}

static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*take)(void) = library ? (void (*)(void))dlsym(library, "take") : NULL;

	check(take != NULL);
	for (int i = 0; take && i < 400; i++)
		take();
}

NOINLINE void in_child(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(123);
}

/* As linux/filter.h and linux/seccomp.h have it, which not every compiler here finds. */
#define MODE_FILTER  2
#define KILL_PROCESS 0x80000000u
#define ALLOW	     0x7fff0000u
struct instruction {
	unsigned short code;
	unsigned char if_true, if_false;
	unsigned value;
};

static void box(void)
{
	const struct instruction code[] = {
		{ 0x20, 0, 0, 0 },		 /* the call's number */
		{ 0x15, 0, 1, SYS_sched_yield }, /* else one further */
		{ 0x06, 0, 0, KILL_PROCESS },
		{ 0x06, 0, 0, ALLOW },
	};
	const struct {
		unsigned short n;
		const struct instruction *code;
	} program = { sizeof(code) / sizeof(code[0]), code };

	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	check(prctl(PR_SET_SECCOMP, MODE_FILTER, &program) == 0);
}

static void *wait_in_box(void *is_there)
{
	box();
	*(_Atomic int *)is_there = 1;
	for (;;)
		pause();
	return NULL;
}

static void box_thread(void)
{
	static _Atomic int is_there;
	pthread_t t;

	pthread_create(&t, NULL, wait_in_box, &is_there);
	while (!is_there)
		usleep(1000);
}

static void end_child(void)
{
	siginfo_t how;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	check(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT) == 0);
}

static int sticky[2];

/* Until its child executes something or ends, whoever makes it with vfork only waits. */
static void *stick(void *is_there)
{
	char c;
	pid_t pid = vfork();

	if (pid == 0) {
		*(_Atomic int *)is_there = 1;
		_exit(read(sticky[0], &c, 1) != 1);
	}
	check(waitpid(pid, NULL, 0) == pid);
	return NULL;
}

static void make_stick(void)
{
	static _Atomic int is_there;
	pthread_t t;

	check(pipe(sticky) == 0);
	pthread_create(&t, NULL, stick, &is_there);
	while (!is_there)
		usleep(1000);
}

/* What a child has of its parent. */
struct ties {
	int told;    /* it says who it is */
	int to_live; /* it ends when its parent does */
};

static void live(const struct ties *t)
{
	pid_t self = getpid();
	char c;

	in_child();
	check(write(t->told, &self, sizeof(self)) == sizeof(self));
	check(read(t->to_live, &c, 1) == 0);
	_exit(n_wrong != 0);
}

static void live_in_box(const struct ties *t)
{
	box();
	live(t);
}

static void live_as_orphan(const struct ties *t)
{
	if (fork() != 0)
		_exit(0);
	live(t);
}

static void live_with_others(const struct ties *t)
{
	pid_t self = getpid();

	check(write(t->told, &self, sizeof(self)) == sizeof(self));
	for (int i = 0; i < 40; i++) {
		if (fork() == 0)
			live(t);
		usleep(5000);
	}
	live(t);
}

static void make_child(void (*lives)(const struct ties *))
{
	int to_live[2], told[2];

	if (pipe(to_live) < 0 || pipe(told) < 0)
		exit(3);
	if (fork() == 0) {
		close(to_live[1]);
		lives(&(struct ties){ told[1], to_live[0] });
	}
	close(to_live[0]);
	check(read(told[0], &child, sizeof(child)) == sizeof(child));
}

static void make_one(void)
{
	make_child(live);
}

static void make_one_in_box(void)
{
	make_child(live_in_box);
}

static void make_orphan(void)
{
	make_child(live_as_orphan);
}

static void make_many(void)
{
	make_child(live_with_others);
}

/* Where dwell puts its library. */
#define PLACE_FIRST UINT64_C(0x468040000000)
#define PLACE_BYTES (UINT64_C(1) << 30)
#define N_NEAR	    64 /* words of a stack */

static _Atomic int is_parked, may_go;

static int is_place(greg_t x)
{
	return (uint64_t)x - PLACE_FIRST < PLACE_BYTES;
}

/* Only what has been interrupted tells, and only by its own stack. */
static void park(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;
	const greg_t *stack = (const greg_t *)regs[REG_RSP];
	int was = errno, is_there = 0;

	(void)number;
	(void)info;
	for (int i = 0; i < N_NEAR; i++)
		is_there |= is_place(stack[i]);
	for (int i = 0; i < NGREG; i++)
		is_there &= !is_place(regs[i]);
	is_parked |= is_there;
	while (is_there && !may_go)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	errno = was;
}

static void *take_until_parked(void *mine)
{
	static _Thread_local char handlers[1 << 16];
	const stack_t other = { .ss_sp = handlers, .ss_size = sizeof(handlers) };
	void *volatile block;

	(void)mine;
	check(sigaltstack(&other, NULL) == 0);
	while (!is_parked || !may_go) {
		block = malloc(100);
		free(block);
	}
	return NULL;
}

static void make_parked(void)
{
	const struct sigaction action = { .sa_sigaction = park,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	pthread_t t;

	is_parked = 0;
	check(sigaction(SIGUSR1, &action, NULL) == 0);
	pthread_create(&t, NULL, take_until_parked, NULL);
	pthread_detach(t);
	while (!is_parked) {
		pthread_kill(t, SIGUSR1);
		usleep(500);
	}
}

static void let_go(void)
{
	may_go = 1;
}

static void be_nobody(void)
{
	check(setuid(65534) == 0);
}

static void loosen(void)
{
	check(write(sticky[1], "", 1) == 1);
}

static void *use_memory(void *arg)
{
	while (!is_over) {
		size_t size = 1 + (size_t)(rand_r(&(unsigned){ n_rounds }) % 5000);
		char *p = malloc(size);

		memset(p, (int)size, size);
		p = realloc(p, size * 2);
		check(p[0] == (char)size && p[size - 1] == (char)size);
		errno = 77;
		free(p);
		check(errno == 77);
		n_rounds++;
	}
	return arg;
}

static void *use_numbers(void *arg)
{
	volatile double a = 1.1, b = 2.3;

	while (!is_over) {
		double sum = 0;

		for (int i = 0; i < 1000; i++)
			sum += a * i - b;
		check(sum == ((double *)arg)[0] || ((double *)arg)[0] == 0);
		((double *)arg)[0] = sum;
	}
	return arg;
}

static void *sleep_well(void *arg)
{
	while (!is_over)
		check(nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL) == 0);
	return arg;
}

static void *wait_for_nothing(void *arg)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	while (!is_over)
		check(epoll_wait(fd, &event, 1, 20) == 0);
	return arg;
}

static void start(void)
{
	static double number;
	static void *(*const what[])(void *) = { use_memory, use_memory, use_numbers,
						 sleep_well, wait_for_nothing };

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		pthread_t t;

		pthread_create(&t, NULL, what[i], &number);
		pthread_detach(t);
	}
}

static void say_only(void)
{
}

static const struct {
	const char *line;
	void (*fn)(void);
} commands[] = {
	{ "calls", calls },
	{ "fork", make_one },
	{ "ended", end_child },
	{ "orphan", make_orphan },
	{ "litter", make_many },
	{ "box", box },
	{ "box thread", box_thread },
	{ "box child", make_one_in_box },
	{ "user", be_nobody },
	{ "park", make_parked },
	{ "go", let_go },
	{ "stick", make_stick },
	{ "loosen", loosen },
	{ "wrong", say_only },
};

static void obey(char *line)
{
	size_t i = 0, n = sizeof(commands) / sizeof(commands[0]);

	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "open ", 5)) {
		open_library(line + 5);
		return;
	}
	while (i < n && strcmp(line, commands[i].line) != 0)
		i++;
	check(i < n);
	if (i < n)
		commands[i].fn();
}

int main(int argc, char **argv)
{
	static char line[4096], in[BUFSIZ], out[BUFSIZ];

	setvbuf(stdin, in, _IOFBF, sizeof(in));
	setvbuf(stdout, out, _IOLBF, sizeof(out));
	for (int i = 0; i < N_OLD; i++) {
		old[i] = malloc(1000);
		memset(old[i], 'x', 1000);
	}
	if (argc > 1 && !strcmp(argv[1], "busy"))
		start();
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		printf("%u wrong in %u rounds, child %d\n", n_wrong, n_rounds, child);
	}
	is_over = 1;
	return n_wrong != 0;
}
