/* SPDX-License-Identifier: Apache-2.0
 *
 * deadlock MODE - threads that wait for ever, and others that do not any more.
 *
 * crowd: as locks, but before there are many threads at once, which wait for nothing.
 * locks: two threads take two mutexes in opposite order, one is in a wait for a condition
 * that never comes, and the first one joins.  words: one thread waits for a word, without
 * the C library.  Once all of them sleep, "ready PID TID...".
 * cancelled: a thread is cancelled in such a wait and joined; what comes on the standard
 * input ends the program.
 * over: waits that have all ended.
 * pool: threads that come and go beside some that stay; says by how many KB those made it
 * larger.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "waiter.h"

static pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_c = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both_have_one;
static uint32_t word;
static volatile pid_t tids[3];

static pid_t gettid_of(int i)
{
	while (!tids[i])
		sched_yield();
	return tids[i];
}

static void say(int i)
{
	tids[i] = (pid_t)syscall(SYS_gettid);
}

NOINLINE int take_b(void)
{
	return stay(pthread_mutex_lock(&mutex_b));
}

NOINLINE int take_a(void)
{
	return stay(pthread_mutex_lock(&mutex_a));
}

NOINLINE int wait_for_ever(void)
{
	return stay(pthread_cond_wait(&never, &mutex_c));
}

NOINLINE int wait_for_word(void)
{
	return stay((int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}

static void *left(void *arg)
{
	take_a();
	say(0);
	pthread_barrier_wait(&both_have_one);
	take_b();
	return arg;
}

static void *right(void *arg)
{
	take_b();
	say(1);
	pthread_barrier_wait(&both_have_one);
	take_a();
	return arg;
}

static void *idle(void *arg)
{
	pthread_mutex_lock(&mutex_c);
	say(2);
	while (!arg)
		wait_for_ever();
	return arg;
}

static void *raw(void *arg)
{
	say(0);
	while (!arg)
		wait_for_word();
	return arg;
}

static void say_ready(int n)
{
	printf("ready %d", getpid());
	for (int i = 0; i < n; i++) {
		while (!is_asleep(gettid_of(i)))
			sched_yield();
		printf(" %d", tids[i]);
	}
	printf("\n");
	fflush(stdout);
}

/* As glibc says it in the first word. */
static int is_waited_for(const pthread_mutex_t *m)
{
	return __atomic_load_n((const int *)m, __ATOMIC_RELAXED) == 2;
}

/* Who sleeps may do so at the barrier still. */
static void until_locked(void)
{
	while (!is_waited_for(&mutex_a) || !is_waited_for(&mutex_b))
		sched_yield();
}

static void locks(void)
{
	pthread_t threads[3];

	pthread_barrier_init(&both_have_one, NULL, 2);
	pthread_create(&threads[0], NULL, left, NULL);
	pthread_create(&threads[1], NULL, right, NULL);
	pthread_create(&threads[2], NULL, idle, NULL);
	until_locked();
	say_ready(3);
	pthread_join(threads[0], NULL);
}

/* More than may be told at once. */
#define N_CROWD		  1200
#define CROWD_STACK_BYTES (64 << 10)

static int n_come;

static void *come_and_go(void *barrier)
{
	pthread_barrier_t own;

	(void)barrier;
	pthread_barrier_init(&own, NULL, 1);
	pthread_barrier_wait(&own);
	__atomic_fetch_add(&n_come, 1, __ATOMIC_SEQ_CST);
	for (int n; (n = __atomic_load_n(&n_come, __ATOMIC_SEQ_CST)) < N_CROWD;)
		syscall(SYS_futex, &n_come, FUTEX_WAIT_PRIVATE, n, NULL, NULL, 0);
	syscall(SYS_futex, &n_come, FUTEX_WAKE_PRIVATE, N_CROWD, NULL, NULL, 0);
	return NULL;
}

static void crowd(void)
{
	static pthread_t threads[N_CROWD];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, CROWD_STACK_BYTES);
	for (int i = 0; i < N_CROWD; i++)
		if (pthread_create(&threads[i], &attr, come_and_go, NULL) != 0)
			_exit(3);
	for (int i = 0; i < N_CROWD; i++)
		pthread_join(threads[i], NULL);
	locks();
}

static void words(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, raw, NULL);
	say_ready(1);
	while (pause() != 0)
		;
}

static void cancelled(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, idle, NULL);
	say_ready(0);
	while (!is_asleep(gettid_of(2)))
		sched_yield();
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	printf("joined\n");
	fflush(stdout);
	getchar();
}

static void *hold_a_while(void *arg)
{
	take_a();
	say(0);
	sleep_ms(20);
	pthread_mutex_unlock(&mutex_a);
	return arg;
}

static void over(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_a_while, NULL);
	gettid_of(0);
	take_a();
	pthread_join(thread, NULL);
}

#define N_STAY 32
#define N_COME 4000

static void *come(void *stays)
{
	pthread_barrier_t own;

	pthread_barrier_init(&own, NULL, 1);
	pthread_barrier_wait(&own);
	while (stays)
		pause();
	return NULL;
}

static long size_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld", &pages) != 1)
		_exit(3);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void let_come(int n)
{
	pthread_t thread;

	while (n--) {
		pthread_create(&thread, NULL, come, NULL);
		pthread_join(thread, NULL);
	}
}

static void pool(void)
{
	pthread_t thread;
	long before;

	for (int i = 0; i < N_STAY; i++)
		pthread_create(&thread, NULL, come, &word);
	let_come(10 * N_STAY);
	before = size_kb();
	let_come(N_COME);
	printf("%ld\n", size_kb() - before);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "locks") == 0)
		locks();
	else if (strcmp(mode, "crowd") == 0)
		crowd();
	else if (strcmp(mode, "words") == 0)
		words();
	else if (strcmp(mode, "cancelled") == 0)
		cancelled();
	else if (strcmp(mode, "pool") == 0)
		pool();
	else if (strcmp(mode, "over") == 0)
		over();
	else
		return 2;
	return 0;
}
