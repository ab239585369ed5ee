/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_waits MODE [N] - threads that wait for each other in ways of which the truth is
 * known: how often, how long at least, for what, and who let them wait.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "waiter.h"

/* One holds, another waits until it is let go. */

pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char before[40];
	pthread_rwlock_t rwlock;
} in_struct = { .rwlock = PTHREAD_RWLOCK_INITIALIZER };
pthread_spinlock_t spin;
static mtx_t c11;
static sem_t semaphore;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static cnd_t c11_condition;
static pthread_barrier_t barrier;
static pthread_mutex_t *on_heap;
static int is_set;

static struct timespec far_away(clockid_t clock)
{
	return in_ms(clock, 100000);
}

NOINLINE int by_lock(void)
{
	return stay(pthread_mutex_lock(&plain));
}

NOINLINE int by_timedlock(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);

	return stay(pthread_mutex_timedlock(&plain, &t));
}

NOINLINE int by_clocklock(void)
{
	struct timespec t = far_away(CLOCK_MONOTONIC);

	return stay(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &t));
}

NOINLINE void hold_mutex(unsigned ms)
{
	sleep_ms(ms);
	stay(pthread_mutex_unlock(&plain));
}

NOINLINE int by_heap_lock(void)
{
	return stay(pthread_mutex_lock(on_heap));
}

NOINLINE void hold_heap(unsigned ms)
{
	sleep_ms(ms);
	stay(pthread_mutex_unlock(on_heap));
}

NOINLINE int by_rdlock(void)
{
	return stay(pthread_rwlock_rdlock(&in_struct.rwlock));
}

NOINLINE int by_timedrdlock(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);

	return stay(pthread_rwlock_timedrdlock(&in_struct.rwlock, &t));
}

NOINLINE int by_clockrdlock(void)
{
	struct timespec t = far_away(CLOCK_MONOTONIC);

	return stay(pthread_rwlock_clockrdlock(&in_struct.rwlock, CLOCK_MONOTONIC, &t));
}

NOINLINE int by_wrlock(void)
{
	return stay(pthread_rwlock_wrlock(&in_struct.rwlock));
}

NOINLINE int by_timedwrlock(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);

	return stay(pthread_rwlock_timedwrlock(&in_struct.rwlock, &t));
}

NOINLINE int by_clockwrlock(void)
{
	struct timespec t = far_away(CLOCK_MONOTONIC);

	return stay(pthread_rwlock_clockwrlock(&in_struct.rwlock, CLOCK_MONOTONIC, &t));
}

NOINLINE void hold_rwlock(unsigned ms)
{
	sleep_ms(ms);
	stay(pthread_rwlock_unlock(&in_struct.rwlock));
}

NOINLINE int by_mtx_lock(void)
{
	return stay(mtx_lock(&c11));
}

NOINLINE int by_mtx_timedlock(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);

	return stay(mtx_timedlock(&c11, &t));
}

NOINLINE void hold_mtx(unsigned ms)
{
	sleep_ms(ms);
	stay(mtx_unlock(&c11));
}

NOINLINE int by_sem_wait(void)
{
	return stay(sem_wait(&semaphore));
}

NOINLINE int by_sem_timedwait(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);

	return stay(sem_timedwait(&semaphore, &t));
}

NOINLINE int by_sem_clockwait(void)
{
	struct timespec t = far_away(CLOCK_MONOTONIC);

	return stay(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t));
}

NOINLINE void post(unsigned ms)
{
	sleep_ms(ms);
	stay(sem_post(&semaphore));
}

static int take_plain(void)
{
	is_set = 0;
	return pthread_mutex_lock(&plain);
}

NOINLINE int by_cond_wait(void)
{
	int rc = take_plain();

	while (!is_set && rc == 0)
		rc = pthread_cond_wait(&condition, &plain);
	return rc ? rc : pthread_mutex_unlock(&plain);
}

NOINLINE int by_cond_timedwait(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);
	int rc = take_plain();

	while (!is_set && rc == 0)
		rc = pthread_cond_timedwait(&condition, &plain, &t);
	return rc ? rc : pthread_mutex_unlock(&plain);
}

NOINLINE int by_cond_clockwait(void)
{
	struct timespec t = far_away(CLOCK_MONOTONIC);
	int rc = take_plain();

	while (!is_set && rc == 0)
		rc = pthread_cond_clockwait(&condition, &plain, CLOCK_MONOTONIC, &t);
	return rc ? rc : pthread_mutex_unlock(&plain);
}

NOINLINE void wake(unsigned ms)
{
	sleep_ms(ms);
	pthread_mutex_lock(&plain);
	is_set = 1;
	pthread_mutex_unlock(&plain);
	stay(pthread_cond_signal(&condition));
}

NOINLINE int by_cnd_wait(void)
{
	int rc = mtx_lock(&c11);

	is_set = 0;
	while (!is_set && rc == thrd_success)
		rc = cnd_wait(&c11_condition, &c11);
	return rc ? rc : mtx_unlock(&c11);
}

NOINLINE int by_cnd_timedwait(void)
{
	struct timespec t = far_away(CLOCK_REALTIME);
	int rc = mtx_lock(&c11);

	is_set = 0;
	while (!is_set && rc == thrd_success)
		rc = cnd_timedwait(&c11_condition, &c11, &t);
	return rc ? rc : mtx_unlock(&c11);
}

NOINLINE void wake_c11(unsigned ms)
{
	sleep_ms(ms);
	mtx_lock(&c11);
	is_set = 1;
	mtx_unlock(&c11);
	stay(cnd_broadcast(&c11_condition));
}

NOINLINE int by_barrier(void)
{
	int rc = pthread_barrier_wait(&barrier);

	return rc == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : rc;
}

NOINLINE void come_last(unsigned ms)
{
	sleep_ms(ms);
	stay(pthread_barrier_wait(&barrier));
}

static void nothing(void)
{
}

static void take_heap(void)
{
	pthread_mutex_lock(on_heap);
}

static void take_mutex(void)
{
	pthread_mutex_lock(&plain);
}

static void take_rwlock(void)
{
	pthread_rwlock_wrlock(&in_struct.rwlock);
}

static void take_mtx(void)
{
	mtx_lock(&c11);
}

static void give_mutex(void)
{
	pthread_mutex_unlock(&plain);
}

static void give_heap(void)
{
	pthread_mutex_unlock(on_heap);
}

static void give_rwlock(void)
{
	pthread_rwlock_unlock(&in_struct.rwlock);
}

static void give_mtx(void)
{
	mtx_unlock(&c11);
}

static const struct meeting {
	void (*take)(void);
	int (*wait)(void);
	void (*give)(void);	  /* by who waited */
	void (*let)(unsigned ms); /* by who has it, after that time */
} meetings[] = {
	{ take_mutex, by_lock, give_mutex, hold_mutex },
	{ take_mutex, by_timedlock, give_mutex, hold_mutex },
	{ take_mutex, by_clocklock, give_mutex, hold_mutex },
	{ take_heap, by_heap_lock, give_heap, hold_heap },
	{ take_rwlock, by_rdlock, give_rwlock, hold_rwlock },
	{ take_rwlock, by_timedrdlock, give_rwlock, hold_rwlock },
	{ take_rwlock, by_clockrdlock, give_rwlock, hold_rwlock },
	{ take_rwlock, by_wrlock, give_rwlock, hold_rwlock },
	{ take_rwlock, by_timedwrlock, give_rwlock, hold_rwlock },
	{ take_rwlock, by_clockwrlock, give_rwlock, hold_rwlock },
	{ take_mtx, by_mtx_lock, give_mtx, hold_mtx },
	{ take_mtx, by_mtx_timedlock, give_mtx, hold_mtx },
	{ nothing, by_sem_wait, nothing, post },
	{ nothing, by_sem_timedwait, nothing, post },
	{ nothing, by_sem_clockwait, nothing, post },
	{ nothing, by_cond_wait, nothing, wake },
	{ nothing, by_cond_timedwait, nothing, wake },
	{ nothing, by_cond_clockwait, nothing, wake },
	{ nothing, by_cnd_wait, nothing, wake_c11 },
	{ nothing, by_cnd_timedwait, nothing, wake_c11 },
	{ nothing, by_barrier, nothing, come_last },
};

static void *wait_once(void *arg)
{
	const struct meeting *m = arg;

	say_who();
	errno = 7;
	check(m->wait() == 0 && errno == 7, "a wait, or errno behind it");
	m->give();
	return NULL;
}

NOINLINE void join(pthread_t thread)
{
	stay(pthread_join(thread, NULL));
}

static void meet(const struct meeting *m, unsigned ms)
{
	pthread_t thread;

	waiter_tid = 0;
	m->take();
	check(pthread_create(&thread, NULL, wait_once, (void *)m) == 0, "a thread");
	until_waiter_sleeps();
	m->let(ms);
	join(thread);
}

/* Each kind of wait once, of 20 ms at least. */
static void calls(unsigned n)
{
	on_heap = malloc(sizeof(*on_heap));
	pthread_mutex_init(on_heap, NULL);
	mtx_init(&c11, mtx_plain | mtx_timed);
	cnd_init(&c11_condition);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; i < sizeof(meetings) / sizeof(meetings[0]); i++)
		meet(&meetings[i], 20);
}

/* N waits, each for 5 ms of one holder and 15 ms of another. */

static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t next_turn;

static void *slow_waiter(void *arg)
{
	(void)arg;
	say_who();
	pthread_mutex_lock(&plain);
	pthread_mutex_unlock(&plain);
	return NULL;
}

static void holders(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		waiter_tid = 0;
		pthread_mutex_lock(&plain);
		pthread_create(&thread, NULL, slow_waiter, NULL);
		until_waiter_sleeps();
		hold_mutex(20);
		pthread_join(thread, NULL);
	}
}

/* Locks that are free, in every kind of mutex; and what fails is told. */

static void uncontended(unsigned n)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK };
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	for (size_t i = 0; i < 3; i++) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, types[i]);
		pthread_mutex_init(&m, &attr);
		for (unsigned k = 0; k < n; k++) {
			check(pthread_mutex_lock(&m) == 0, "a free lock");
			check(pthread_mutex_unlock(&m) == 0, "its release");
		}
		check(pthread_mutex_lock(&m) == 0, "a free lock");
		if (types[i] == PTHREAD_MUTEX_ERRORCHECK)
			check(pthread_mutex_lock(&m) == EDEADLK, "a deadlock");
		if (types[i] == PTHREAD_MUTEX_RECURSIVE) {
			check(pthread_mutex_lock(&m) == 0, "recursion");
			check(pthread_mutex_unlock(&m) == 0, "out of it");
		}
		check(pthread_mutex_trylock(&m) ==
			      (types[i] == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY),
		      "a busy lock");
	}
}

static pthread_mutex_t robust;

static void *die_with_it(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&robust);
	return NULL;
}

static void owner_dead(unsigned n)
{
	pthread_mutexattr_t attr;
	pthread_t thread;
	struct timespec t = in_ms(CLOCK_REALTIME, 30);

	sem_init(&semaphore, 0, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_create(&thread, NULL, die_with_it, NULL);
	pthread_join(thread, NULL);
	check(pthread_mutex_lock(&robust) == EOWNERDEAD, "whose owner died");
	check(pthread_mutex_consistent(&robust) == 0, "made whole");
	check(pthread_mutex_unlock(&robust) == 0, "and released");
	pthread_mutex_lock(&plain);
	check(pthread_mutex_timedlock(&plain, &t) == ETIMEDOUT, "out of time");
	t = in_ms(CLOCK_REALTIME, 30);
	errno = 0;
	check(sem_timedwait(&semaphore, &t) == -1 && errno == ETIMEDOUT, "a semaphore's");
	pthread_mutex_unlock(&plain);
}

/* Threads that are cancelled while they wait, with handlers that unlock. */

static void unlock(void *m)
{
	pthread_mutex_unlock(m);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	say_who();
	pthread_mutex_lock(&plain);
	pthread_cleanup_push(unlock, &plain);
	for (;;)
		pthread_cond_wait(&condition, &plain);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *wait_for_post(void *arg)
{
	say_who();
	sem_wait(arg);
	return NULL;
}

static void cancel_waiter(void *(*start)(void *), void *arg)
{
	pthread_t thread;
	void *ret = NULL;

	waiter_tid = 0;
	pthread_create(&thread, NULL, start, arg);
	until_waiter_sleeps();
	pthread_cancel(thread);
	pthread_join(thread, &ret);
	check(ret == PTHREAD_CANCELED, "was cancelled");
}

/* It acts on a cancellation though the semaphore is free. */
static void *cancelled_before(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	sem_wait(arg);
	return NULL;
}

static void cancelled(unsigned n)
{
	pthread_t thread;
	void *ret = NULL;
	int left = 0;

	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < 20; i++) {
		cancel_waiter(wait_for_ever, NULL);
		cancel_waiter(wait_for_post, &semaphore);
	}
	sem_post(&semaphore);
	pthread_create(&thread, NULL, cancelled_before, &semaphore);
	pthread_join(thread, &ret);
	sem_getvalue(&semaphore, &left);
	check(ret == PTHREAD_CANCELED && left == 1, "cancelled before");
	check(pthread_mutex_trylock(&plain) == 0, "handlers have unlocked");
	pthread_mutex_unlock(&plain);
	holders(3);
}

static void forked(unsigned n)
{
	pid_t pid;
	int status = 1;

	holders(2);
	pid = fork();
	if (pid == 0) {
		holders(3);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(status == 0, "the child");
}

/* Two that take turns as fast as they can. */

static void *contend(void *arg)
{
	for (unsigned long n = (unsigned long)arg; n; n--) {
		pthread_mutex_lock(&handed);
		is_set++;
		pthread_mutex_unlock(&handed);
	}
	return NULL;
}

static void contended(unsigned n)
{
	pthread_t threads[4];

	is_set = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, contend, (void *)(unsigned long)n);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", is_set);
}

static void *spinner(void *arg)
{
	(void)arg;
	say_who();
	pthread_barrier_wait(&next_turn);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	return NULL;
}

NOINLINE void hold_spin(unsigned ms)
{
	sleep_ms(ms);
	stay(pthread_spin_unlock(&spin));
}

static void spinning(unsigned n)
{
	pthread_t thread;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&next_turn, NULL, 2);
	pthread_spin_lock(&spin);
	pthread_create(&thread, NULL, spinner, NULL);
	pthread_barrier_wait(&next_turn);
	hold_spin(50);
	pthread_join(thread, NULL);
}

static void killed(unsigned n)
{
	holders(5);
	raise(SIGKILL);
}

/* Who holds a lock gives it while it waits for a condition, by which the other answers.
 */

static void *answer(void *arg)
{
	(void)arg;
	say_who();
	pthread_mutex_lock(&plain);
	is_set = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&plain);
	return NULL;
}

NOINLINE void give_by_waiting(void)
{
	sleep_ms(20);
	while (!is_set)
		stay(pthread_cond_wait(&condition, &plain));
}

static void given(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		waiter_tid = 0;
		is_set = 0;
		pthread_mutex_lock(&plain);
		pthread_create(&thread, NULL, answer, NULL);
		until_waiter_sleeps();
		give_by_waiting();
		pthread_mutex_unlock(&plain);
		pthread_join(thread, NULL);
	}
}

/* Somebody waits until it is let go: for a lock, or for a condition. */

static pthread_t parked;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *arg)
{
	say_who();
	pthread_mutex_lock(&kept);
	pthread_mutex_unlock(&kept);
	return arg;
}

static void *wait_for_condition(void *arg)
{
	pthread_mutex_lock(&plain);
	say_who();
	while (!is_set)
		pthread_cond_wait(&condition, &plain);
	pthread_mutex_unlock(&plain);
	return arg;
}

static void park(void *(*how)(void *))
{
	is_set = 0;
	waiter_tid = 0;
	pthread_mutex_lock(&kept);
	pthread_create(&parked, NULL, how, NULL);
	until_waiter_sleeps();
}

static void park_at_lock(unsigned n)
{
	(void)n;
	park(wait_for_lock);
}

static void *answer_when_woken(void *arg)
{
	arg = wait_for_lock(arg);
	printf("done\n");
	return arg;
}

/* Another line is waited for with what the end of a contended lock has left below. */
static void wake_and_read_on(unsigned n)
{
	char line[64];

	(void)n;
	waiter_tid = 0;
	pthread_mutex_lock(&kept);
	pthread_create(&parked, NULL, answer_when_woken, NULL);
	until_waiter_sleeps();
	pthread_mutex_unlock(&kept);
	check(fgets(line, sizeof(line), stdin) != NULL, "no line");
	pthread_join(parked, NULL);
}

static void park_at_condition(unsigned n)
{
	(void)n;
	park(wait_for_condition);
}

static void let_go(unsigned n)
{
	(void)n;
	pthread_mutex_lock(&plain);
	is_set = 1;
	pthread_mutex_unlock(&plain);
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&kept);
	pthread_join(parked, NULL);
}

/* Does what lines of its input say, MODE [N], and answers each. */
static void obey(unsigned n);

static const struct {
	const char *name;
	void (*fn)(unsigned n);
} modes[] = {
	{ "calls", calls },
	{ "holders", holders },
	{ "uncontended", uncontended },
	{ "robust", owner_dead },
	{ "cancelled", cancelled },
	{ "forked", forked },
	{ "contended", contended },
	{ "spinning", spinning },
	{ "killed", killed },
	{ "given", given },
	{ "park", park_at_lock },
	{ "condition", park_at_condition },
	{ "wake", wake_and_read_on },
	{ "go", let_go },
	{ "obey", obey },
};

static int do_as_told(const char *mode, unsigned n)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(mode, modes[i].name) == 0) {
			modes[i].fn(n);
			return 0;
		}
	return 2;
}

static void obey(unsigned n)
{
	static char line[64], mode[64];

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		n = 1;
		check(sscanf(line, "%63s %u", mode, &n) > 0 && do_as_told(mode, n) == 0,
		      line);
		printf("done\n");
	}
}

int main(int argc, char **argv)
{
	return do_as_told(argc > 1 ? argv[1] : "",
			  argc > 2 ? (unsigned)atoi(argv[2]) : 1);
}
