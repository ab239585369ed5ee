/* SPDX-License-Identifier: Apache-2.0
 *
 * states - threads that are each in one state for a planned time.
 * usage: states COLD_FILE
 *
 * Prints a line for each: its name, its number, what was planned in the state, how long
 * it lived at least and at most, and the kernel's account of its time on a CPU and
 * waiting for one; all in ns.  COLD_FILE is read by faults only, after its pages were
 * dropped.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	   1000000L
#define PAGE_STEP  65536
#define SPINNER_MS 400

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static const char *cold_file;

struct thread {
	const char *name;
	void (*body)(void);
	long planned_ns;
	pthread_t id;
	int tid;
	long made_ns, began_ns, waits_from_ns, ended_ns;
	long run_ns, wait_ns;
};

/* Where it is the main thread that ends a wait: when it begins. */
static _Thread_local long waits_from_ns;

static long now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * MS };

	nanosleep(&t, NULL);
}

static void spin(long ms)
{
	volatile unsigned long x = 1;
	long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * MS;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			x = x * 2862933555777941757UL + 3037000493UL;
}

static void asleep(void)
{
	sleep_ms(200);
}

static void polling(void)
{
	poll(NULL, 0, 150);
}

static void locked(void)
{
	waits_from_ns = now_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void reading(void)
{
	char c;

	waits_from_ns = now_ns(CLOCK_MONOTONIC);
	if (read(pipes[0], &c, 1) != 1)
		exit(1);
}

/* Two of them on one CPU: each runs half the time. */
static void spinning(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	spin(SPINNER_MS);
}

static void in_kernel(void)
{
	static char bytes[1 << 18];
	int fd = open("/dev/zero", O_RDONLY);
	long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 300 * MS;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		if (read(fd, bytes, sizeof(bytes)) < 0)
			exit(1);
	close(fd);
}

static char *map_cold(size_t *size)
{
	int fd = open(cold_file, O_RDONLY);
	struct stat s;
	char *p;

	if (fd < 0 || fstat(fd, &s) < 0)
		exit(1);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		exit(1);
	madvise(p, (size_t)s.st_size, MADV_RANDOM);
	close(fd);
	*size = (size_t)s.st_size;
	return p;
}

static void faulting(void)
{
	static volatile char sum;
	size_t size;
	char *p = map_cold(&size);

	for (size_t i = 0; i < size; i += PAGE_STEP)
		sum = (char)(sum + p[i]);
	munmap(p, size);
}

/* The kernel touches the pages, on behalf of a system call; others than those above, or
 * who comes later would find them. */
static void writing_cold(void)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	size_t size;
	char *p = map_cold(&size);

	if (fd < 0)
		exit(1);
	for (size_t i = PAGE_STEP / 2; i < size; i += PAGE_STEP)
		if (pwrite(fd, p + i, 16, 0) != 16)
			exit(1);
	munmap(p, size);
	close(fd);
}

/* A child that is stopped; its parent waits for it. */
static void waiting(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NAME, "stopped");
		printf("stopped %d %ld 0 0 0 0\n", getpid(), 250 * MS);
		fflush(stdout);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, WUNTRACED);
	sleep_ms(250);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
}

static struct thread threads[] = {
	{ "asleep", asleep, 200 * MS, .tid = 0 },
	{ "polling", polling, 150 * MS, .tid = 0 },
	{ "locked", locked, 0, .tid = 0 },
	{ "reading", reading, 0, .tid = 0 },
	{ "spinning", spinning, SPINNER_MS *MS, .tid = 0 },
	{ "spinning", spinning, SPINNER_MS *MS, .tid = 0 },
	{ "in-kernel", in_kernel, 300 * MS, .tid = 0 },
	{ "faulting", faulting, 0, .tid = 0 },
	{ "writing-cold", writing_cold, 0, .tid = 0 },
	{ "waiting", waiting, 250 * MS, .tid = 0 },
};

#define N_THREADS (sizeof(threads) / sizeof(threads[0]))

static void read_account(struct thread *t)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", t->tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld %ld", &t->run_ns, &t->wait_ns) != 2)
		t->run_ns = t->wait_ns = 0;
	if (f)
		fclose(f);
}

static void until_gone(int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (access(path, F_OK) == 0)
		sleep_ms(1);
}

static void *body(void *arg)
{
	struct thread *t = arg;

	t->began_ns = now_ns(CLOCK_MONOTONIC);
	t->tid = (int)syscall(SYS_gettid);
	prctl(PR_SET_NAME, t->name);
	t->body();
	t->waits_from_ns = waits_from_ns;
	read_account(t);
	t->ended_ns = now_ns(CLOCK_MONOTONIC);
	return NULL;
}

int main(int argc, char **argv)
{
	long written_ns, unlocked_ns;

	if (argc != 2 || pipe(pipes) < 0)
		return 2;
	cold_file = argv[1];
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < N_THREADS; i++) {
		threads[i].made_ns = now_ns(CLOCK_MONOTONIC);
		if (pthread_create(&threads[i].id, NULL, body, &threads[i]) != 0)
			return 1;
	}
	sleep_ms(180);
	written_ns = now_ns(CLOCK_MONOTONIC);
	if (write(pipes[1], "x", 1) != 1)
		return 1;
	sleep_ms(70);
	unlocked_ns = now_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&mutex);
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i].id, NULL);
	/* One that is joined may still wait for a CPU, to end on; and who is in no
	 * directory any more has some instructions left. */
	for (size_t i = 0; i < N_THREADS; i++)
		until_gone(threads[i].tid);
	sleep_ms(200);

	long gone_ns = now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < N_THREADS; i++) {
		struct thread *t = &threads[i];

		/* It may have begun late. */
		if (t->body == locked)
			t->planned_ns = unlocked_ns - t->waits_from_ns;
		if (t->body == reading)
			t->planned_ns = written_ns - t->waits_from_ns;
		printf("%s %d %ld %ld %ld %ld %ld\n", t->name, t->tid, t->planned_ns,
		       t->ended_ns - t->began_ns, gone_ns - t->made_ns, t->run_ns,
		       t->wait_ns);
	}
	return 0;
}
