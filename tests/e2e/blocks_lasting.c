/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes on until its input ends, and looks all the while whether all is as it should
 * be: counted now and then it must not notice.  Says "ready", and at last what was wrong.
 *
 *	usage: blocks_lasting NAME
 *
 * "told" calls work() as often as each line of its input says, and answers "done".
 */
#include <asm/prctl.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "blocks_lasting.h"

#define NOINLINE  __attribute__((noinline))
#define N_THREADS 6
#define ROUND	  20000
#define STACK	  65536

int work(int n);

atomic_int n_wrong, is_over;
static atomic_long n_done; /* so that a test can see that something is */
char first_wrong[FIRST_WRONG];
static volatile double sink;

static void wrong(const char *what, long n)
{
	if (!n_wrong++)
		snprintf(first_wrong, sizeof(first_wrong), "%s %ld (%s)", what, n,
			 strerror(errno));
}

void expect(bool is_right, const char *what, long n)
{
	n_done++;
	if (!is_right)
		wrong(what, n);
}

static bool goes_on(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	if (!is_over && poll(&p, 1, 0) > 0)
		is_over = 1;
	return !is_over;
}

NOINLINE static unsigned long leaf(unsigned long x)
{
	return x * 0x9e3779b97f4a7c15UL >> 7;
}

NOINLINE static unsigned long fold(unsigned long x)
{
	return x ^ x >> 31;
}

/* Interrupted anywhere, it gives what it gives: branches, calls, indirect ones, a switch,
 * strings, floating point. */
NOINLINE static unsigned long mix(unsigned n)
{
	static unsigned long (*const ways[])(unsigned long) = { leaf, fold, leaf };
	unsigned long x = 88172645463325252UL, sum = 0;
	char text[64];
	double f = 1;

	for (unsigned i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		switch (x % 6) {
		case 0:
			sum += leaf(x);
			break;
		case 1:
			sum ^= ways[x / 6 % 3](x);
			break;
		case 2:
			f = f * 1.0000001 + 1e-9;
			break;
		case 3:
			sum -= (unsigned long)(f * 3);
			break;
		case 4:
			memset(text, (int)x, sizeof(text));
			sum += (unsigned char)text[x % sizeof(text)];
			break;
		default:
			sum = sum << 1 | sum >> 63;
		}
	}
	sink = f;
	return sum + (unsigned long)(f * 1e6);
}

static unsigned long right; /* what mix(ROUND) gives */

static void check_mix(const char *who)
{
	expect(mix(ROUND) == right, who, 0);
}

/* Ways to go on. */

void loop(void)
{
	while (goes_on())
		check_mix("loop");
}

static sem_t ball[2];

static void *play(void *side)
{
	long i = (long)side;

	while (!is_over) {
		while (sem_wait(&ball[i]) != 0)
			wrong("sem_wait", i);
		n_done++;
		sem_post(&ball[!i]);
	}
	sem_post(&ball[!i]);
	return NULL;
}

static void *run_mix(void *once)
{
	do
		check_mix("thread");
	while (!is_over && !once);
	return NULL;
}

static void threads(void)
{
	pthread_t lasting[N_THREADS], one;

	for (long i = 0; i < 2; i++)
		sem_init(&ball[i], 0, i == 0);
	for (long i = 0; i < N_THREADS; i++)
		pthread_create(&lasting[i], NULL, i < 2 ? play : run_mix,
			       i < 2 ? (void *)i : NULL);
	while (goes_on()) {
		if (pthread_create(&one, NULL, run_mix, first_wrong) != 0)
			wrong("pthread_create", 0);
		else
			pthread_join(one, NULL);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(lasting[i], NULL);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* It has no handlers: no call of it may ever be interrupted, or end early. */
static void expect_wait(const char *what, uint64_t since, uint64_t least, long result,
			long hoped)
{
	expect(result == hoped, what, result);
	expect(now_ns() - since >= least, what, (long)(now_ns() - since));
}

static void *wait_in_poll(void *unused)
{
	int fds[2];

	(void)unused;
	if (pipe(fds) != 0)
		abort();
	while (!is_over) {
		struct pollfd p = { .fd = fds[0], .events = POLLIN };
		uint64_t since = now_ns();

		expect_wait("poll", since, 30000000, poll(&p, 1, 30), 0);
	}
	return NULL;
}

static void *wait_in_select(void *unused)
{
	(void)unused;
	while (!is_over) {
		struct timeval t = { .tv_usec = 30000 };
		uint64_t since = now_ns();

		expect_wait("select", since, 30000000, select(0, NULL, NULL, NULL, &t),
			    0);
	}
	return NULL;
}

static void *wait_asleep(void *unused)
{
	(void)unused;
	while (!is_over) {
		uint64_t since = now_ns();

		expect_wait("nanosleep", since, 30000000,
			    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL),
			    0);
	}
	return NULL;
}

static void *wait_for_events(void *unused)
{
	int fd = epoll_create1(0);
	struct epoll_event event;

	(void)unused;
	while (!is_over) {
		uint64_t since = now_ns();

		expect_wait("epoll_wait", since, 30000000, epoll_wait(fd, &event, 1, 30),
			    0);
	}
	return NULL;
}

static int pipe_of_bytes[2];

static void *wait_for_bytes(void *unused)
{
	unsigned char c, next = 0;

	(void)unused;
	while (read(pipe_of_bytes[0], &c, 1) == 1)
		expect(c == next++, "read", c);
	expect(is_over, "read's end", 0);
	return NULL;
}

static void waits(void)
{
	void *(*const ways[])(void *) = { wait_in_poll, wait_in_select, wait_asleep,
					  wait_for_events, wait_for_bytes };
	pthread_t all[sizeof(ways) / sizeof(ways[0])];
	unsigned char c = 0;

	if (pipe(pipe_of_bytes) != 0)
		abort();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pthread_create(&all[i], NULL, ways[i], NULL);
	while (goes_on()) {
		expect(write(pipe_of_bytes[1], &c, 1) == 1, "write", c);
		c++;
		usleep(7000);
	}
	close(pipe_of_bytes[1]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pthread_join(all[i], NULL);
}

static char stack[STACK];
static atomic_long n_ticks;

static void tick(int signal, siginfo_t *info, void *context)
{
	char here;
	const ucontext_t *u = context;
	sigset_t mask;

	(void)info;
	n_ticks++;
	expect(&here > stack && &here < stack + STACK, "stack", 0);
	expect(u->uc_stack.ss_sp == stack, "uc_stack", 0);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	expect(sigismember(&mask, signal) && sigismember(&mask, SIGUSR2), "mask", signal);
	if (n_ticks % 5 == 0)
		mix(2000);
	errno = 0;
}

static void settings_are_own(void)
{
	struct sigaction a;
	stack_t s;
	sigset_t mask;

	sigaction(SIGALRM, NULL, &a);
	expect(a.sa_sigaction == tick, "sigaction", 0);
	sigaltstack(NULL, &s);
	expect(s.ss_sp == stack && s.ss_size == STACK && !s.ss_flags, "sigaltstack", 0);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	expect(!sigismember(&mask, SIGALRM) && sigismember(&mask, SIGUSR1), "blocked", 0);
}

static void signals(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction a = { .sa_sigaction = tick,
			       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	stack_t s = { .ss_sp = stack, .ss_size = STACK };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	sigemptyset(&a.sa_mask);
	sigaddset(&a.sa_mask, SIGUSR2);
	sigaltstack(&s, NULL);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (goes_on()) {
		long before = n_ticks;

		check_mix("signals");
		settings_are_own();
		while (n_ticks < before + 2) /* it goes on ticking */
			pause();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	expect(n_ticks > 100, "ticks", n_ticks);
}

static atomic_long n_woken;
static pid_t sleeper;
static pthread_t sleeper_thread;

/* In a call that only a signal ends, by what the kernel says. */
static bool is_asleep(void)
{
	char path[64], text[8] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", sleeper);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return !strncmp(text, n_woken % 2 ? "0 " : "34 ", 2);
}

static void *wake(void *unused)
{
	(void)unused;
	while (!is_over) {
		long before = n_woken;

		while (!is_over && !is_asleep())
			usleep(200);
		pthread_kill(sleeper_thread, SIGUSR1);
		for (int i = 0; n_woken == before && !is_over; i++) {
			if (i == 20000) /* it slept on: it may be woken all the same */
				wrong("a signal did not end a call", before);
			if (i % 20000 == 19999)
				pthread_kill(sleeper_thread, SIGUSR1);
			usleep(500);
		}
	}
	return NULL;
}

static void nothing(int signal)
{
	(void)signal;
}

/* Calls that end for a signal do so, also for one that comes as the thread is stopped. */
static void woken(void)
{
	struct sigaction a = { .sa_handler = nothing };
	pthread_t waker;
	int fds[2];
	char c;

	if (pipe(fds) != 0)
		abort();
	sigaction(SIGUSR1, &a, NULL);
	sleeper = (pid_t)syscall(SYS_gettid);
	sleeper_thread = pthread_self();
	pthread_create(&waker, NULL, wake, NULL);
	while (goes_on()) {
		errno = 0;
		if (n_woken % 2)
			expect(read(fds[0], &c, 1) == -1 && errno == EINTR, "read", 0);
		else
			expect(pause() == -1 && errno == EINTR, "pause", 0);
		n_woken++;
	}
	pthread_join(waker, NULL);
}

static int end_of(pid_t child)
{
	int status = 0;

	if (child <= 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

extern char **environ;

static void children(void)
{
	char sh[] = "sh", option[] = "-c", what[] = "exit 7";
	char *const words[] = { sh, option, what, NULL };
	pid_t child;

	while (goes_on()) {
		child = fork();
		if (!child) {
			check_mix("child");
			_exit(n_wrong ? 1 : 5);
		}
		expect(end_of(child) == 5 << 8, "fork", child);
		if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0)
			wrong("posix_spawn", 0);
		expect(end_of(child) == 7 << 8, "spawn", child);
		child = vfork();
		if (!child)
			_exit(9);
		expect(end_of(child) == 9 << 8, "vfork", child);
	}
}

/* Some in each window, and between windows. */
static void forks(void)
{
	while (goes_on()) {
		pid_t child = fork();

		if (!child)
			_exit(5);
		check_mix("forks");
		expect(end_of(child) == 5 << 8, "fork", child);
	}
}

/* A child that lasts longer than windows do, which has one of its own. */
static void have_children(bool are_elsewhere)
{
	pid_t child;

	while (goes_on()) {
		child = fork();
		if (!child) {
			if (are_elsewhere)
				expect(unshare(CLONE_NEWPID) == 0, "unshare", 0);

			pid_t next = fork();

			for (int i = 0; i < 100; i++)
				check_mix("lasting child");
			_exit(next && end_of(next) != 5 << 8 ? 2 : n_wrong ? 1 : 5);
		}
		expect(end_of(child) == 5 << 8, "lasting child", child);
	}
}

static void lasting_child(void)
{
	have_children(false);
}

/* Theirs have ids of their own. */
static void below(void)
{
	have_children(true);
}

static int call_code(const uint8_t *code)
{
	return ((int (*)(void))(uintptr_t)code)();
}

/* mov $n, %eax; ret: written where it is executed, elsewhere before, and at another
 * address. */
static void code(void)
{
	int file = memfd_create("code", 0);
	uint8_t *write, *execute;
	uint8_t *both = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t bytes[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };

	if (ftruncate(file, 4096) != 0)
		abort();
	write = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	execute = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
	for (uint32_t i = 0; goes_on(); i++) {
		uint8_t *one = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memcpy(bytes + 1, &i, 4);
		memcpy(both + i % 100 * 8, bytes, 6);
		memcpy(one, bytes, 6);
		memcpy(write + i % 10 * 100, bytes, 6);
		mprotect(one, 4096, PROT_READ | PROT_EXEC);
		expect(call_code(both + i % 100 * 8) == (int)i, "written", (long)i);
		expect(call_code(one) == (int)i, "protected", (long)i);
		expect(call_code(execute + i % 10 * 100) == (int)i, "elsewhere", (long)i);
		munmap(one, 4096);
	}
}

/* One function: volatile is what keeps compilers from knowing it. */
NOINLINE int work(int n)
{
	volatile int x = n;

	return x * 3;
}

static void *call_work(void *n)
{
	for (int i = 0; i < *(const int *)n; i++)
		work(i);
	return NULL;
}

static void told(void)
{
	pthread_t other;
	int n;

	while (scanf("%d", &n) == 1) {
		pthread_create(&other, NULL, call_work, &n);
		call_work(&n);
		pthread_join(other, NULL);
		puts("done");
	}
}

/* What cannot be counted. */

/* A segment of each thread's own: what is there, and that it is added to. */
static void *use_segment(void *unused)
{
	uint64_t own[2] = { (uint64_t)own, 0 }, self = 0, base = 0, n = 0;

	if (syscall(SYS_arch_prctl, ARCH_SET_GS, own) != 0)
		abort();
	while (goes_on()) {
		for (unsigned i = 0; i < 2000; i++) {
			__asm__ volatile("addq $1, %%gs:8; movq %%gs:0, %0"
					 : "=r"(self)::"memory", "cc");
			expect(self == (uint64_t)own, "its segment", i);
		}
		n += 2000;
		syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
		expect(base == (uint64_t)own && own[1] == n, "the segment's base", 0);
		check_mix("by way of a segment");
	}
	return unused;
}

static void gs(void)
{
	pthread_t t[2];

	for (unsigned i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, use_segment, NULL);
	use_segment(NULL);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

#define CODE_CALLS  10000
#define CODE_ROUNDS 5000

/* Of a file that says so. */
static int code_file(uint32_t n)
{
	uint8_t bytes[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };
	int file = memfd_create("code", 0);

	memcpy(bytes + 1, &n, 4);
	if (write(file, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    ftruncate(file, 4096) != 0)
		abort();
	return file;
}

static void check_code(const uint8_t *code, uint32_t n, const char *what)
{
	for (unsigned i = 0; i < CODE_CALLS; i++)
		expect(call_code(code) == (int)n, what, (long)n);
}

static uint8_t *map_code(uint8_t *at, int file)
{
	return mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0),
		    file, 0);
}

/* cmp %esi, %edi; jbe 1f; mov $5, %ecx; jmp 1f; 1: seven bytes; jmp 2f; 2: ret: who looks
 * for flags at 1 finds that they are not needed, and later that they are. */
#define CHANGED_AT	11
#define COMPARED_ROUNDS 25000

static uint8_t *map_comparison(void)
{
	static const uint8_t bytes[] = { 0x39, 0xf7, 0x76, 0x07, 0xb9, 5, 0, 0,
					 0,    0xeb, 0,	   0xb8, 1,    0, 0, 0,
					 0x85, 0xc0, 0xe9, 0,	 0,    0, 0, 0xc3 };
	int file = memfd_create("code", 0);
	uint8_t *code;

	if (write(file, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    ftruncate(file, 4096) != 0)
		abort();
	code = map_code(NULL, file);
	close(file);
	return code;
}

static void check_comparison(const uint8_t *code, bool is_changed)
{
	int (*compare)(int, int) = (int (*)(int, int))(uintptr_t)code;

	for (int i = 0; i < 1000; i++) {
		expect(compare(INT_MIN + i, i) == 1, "compared, more", i);
		expect(compare(i, i + 1) == 1, "compared, less", i);
		expect(compare(i, i) == !is_changed, "compared, equal", i);
	}
}

/* mov $1, %eax; test %eax, %eax, or sets %al; movzbl %al, %eax; nop. */
static void change_comparison(uint8_t *code, bool is_changed)
{
	static const uint8_t ways[][7] = { { 0xb8, 1, 0, 0, 0, 0x85, 0xc0 },
					   { 0x0f, 0x98, 0xc0, 0x0f, 0xb6, 0xc0, 0x90 } };

	mprotect(code, 4096, PROT_READ | PROT_WRITE);
	memcpy(code + CHANGED_AT, ways[is_changed], sizeof(ways[0]));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

/* Code whose flags are looked at beyond its end, where they come to be needed. */
static void compared(void)
{
	uint8_t *code = NULL;

	for (uint32_t i = 0; goes_on(); i++) {
		if (i % (2 * COMPARED_ROUNDS) == 0) {
			if (code)
				munmap(code, 4096);
			code = map_comparison();
		} else if (i % COMPARED_ROUNDS == 0) {
			change_comparison(code, true);
		}
		check_comparison(code, i % (2 * COMPARED_ROUNDS) >= COMPARED_ROUNDS);
	}
}

/* Another file where one was; and now and then another word in what is the program's own
 * by then. */
static void swapped(void)
{
	const int files[2] = { code_file(1), code_file(2) };
	uint8_t *at = NULL, *changed = map_code(NULL, files[0]);
	uint32_t word = 1;

	for (uint32_t i = 0; goes_on(); i++) {
		at = map_code(at, files[i % 2]);
		check_code(at, i % 2 + 1, "mapped");
		check_code(changed, word, "changed");
		if (i % CODE_ROUNDS)
			continue;
		word = i + 3;
		mprotect(changed, 4096, PROT_READ | PROT_WRITE);
		memcpy(changed + 1, &word, 4);
		mprotect(changed, 4096, PROT_READ | PROT_EXEC);
	}
}

static void sharing(void)
{
	pid_t child = vfork();

	if (!child) {
		loop();
		_exit(0);
	}
	expect(end_of(child) == 0, "vfork", child);
}

static int wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

/* A child with the same memory and no end of its own, from when it is told to. */
static void sharer(void)
{
	static char child_stack[STACK] __attribute__((aligned(16)));
	pid_t child;

	if (getchar() == EOF)
		return;
	child = clone(wait_for_ever, child_stack + sizeof(child_stack),
		      CLONE_VM | SIGCHLD, NULL);
	puts("done");
	while (getchar() != EOF)
		;
	kill(child, SIGKILL);
	expect(waitpid(child, NULL, 0) == child, "clone", child);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "loop", loop },	{ "threads", threads },	      { "waits", waits },
	{ "signals", signals }, { "children", children },     { "forks", forks },
	{ "code", code },	{ "lasting", lasting_child }, { "below", below },
	{ "told", told },	{ "woken", woken },	      { "gs", gs },
	{ "swapped", swapped }, { "compared", compared },     { "filter", filter },
	{ "no_code", no_code }, { "pinned", pinned },	      { "deadly", deadly },
	{ "sealed", sealed },	{ "strict", strict },	      { "locked", locked },
	{ "sharing", sharing }, { "sharer", sharer },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	right = mix(ROUND);
	puts("ready");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			all[i].run();
	expect(mix(ROUND) == right, "end", 0);
	printf("%d wrong %s\n", n_wrong, first_wrong);
	return n_wrong || !n_done;
}
