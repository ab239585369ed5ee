/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that raises floating-point exceptions when it is told to, in threads of
 * several kinds, and says what it finds of itself.  Does what lines of its input say, and
 * answers each:
 *	divide WHO N	N divisions by zero, in: main, worker, blocker (which blocks all
 *			signals), new (a thread for it), child (which then waits)
 *	x87 N		the same of the x87 unit
 *	small N		N results below the normal range, half of which are exact
 *	handler N	N signals, whose handler was there from the beginning and
 *			divides once
 *	enabled N	N divisions that the program enabled, and has a handler for
 *	park, leave	the worker waits in a handler, and leaves it
 *	spin, rest	a thread divides without end, and no more
 *	add, sum	threads add up without end, for which the C library puts
 *			exceptions aside; and no more, and divide a hundred times each
 *	masks		the same, but without dividing, and nothing may be unmasked
 *	hash		of results
 *	state		registers, masks and actions, but that of SIGFPE, as the
 *			kernel has them, of all threads
 */
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#define N_SUMMERS 8

static volatile double zero = 0, one = 1;
static volatile long n_wrong, n_spun;
static volatile sig_atomic_t n_signals, is_parked, may_leave, is_spinning, may_divide;
static pthread_t summers[N_SUMMERS];
static sigjmp_buf back;
static char states[4096];

static __attribute__((noinline)) double divide_once(void)
{
	return one / zero;
}

static __attribute__((noinline)) void divide(long n)
{
	for (long i = 0; i < n; i++)
		n_wrong += divide_once() != __builtin_inf();
}

static __attribute__((noinline)) void divide_x87(long n)
{
	volatile long double x = 1, y = 0;

	for (long i = 0; i < n; i++)
		n_wrong += x / y != (long double)__builtin_inf();
}

static __attribute__((noinline)) void make_small(long n)
{
	volatile double tiny = 0x1p-1022, by[] = { 0.5, 0.3 }, r;

	for (long i = 0; i < n; i++) {
		r = tiny * by[i & 1];
		n_wrong += r >= tiny;
	}
}

/* What the kernel has. */
static void tell_state(const char *who)
{
	uint64_t mask = 0, action[4] = { 0 };
	uint16_t control;
	size_t n = strlen(states);

	__asm__ volatile("fnstcw %0" : "=m"(control));
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	n += (size_t)snprintf(states + n, sizeof(states) - n, "%s %x %x %lx; ", who,
			      _mm_getcsr() & 0x1f80, control, (unsigned long)mask);
	for (int s = 1; s < 32 && !strcmp(who, "main"); s++) {
		if (s == SIGFPE)
			continue; /* has one in front of it that stays */
		syscall(SYS_rt_sigaction, s, NULL, action, 8);
		n += (size_t)snprintf(states + n, sizeof(states) - n, "%lx %lx %lx,",
				      (unsigned long)action[0], (unsigned long)action[1],
				      (unsigned long)action[3]);
	}
}

static void on_user(int signal)
{
	n_signals++;
	divide(signal == SIGUSR1);
}

static void wait_there(int signal)
{
	(void)signal;
	is_parked = 1;
	while (!may_leave)
		usleep(1000);
	is_parked = 0;
}

static void leave(int signal, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	n_signals++;
	siglongjmp(back, signal);
}

static void enabled(long n)
{
	feenableexcept(FE_DIVBYZERO);
	for (long i = 0; i < n; i++) {
		feenableexcept(FE_DIVBYZERO);
		if (!sigsetjmp(back, 1)) {
			divide_once();
			n_wrong++;
		}
	}
	fedisableexcept(FE_ALL_EXCEPT);
}

/* Threads that were there before. */
static struct worker {
	const char *name;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	void (*job)(struct worker *w);
	long n;
} workers[] = { { .name = "worker" }, { .name = "blocker" } };

static void do_divide(struct worker *w)
{
	divide(w->n);
}

static void do_park(struct worker *w)
{
	(void)w;
	raise(SIGUSR2);
}

static void do_tell(struct worker *w)
{
	tell_state(w->name);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	sigset_t all;

	sigfillset(&all);
	if (w == &workers[1])
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->job)
			pthread_cond_wait(&w->cond, &w->lock);
		w->job(w);
		w->job = NULL;
		pthread_cond_broadcast(&w->cond);
	}
	return NULL;
}

static void begin(struct worker *w, void (*job)(struct worker *), long n)
{
	pthread_mutex_lock(&w->lock);
	w->n = n;
	w->job = job;
	pthread_cond_broadcast(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

static void finish(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->job)
		pthread_cond_wait(&w->cond, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void *divide_in_new(void *n)
{
	divide((long)n);
	return NULL;
}

static void *spin(void *arg)
{
	while (is_spinning) {
		divide(1);
		n_spun++;
	}
	return arg;
}

/* Of glibc since 2.28, as its header tells to whoever asks for more than this program
 * does. */
__attribute__((weak)) float fadd(double a, double b);

/* By turns in both units. */
static void *add_up(void *arg)
{
	volatile double x = (double)(intptr_t)arg;
	volatile long double y = 1;
	uint16_t control;

	while (is_spinning) {
		x = fadd ? (double)fadd(x, 0.7) : 1;
		if (arg)
			y = fmal(1.1L, 0.9L, y) - 1;
	}
	__asm__ volatile("fnstcw %0" : "=m"(control));
	if (may_divide)
		divide(100);
	else if ((_mm_getcsr() & 0x1f80) != 0x1f80 || (control & 0x3f) != 0x3f)
		__atomic_fetch_add(&n_wrong, 1, __ATOMIC_RELAXED);
	return arg;
}

static void begin_adding(void)
{
	is_spinning = 1;
	for (intptr_t i = 0; i < N_SUMMERS; i++)
		pthread_create(&summers[i], NULL, add_up, (void *)(i % 2));
}

static void end_adding(bool is_to_divide)
{
	may_divide = is_to_divide;
	is_spinning = 0;
	for (int i = 0; i < N_SUMMERS; i++)
		pthread_join(summers[i], NULL);
}

static void divide_in(const char *who, long n)
{
	pthread_t t;
	pid_t pid = 0;

	if (!strcmp(who, "main"))
		divide(n);
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
		if (!strcmp(who, workers[i].name)) {
			begin(&workers[i], do_divide, n);
			finish(&workers[i]);
		}
	if (!strcmp(who, "new")) {
		pthread_create(&t, NULL, divide_in_new, (void *)n);
		pthread_join(t, NULL);
	}
	if (!strcmp(who, "child")) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			divide(n);
			for (;;)
				pause();
		}
	}
	printf("divided %d\n", (int)pid);
}

static void tell_hash(void)
{
	uint64_t hash = 14695981039346656037u;
	double x = 1e-300;

	for (int i = 0; i < 2000; i++) {
		double r = i % 7 ? x * (i * 0.37) : x / (i % 3 - 1);

		x = r > 1e300 || r != r || r == 0 ? 1e-310 : r;
		for (unsigned k = 0; k < sizeof(r); k++)
			hash = (hash ^ ((const unsigned char *)&r)[k]) * 1099511628211u;
	}
	printf("%llx\n", (unsigned long long)hash);
}

static void tell_states(void)
{
	states[0] = '\0';
	tell_state("main");
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		begin(&workers[i], do_tell, 0);
		finish(&workers[i]);
	}
	printf("%s\n", states);
}

static void park(void)
{
	may_leave = 0;
	begin(&workers[0], do_park, 0);
	while (!is_parked)
		usleep(1000);
	puts("parked");
}

static void signals(long n)
{
	for (long i = 0; i < n; i++)
		raise(SIGUSR1);
	printf("%d\n", (int)n_signals);
}

static void rest(pthread_t t)
{
	is_spinning = 0;
	pthread_join(t, NULL);
	printf("%ld\n", n_spun);
}

static void obey(const char *line)
{
	static pthread_t spinner;
	char word[16] = "", who[16] = "";
	long n = 0;

	if (sscanf(line, "%15s %15s %ld", word, who, &n) < 3)
		n = atol(who);
	if (!strcmp(word, "divide"))
		divide_in(who, n);
	else if (!strcmp(word, "handler"))
		signals(n);
	else if (!strcmp(word, "hash"))
		tell_hash();
	else if (!strcmp(word, "state"))
		tell_states();
	else if (!strcmp(word, "park"))
		park();
	else if (!strcmp(word, "rest"))
		rest(spinner);
	else {
		if (!strcmp(word, "x87"))
			divide_x87(n);
		else if (!strcmp(word, "small"))
			make_small(n);
		else if (!strcmp(word, "enabled"))
			enabled(n);
		else if (!strcmp(word, "add"))
			begin_adding();
		else if (!strcmp(word, "sum") || !strcmp(word, "masks"))
			end_adding(word[0] == 's');
		else if (!strcmp(word, "leave")) {
			may_leave = 1;
			finish(&workers[0]);
		} else if (!strcmp(word, "spin")) {
			is_spinning = 1;
			pthread_create(&spinner, NULL, spin, NULL);
		}
		printf("%d signals, %ld wrong, %ld spun, flags %x\n", (int)n_signals,
		       n_wrong, n_spun, (unsigned)fetestexcept(FE_ALL_EXCEPT));
	}
	fflush(stdout);
}

int main(void)
{
	struct sigaction a = { .sa_sigaction = leave, .sa_flags = SA_SIGINFO };
	struct sigaction user = { .sa_handler = on_user };
	char line[64];
	pthread_t t;

	sigaction(SIGFPE, &a, NULL);
	sigfillset(&user.sa_mask);
	sigaction(SIGUSR1, &user, NULL);
	signal(SIGUSR2, wait_there);
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		pthread_mutex_init(&workers[i].lock, NULL);
		pthread_cond_init(&workers[i].cond, NULL);
		pthread_create(&t, NULL, work, &workers[i]);
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return n_wrong != 0;
}
