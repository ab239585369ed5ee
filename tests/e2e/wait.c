/* SPDX-License-Identifier: Apache-2.0
 *
 * Known waits: main burns 200 ms of CPU, sleeps 200 ms and polls 150 ms; one thread holds
 * a mutex for 250 ms, another waits 200 ms of them for it.  Prints main's time in ns, and
 * for how long each of those lasted and for how much of that its thread had no CPU, as
 * who is to go on may come late.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;

static long long now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long cpu_ms(void)
{
	return (long)(now_ns(CLOCK_THREAD_CPUTIME_ID) / 1000000);
}

__attribute__((noinline)) void do_spin(int ms)
{
	while (cpu_ms() < ms)
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
}

/* Of this thread's life it wanted a CPU and had none. */
static long long late_ns(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[100] = "";
	const char *second;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	second = n > 0 ? strchr(text, ' ') : NULL;
	return second ? atoll(second) : 0;
}

static struct lasting {
	const char *name;
	long long ns, late_ns;
} sleeping = { .name = "do_sleep" }, polling = { .name = "do_poll" },
  holding = { .name = "hold" }, wanting = { .name = "want" };

static void begin(struct lasting *l)
{
	l->late_ns -= late_ns();
	l->ns -= now_ns(CLOCK_MONOTONIC);
}

static void end(struct lasting *l)
{
	l->ns += now_ns(CLOCK_MONOTONIC);
	l->late_ns += late_ns();
}

static void tell(const struct lasting *l)
{
	printf("%s %lld %lld\n", l->name, l->ns, l->late_ns);
}

__attribute__((noinline)) void do_sleep(void)
{
	begin(&sleeping);
	usleep(200000);
	end(&sleeping);
}

__attribute__((noinline)) void do_poll(void)
{
	begin(&polling);
	poll(NULL, 0, 150);
	end(&polling);
}

__attribute__((noinline)) void *hold(void *x)
{
	begin(&holding);
	pthread_mutex_lock(&mutex);
	usleep(250000);
	pthread_mutex_unlock(&mutex);
	end(&holding);
	return x;
}

__attribute__((noinline)) void *want(void *x)
{
	begin(&wanting);
	usleep(50000);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	end(&wanting);
	return x;
}

int main(void)
{
	long long begin_ns = now_ns(CLOCK_MONOTONIC);
	pthread_t a, b;

	pthread_create(&a, NULL, hold, NULL);
	pthread_create(&b, NULL, want, NULL);
	do_spin(200);
	do_sleep();
	do_poll();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("main %lld 0\n", now_ns(CLOCK_MONOTONIC) - begin_ns);
	tell(&sleeping);
	tell(&polling);
	tell(&holding);
	tell(&wanting);
	return 0;
}
