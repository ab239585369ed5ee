/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_futex MODE [N] - threads that wait for each other in the kernel, with and without
 * the C library.  Each says itself how often it has waited, and how long: one line for
 * each thing that was waited for.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#define HOLD_MS 20
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* A function that calls as its last act is not on the stack any more. */
static inline long stay(long rc)
{
	__asm__ volatile("" : "+r"(rc));
	return rc;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) != 0)
		;
}

/* What was waited for, how often, and how long. */
struct account {
	const char *name;
	uint64_t n, ns;
	uint64_t since_ns;
	long n_left; /* how often the thread had left a CPU by itself */
};

static long n_left(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void begin(struct account *a)
{
	a->n_left = n_left();
	a->since_ns = now_ns();
}

/* Who was late found nothing to wait for. */
static void end(struct account *a)
{
	uint64_t ns = now_ns() - a->since_ns;

	if (n_left() == a->n_left)
		return;
	a->n++;
	a->ns += ns;
}

static void tell(const struct account *a)
{
	printf("%s %llu %llu\n", a->name, (unsigned long long)a->n,
	       (unsigned long long)a->ns);
}

static _Atomic uint32_t word;
/* So much that the file does not hold it, nor its last page. */
static _Atomic uint32_t words[10000];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t inheriting;

NOINLINE long wait_for(_Atomic uint32_t *w, uint32_t value, struct account *a)
{
	long rc;

	begin(a);
	rc = syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
	end(a);
	return stay(rc);
}

NOINLINE long wake(_Atomic uint32_t *w)
{
	atomic_fetch_add(w, 1);
	return stay(syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
}

NOINLINE int take_mutex(struct account *a)
{
	int rc;

	begin(a);
	rc = pthread_mutex_lock(&mutex);
	end(a);
	return (int)stay(rc | pthread_mutex_unlock(&mutex));
}

struct job {
	unsigned n;
	int has_mutex;
	struct account word, last, mutex;
};

static void *waiter(void *arg)
{
	struct job *j = arg;

	for (uint32_t i = 0; i < j->n; i++)
		while (atomic_load(&word) == i)
			wait_for(&word, i, &j->word);
	while (!atomic_load(&words[9999]))
		wait_for(&words[9999], 0, &j->last);
	if (j->has_mutex)
		take_mutex(&j->mutex);
	return NULL;
}

static void run_waiter(unsigned n, int has_mutex)
{
	struct job j = { .n = n,
			 .has_mutex = has_mutex,
			 .word.name = "word",
			 .last.name = "words+0x9c3c",
			 .mutex.name = "mutex" };
	pthread_t thread;

	atomic_store(&word, 0);
	atomic_store(&words[9999], 0);
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, waiter, &j);
	for (unsigned i = 0; i < n; i++) {
		sleep_ms(HOLD_MS);
		wake(&word);
	}
	sleep_ms(HOLD_MS);
	wake(&words[9999]);
	sleep_ms(HOLD_MS);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	tell(&j.word);
	tell(&j.last);
	if (has_mutex)
		tell(&j.mutex);
}

static int raw(unsigned n)
{
	run_waiter(n, 0);
	return 0;
}

static int mixed(unsigned n)
{
	run_waiter(n, 1);
	return 0;
}

/* The same once more in a copy of the process, whose threads have been told of by nobody.
 */
static int forked(unsigned n)
{
	int status = 0;
	pid_t child;

	run_waiter(n, 1);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		run_waiter(n, 1);
		return 0;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static _Atomic int is_held;

/* By calls of our own: the C library's mutexes that lend a priority are its own to tell.
 */
static void *hold_inheriting(void *arg)
{
	(void)arg;
	syscall(SYS_futex, &inheriting, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(&is_held, 1);
	sleep_ms(HOLD_MS);
	syscall(SYS_futex, &inheriting, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static int priority(unsigned n)
{
	struct account a = { .name = "inheriting" };

	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		atomic_store(&is_held, 0);
		pthread_create(&thread, NULL, hold_inheriting, NULL);
		while (!atomic_load(&is_held))
			sleep_ms(1);
		begin(&a);
		syscall(SYS_futex, &inheriting, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
		end(&a);
		syscall(SYS_futex, &inheriting, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL,
			0);
		pthread_join(thread, NULL);
	}
	tell(&a);
	return 0;
}

static void *wake_second(void *arg)
{
	(void)arg;
	sleep_ms(HOLD_MS);
	wake(&words[9999]);
	return NULL;
}

/* As <linux/futex.h> of newer systems has it. */
struct one_of_several {
	uint64_t value, address;
	uint32_t flags, zero;
};

static int several(unsigned n)
{
	struct account a = { .name = "word" };

	for (unsigned i = 0; i < n; i++) {
		struct one_of_several all[] = {
			{ atomic_load(&word), (uintptr_t)&word, 2 | FUTEX_PRIVATE_FLAG,
			  0 },
			{ atomic_load(&words[9999]), (uintptr_t)&words[9999],
			  2 | FUTEX_PRIVATE_FLAG, 0 },
		};
		pthread_t thread;

		pthread_create(&thread, NULL, wake_second, NULL);
		begin(&a);
		if (syscall(SYS_futex_waitv, all, 2, 0, NULL, 0) < 0 && errno == ENOSYS)
			return 77;
		end(&a);
		pthread_join(thread, NULL);
	}
	tell(&a);
	return 0;
}

static void *wait_for_ever(void *arg)
{
	struct account a = { 0 };

	(void)arg;
	for (;;)
		wait_for(&word, 0, &a);
	return NULL;
}

/* Until it is killed. */
static int forever(unsigned n)
{
	pthread_t thread;

	for (unsigned i = 0; i < n; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	puts("ready");
	fflush(stdout);
	while (pause() != 0)
		;
	return 0;
}

/* Nobody comes, and it is not waited for long. */
static int timeouts(unsigned n)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	struct account a = { .name = "word" };

	for (unsigned i = 0; i < n; i++) {
		begin(&a);
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
		end(&a);
		wake(&words[0]);
	}
	tell(&a);
	return 0;
}

/* So that the list is where another process without randomized addresses has memory, too:
 * in the environment, whose first word is a long one. */
static int several_forever(unsigned n)
{
	uintptr_t at = ((uintptr_t)environ[0] + strlen(environ[0]) / 2) & ~(uintptr_t)7;
	struct one_of_several *all = (struct one_of_several *)at;

	(void)n;
	*all = (struct one_of_several){ 0, (uintptr_t)&word, 2 | FUTEX_PRIVATE_FLAG, 0 };
	puts("ready");
	fflush(stdout);
	while (syscall(SYS_futex_waitv, all, 1, 0, NULL, 0) >= 0 || errno != ENOSYS)
		;
	return 77;
}

/* Stops its parent n times, and says how long in all. */
static int stop_parent(unsigned n)
{
	struct account a = { .name = "stopped" };

	for (; a.n < n; a.n++) {
		sleep_ms(HOLD_MS);
		a.since_ns = now_ns();
		kill(getppid(), SIGSTOP);
		sleep_ms(HOLD_MS);
		kill(getppid(), SIGCONT);
		a.ns += now_ns() - a.since_ns;
	}
	tell(&a);
	fflush(stdout);
	return 0;
}

static void *wait_long(void *arg)
{
	const struct timespec t = { .tv_sec = 1000 };
	struct account *a = arg;

	begin(a);
	while (!atomic_load(&word))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	end(a);
	return NULL;
}

/* Of one wait that has an end, in which all threads are stopped n times. */
static int stopped_in(unsigned n, struct account *a, void *(*wait)(void *),
		      long (*finish)(void))
{
	pthread_t thread;
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(stop_parent(n));
	pthread_create(&thread, NULL, wait, a);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sleep_ms(HOLD_MS);
	finish();
	pthread_join(thread, NULL);
	tell(a);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static long wake_word(void)
{
	return stay(wake(&word));
}

static int stopped(unsigned n)
{
	struct account a = { .name = "word" };

	return stopped_in(n, &a, wait_long, wake_word);
}

static long lock_inheriting(void)
{
	return stay(
		syscall(SYS_futex, &inheriting, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
}

static long unlock_inheriting(void)
{
	return stay(syscall(SYS_futex, &inheriting, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL,
			    NULL, 0));
}

static void *wait_inheriting(void *arg)
{
	struct account *a = arg;

	begin(a);
	lock_inheriting();
	end(a);
	unlock_inheriting();
	return NULL;
}

static int priority_stopped(unsigned n)
{
	struct account a = { .name = "inheriting" };

	lock_inheriting();
	return stopped_in(n, &a, wait_inheriting, unlock_inheriting);
}

static struct account within = { .name = "inner" };
static _Atomic uint32_t inner, n_handled, has_begun;

/* Its first call is a wait of its own; who sent the signal has begun the account. */
static void wait_within(int signal)
{
	const struct timespec t = { .tv_nsec = HOLD_MS * 1000000L };

	(void)signal;
	syscall(SYS_futex, &inner, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	within.n++;
	within.ns += now_ns() - within.since_ns;
	atomic_fetch_add(&n_handled, 1);
}

static void *wait_through_signals(void *arg)
{
	struct account *a = arg;

	begin(a);
	atomic_store(&has_begun, 1);
	while (!atomic_load(&word))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	end(a);
	return NULL;
}

/* One wait, which goes on after each of n handlers that wait for something else. */
static int handlers(unsigned n)
{
	const struct sigaction action = { .sa_handler = wait_within,
					  .sa_flags = SA_RESTART };
	struct account a = { .name = "word" };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, wait_through_signals, &a);
	while (!atomic_load(&has_begun))
		sleep_ms(1);
	for (uint32_t i = 0; i < n; i++) {
		sleep_ms(HOLD_MS);
		within.since_ns = now_ns();
		pthread_kill(thread, SIGUSR1);
		while (atomic_load(&n_handled) == i)
			sleep_ms(1);
	}
	sleep_ms(HOLD_MS);
	wake(&word);
	pthread_join(thread, NULL);
	tell(&a);
	tell(&within);
	return 0;
}

/* Memory right behind the program's own data, and nobody's variable; NULL: there is none.
 */
static uint32_t *words_behind(size_t n)
{
	extern char _end;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = ((uintptr_t)&_end + page - 1) & ~(page - 1);
	uint32_t *w = mmap((void *)at, n * sizeof(*w), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (w != (void *)at)
		return NULL;
	memset(w, 0, n * sizeof(*w)); /* it is there */
	return w;
}

static void wait_shortly(const uint32_t *w, struct account *a)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	begin(a);
	syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	end(a);
}

static int behind(unsigned n)
{
	uint32_t *w = words_behind(1);
	char name[32];
	struct account a = { .name = name };

	if (!w)
		return 77;
	snprintf(name, sizeof(name), "[%p]", (void *)w);
	for (unsigned i = 0; i < n; i++)
		wait_shortly(w, &a);
	tell(&a);
	return 0;
}

/* Once for each of n words there. */
static int all_behind(unsigned n)
{
	uint32_t *all = words_behind(n);
	struct account a = { .name = "all" };

	if (!all)
		return 77;
	for (unsigned i = 0; i < n; i++)
		wait_shortly(&all[i], &a);
	tell(&a);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(unsigned n);
} modes[] = {
	{ "raw", raw },
	{ "mixed", mixed },
	{ "forked", forked },
	{ "priority", priority },
	{ "several", several },
	{ "forever", forever },
	{ "timeouts", timeouts },
	{ "stopped", stopped },
	{ "several_forever", several_forever },
	{ "behind", behind },
	{ "all_behind", all_behind },
	{ "priority_stopped", priority_stopped },
	{ "handlers", handlers },
};

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, argv[1]) == 0)
			return modes[i].run(n);
	return 2;
}
