/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that does with floating-point exceptions what a program may, from when it is
 * loaded on (visited_late.c).  Each word is two divisions by zero, all is each of them:
 *	block	with their signal blocked
 *	hold	with exceptions put aside for one of them
 *	catch	that are signalled, to a handler that is there for them alone
 *	table	the same, by pointers that the linker has filled
 *	seek	the same, by pointers that are asked for
 */
#include <dlfcn.h>
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *late_does(const char *word);

typedef int action_fn(int signal, const struct sigaction *set, struct sigaction *get);
typedef int enable_fn(int types);

struct calls {
	action_fn *action;
	enable_fn *enable, *disable;
};

static struct calls table = { sigaction, feenableexcept, fedisableexcept };
static volatile double zero = 0, one = 1;
static volatile int n_caught, n_wrong;
static sigjmp_buf back;

static __attribute__((noinline)) void divide_late(void)
{
	n_wrong += one / zero != __builtin_inf();
}

static void block(void)
{
	sigset_t fpe, old;

	sigemptyset(&fpe);
	sigaddset(&fpe, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &fpe, &old);
	divide_late();
	divide_late();
	n_wrong += sigismember(&old, SIGFPE);
	sigprocmask(SIG_SETMASK, &old, &fpe);
	n_wrong += !sigismember(&fpe, SIGFPE);
}

static void hold(void)
{
	fenv_t env;

	feholdexcept(&env);
	divide_late();
	fesetenv(&env);
	divide_late();
}

static void on_fpe(int signal)
{
	n_caught++;
	siglongjmp(back, signal);
}

static void catch_by(const struct calls *c)
{
	struct sigaction a = { .sa_handler = on_fpe }, old, now;

	n_wrong += c->action(SIGFPE, &a, &old) != 0 || old.sa_handler != SIG_DFL;
	for (int i = 0; i < 2; i++) {
		c->enable(FE_DIVBYZERO);
		if (!sigsetjmp(back, 1)) {
			divide_late();
			n_wrong++;
		}
	}
	n_wrong += c->disable(FE_ALL_EXCEPT) != 0; /* as the handler had it */
	n_wrong += c->action(SIGFPE, &old, &now) != 0 || now.sa_handler != on_fpe;
}

static void catch_directly(void)
{
	const struct calls direct = { sigaction, feenableexcept, fedisableexcept };

	catch_by(&direct);
}

static void catch_by_table(void)
{
	catch_by(&table);
}

static void catch_by_seeking(void)
{
	const struct calls found = { (action_fn *)dlsym(RTLD_DEFAULT, "sigaction"),
				     (enable_fn *)dlsym(RTLD_DEFAULT, "feenableexcept"),
				     (enable_fn *)dlsym(RTLD_DEFAULT,
							"fedisableexcept") };

	catch_by(&found);
}

static const struct {
	const char *name;
	void (*fn)(void);
} words[] = {
	{ "block", block },	      { "hold", hold },
	{ "catch", catch_directly },  { "table", catch_by_table },
	{ "seek", catch_by_seeking },
};

/* What the program has of signals when it has loaded this one is as it was. */
__attribute__((constructor)) static void begin(void)
{
	block();
}

const char *late_does(const char *word)
{
	static char said[64];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].name) || !strcmp(word, "all"))
			words[i].fn();
	snprintf(said, sizeof(said), "%d caught, %d wrong", n_caught, n_wrong);
	return said;
}
