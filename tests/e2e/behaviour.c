/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour - what a program can notice of a sampler inside it: prints one line for
 * each thing, the same with and without.  usage: behaviour
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long sink;

static void burn(long ms)
{
	struct timespec t;
	long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	do {
		for (int i = 0; i < 1000; i++)
			sink = sink * 2862933555777941757UL + 3037000493UL;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
}

/* Waits that are entered so often that ticks land inside them. */
static void waits_are_not_interrupted(void)
{
	struct timespec nap = { 0, 1000 };
	struct epoll_event event;
	int epoll = epoll_create1(0), interrupted = 0, pipes[2];
	fd_set set;

	if (pipe(pipes) < 0)
		exit(1);
	for (int i = 0; i < 50000; i++) {
		struct pollfd p = { pipes[0], POLLIN, 0 };
		struct timeval none = { 0, 0 };

		interrupted += poll(&p, 1, i % 512 == 0) < 0;
		interrupted += epoll_wait(epoll, &event, 1, 0) < 0;
		FD_ZERO(&set);
		FD_SET(pipes[0], &set);
		interrupted += select(pipes[0] + 1, &set, NULL, NULL, &none) < 0;
		if (i % 64 == 0)
			interrupted += nanosleep(&nap, NULL) < 0;
	}
	close(epoll);
	printf("interrupted waits %d\n", interrupted);
}

static volatile sig_atomic_t n_prof, n_alarm;

static void on_prof(int signal)
{
	(void)signal;
	n_prof = 1;
}

static void on_alarm(int signal)
{
	(void)signal;
	n_alarm = 1;
}

static void its_own_profiling_signal_arrives(void)
{
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };

	n_prof = 0;
	signal(SIGPROF, on_prof);
	setitimer(ITIMER_PROF, &every, NULL);
	for (int i = 0; i < 100 && !n_prof; i++)
		burn(30);
	setitimer(ITIMER_PROF, &never, NULL);
	signal(SIGPROF, SIG_DFL);
	printf("SIGPROF %d\n", n_prof);
}

static void an_alarm_still_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval once = { { 0, 0 }, { 0, 20000 } };
	int pipes[2], rc;
	char byte;

	if (pipe(pipes) < 0)
		exit(1);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	rc = (int)read(pipes[0], &byte, 1);
	printf("read %d %s, alarm %d\n", rc, strerror(errno), n_alarm);
}

/* Waits that take long to begin, so that ticks land there, and end by a signal. */
static void every_alarm_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval once = { { 0, 0 }, { 0, 300 } };
	static struct pollfd many[1000];
	int pipes[2], slept_on = 0;

	if (pipe(pipes) < 0)
		exit(1);
	for (int i = 0; i < 1000; i++)
		many[i] = (struct pollfd){ pipes[0], POLLIN, 0 };
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 1000; i++) {
		setitimer(ITIMER_REAL, &once, NULL);
		slept_on += poll(many, 1000, 500) == 0;
	}
	printf("alarms slept through %d\n", slept_on > 20);
}

static void masks_and_dispositions_are_as_set(void)
{
	struct sigaction action;
	sigset_t set, old;
	int handled = 0;

	for (int i = 1; i < NSIG; i++)
		handled += sigaction(i, NULL, &action) == 0 &&
			   action.sa_handler != SIG_DFL && i != SIGALRM;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	burn(30);
	sigpending(&set);
	printf("handled %d, blocked before %d, pending %d\n", handled,
	       sigismember(&old, SIGUSR1), sigisemptyset(&set) == 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void *wait_for_usr1(void *ret)
{
	struct timespec limit = { 5, 0 };
	sigset_t set;

	sigfillset(&set);
	*(int *)ret = sigtimedwait(&set, NULL, &limit);
	return NULL;
}

static void sigwait_and_signalfd_get_what_is_theirs(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	pthread_t thread;
	int got = 0, fd;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, wait_for_usr1, &got);
	burn(30);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	burn(30);
	raise(SIGUSR2);
	printf("sigwait %d, ", got);
	for (int n; (n = (int)read(fd, &info, sizeof(info))) > 0;)
		printf("signalfd %u, ", info.ssi_signo);
	printf("no more\n");
	close(fd);
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static char alternate[16384];

static void on_segv(int signal)
{
	(void)signal;
	burn(30);
	if (write(1, "on the alternate stack\n", 23) < 0)
		exit(1);
}

static void alternate_stacks_work(void)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = on_segv, .sa_flags = SA_ONSTACK };

	fflush(stdout);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	raise(SIGSEGV);
	signal(SIGSEGV, SIG_DFL);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static void note_cleanup(void *mask)
{
	pthread_sigmask(SIG_SETMASK, NULL, mask);
}

static void *spin_until_cancelled(void *mask)
{
	pthread_cleanup_push(note_cleanup, mask);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		sink++;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *sleep_until_cancelled(void *mask)
{
	pthread_cleanup_push(note_cleanup, mask);
	pause();
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(const char *name, void *(*run)(void *))
{
	pthread_t thread;
	sigset_t mask;
	void *ret;

	sigfillset(&mask);
	pthread_create(&thread, NULL, run, &mask);
	burn(20);
	pthread_cancel(thread);
	pthread_join(thread, &ret);
	printf("cancelled %s %d, usr1 blocked %d\n", name, ret == PTHREAD_CANCELED,
	       sigismember(&mask, SIGUSR1));
}

static void on_timer(union sigval value)
{
	sem_post(value.sival_ptr);
}

static void timers_of_its_own_work(void)
{
	sem_t fired;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = on_timer,
				  .sigev_value.sival_ptr = &fired };
	struct itimerspec when = { .it_value = { 0, 1000000 } };
	timer_t timer;
	int n = 0;

	sem_init(&fired, 0, 0);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &when, NULL);
	sem_wait(&fired);
	burn(50);
	while (sem_trywait(&fired) == 0)
		n++;
	timer_delete(timer);
	printf("timer fired 1 + %d\n", n);
}

static void *short_life(void *arg)
{
	if (arg)
		pthread_exit(arg);
	return NULL;
}

static void threads_come_and_go(void)
{
	int failed = 0;

	for (long i = 0; i < 2000; i++) {
		pthread_t thread;
		void *ret;

		failed += pthread_create(&thread, NULL, short_life, (void *)(i & 1)) != 0;
		failed += pthread_join(thread, &ret) != 0 || ret != (void *)(i & 1);
	}
	printf("failed threads %d\n", failed);
}

static int in_child(void)
{
	pthread_t thread;

	burn(20);
	if (pthread_create(&thread, NULL, short_life, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return 1;
	return 7;
}

static void children_behave(void)
{
	static char name[] = "echo", text[] = "from a spawned child";
	char *const echo[] = { name, text, NULL };
	int status, status2;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(in_child());
	waitpid(pid, &status, 0);
	posix_spawnp(&pid, "echo", NULL, NULL, echo, environ);
	waitpid(pid, &status2, 0);
	printf("fork %d, spawn %d, ", WEXITSTATUS(status), status2);
	fflush(stdout);
	printf("system %d, ", WEXITSTATUS(system("exit 3")));
	fflush(stdout);
	pid = vfork();
	if (pid == 0) {
		execlp("false", "false", NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	printf("vfork %d\n", WEXITSTATUS(status));
}

static void descriptors_are_its_own(void)
{
	for (int fd = 3; fd < 1000; fd++)
		close(fd);
	if (chdir("/") < 0)
		exit(1);
	burn(20);
	printf("first free descriptor %d\n", open("/dev/null", O_RDONLY));
}

static void libraries_load(void)
{
	void *m = dlopen("libm.so.6", RTLD_NOW);
	double (*cosine)(double) = m ? (double (*)(double))dlsym(m, "cos") : NULL;

	printf("cos(0) %g\n", cosine ? cosine(0) : -1);
}

int main(void)
{
	waits_are_not_interrupted();
	its_own_profiling_signal_arrives();
	an_alarm_still_interrupts();
	every_alarm_interrupts();
	masks_and_dispositions_are_as_set();
	sigwait_and_signalfd_get_what_is_theirs();
	alternate_stacks_work();
	cancel("spinning", spin_until_cancelled);
	cancel("sleeping", sleep_until_cancelled);
	its_own_profiling_signal_arrives();
	timers_of_its_own_work();
	threads_come_and_go();
	children_behave();
	libraries_load();
	descriptors_are_its_own();
	return 5;
}
