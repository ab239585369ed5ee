/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_alone shared|forked-free - processes of one thread each.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiter.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

static void take_often(void)
{
	for (int i = 0; i < 3; i++) {
		check(pthread_mutex_lock(&plain) == 0, "a free lock");
		check(pthread_mutex_unlock(&plain) == 0, "its release");
	}
}

/* Processes of one thread each: one has a lock that is shared, another waits for it. */

struct shared {
	pthread_mutex_t mutex;
	volatile int is_held;
};

static void hold_shared(struct shared *s, pid_t waiter)
{
	pthread_mutex_lock(&s->mutex);
	s->is_held = 1;
	while (!is_asleep(waiter))
		sched_yield();
	sleep_ms(20);
	pthread_mutex_unlock(&s->mutex);
}

NOINLINE int by_shared_lock(struct shared *s)
{
	return stay(pthread_mutex_lock(&s->mutex));
}

static void shared(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid, waiter = getpid();
	pthread_mutexattr_t attr;
	int status = 1;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->mutex, &attr);
	take_often(); /* what is not shared passes by now */
	pid = fork();
	if (pid == 0) {
		hold_shared(s, waiter);
		_exit(0);
	}
	while (!s->is_held)
		sched_yield();
	check(by_shared_lock(s) == 0, "a lock that is shared");
	check(pthread_mutex_unlock(&s->mutex) == 0, "its release");
	check(waitpid(pid, &status, 0) == pid && status == 0, "the child");
}

/* Nobody ever waits but for the end of the child, which takes a lock that is free. */
static void forked_free(void)
{
	int status = 1;
	pid_t pid;

	take_often();
	pid = fork();
	if (pid == 0) {
		take_often();
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && status == 0, "the child");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "shared") == 0)
		shared();
	else
		forked_free();
	return 0;
}
