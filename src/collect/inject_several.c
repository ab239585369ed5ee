/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_several.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "collect/count_late.h"
#include "collect/inject.h"
#include "collect/inject_copies.h"
#include "host/clock.h"
#include "wire/injected.h"

#define PROGRAMS_MAX 3
#define GENERATIONS  16 /* of children that make children while we go */

/* At once.  Where more threads wait for a CPU than there are it is a turn of all of them
 * until one stops; for work on so many there are CPUs enough until the next does. */
#define CREW_MAX 16
#define LATE_NS	 2000000
/* Of each, and of all. */
#define TRY_NS UINT64_C(10000000000)
#define END_NS UINT64_C(30000000000)

#define NAMES_MAX 8

/* Something that is done for each of several processes, by threads of ours of which each
 * traces one of them at a time, and waits for it most of the time. */
struct crew {
	void (*work)(void *ctx, size_t k);
	void *ctx;
	size_t n;
	atomic_size_t next;
};

static void take_turns(struct crew *c)
{
	size_t k;

	while ((k = atomic_fetch_add(&c->next, 1)) < c->n)
		c->work(c->ctx, k);
}

static void *be_one_of_crew(void *crew)
{
	take_turns(crew);
	count_late_await();
	count_late_forget();
	return NULL;
}

/* Signals are for the thread that waits for them. */
static size_t begin_crew(struct crew *c, pthread_t threads[CREW_MAX])
{
	sigset_t all, before;
	size_t n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < CREW_MAX && n < c->n &&
	       pthread_create(&threads[n], NULL, be_one_of_crew, c) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

/* Who is late for this thread is to stand no longer than it takes to see it. */
static void wait_for(pthread_t thread)
{
	for (count_late_let_go(); count_late_are_any(); count_late_let_go()) {
		if (pthread_tryjoin_np(thread, NULL) == 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = LATE_NS }, NULL);
	}
	pthread_join(thread, NULL);
}

static void do_for_each(size_t n, void (*work)(void *ctx, size_t k), void *ctx)
{
	struct crew c = { .work = work, .ctx = ctx, .n = n };
	pthread_t threads[CREW_MAX];
	size_t n_threads = n > 1 ? begin_crew(&c, threads) : 0;

	if (!n_threads)
		take_turns(&c);
	while (n_threads)
		wait_for(threads[--n_threads]);
}

/* What was tried again has left there why it did not do at first. */
static void forget_if_done(int rc, struct err *why)
{
	if (rc == 0)
		*why = (struct err){ 0 };
}

/* For one that begins now. */
static uint64_t try_until(uint64_t all_until_ns)
{
	uint64_t until_ns = clock_monotonic_ns() + TRY_NS;

	return until_ns < all_until_ns ? until_ns : all_until_ns;
}

struct begin {
	struct inject_wish *all;
	uint32_t traces;
	uint64_t until_ns;
};

/* Who executes another program meanwhile is another. */
static void begin_one(void *ctx, size_t k)
{
	const struct begin *b = ctx;
	struct inject_wish *w = &b->all[k];
	uint64_t until_ns = try_until(b->until_ns);
	unsigned n = 0;
	int rc;

	do {
		w->why = (struct err){ 0 };
		rc = inject_begin(w->pid, w->directory, b->traces, until_ns, &w->ret,
				  &w->why);
	} while (rc < 0 && w->why.os == ESRCH && ++n < PROGRAMS_MAX);
	forget_if_done(rc, &w->why);
}

void inject_several_begin(struct inject_wish *all, size_t n, uint32_t traces,
			  uint64_t until_ns)
{
	do_for_each(n, begin_one, &(struct begin){ all, traces, until_ns });
}

/* Of one that is left. */
struct leaving {
	struct inject *of;
	pid_t copy; /* 0: itself */
	uint64_t stood_ns;
	struct err why;
};

struct leave {
	VEC(struct leaving) all;
	uint64_t until_ns;
	struct err why; /* of the first that is not left as it was */
	pid_t first;
	VEC(pid_t) others; /* that are not either */
};

static void leave_fini(struct leave *l)
{
	vec_fini(&l->all);
	vec_fini(&l->others);
}

static void leave_one(void *ctx, size_t k)
{
	struct leave *l = ctx;
	struct leaving *x = &l->all.at[k];
	uint64_t until_ns = try_until(l->until_ns);
	int rc = x->copy ? inject_leave_copy(x->of, x->copy, until_ns, &x->why)
			 : inject_leave(x->of, until_ns, &x->stood_ns, &x->why);

	forget_if_done(rc, &x->why);
}

static void note_failure(struct leave *l, const struct leaving *x)
{
	pid_t pid = x->copy ? x->copy : (pid_t)inject_head(x->of)->first_pid;

	if (!l->why.code) {
		l->why = x->why;
		l->first = pid;
	}
	if (pid == l->first)
		return;
	vec_each(other, &l->others)
		if (*other == pid)
			return;
	*vec_push(&l->others) = pid;
}

/* How many are left as they were. */
static unsigned leave_all(struct leave *l, uint64_t *stood_ns)
{
	unsigned n = 0;

	do_for_each(l->all.n, leave_one, l);
	vec_each(x, &l->all) {
		*stood_ns += x->stood_ns;
		if (x->why.code)
			note_failure(l, x);
		else
			n++;
	}
	vec_clear(&l->all);
	return n;
}

static void name_others(struct leave *l)
{
	const size_t max = sizeof(l->why.text);
	char *text = l->why.text;

	for (size_t k = 0, n = strlen(text); k < l->others.n && k <= NAMES_MAX && n < max;
	     k++, n += strlen(text + n))
		if (k < NAMES_MAX)
			snprintf(text + n, max - n, "%s %d",
				 k ? "," : "; nor are these as they were:",
				 (int)l->others.at[k]);
		else
			snprintf(text + n, max - n, " and %zu more", l->others.n - k);
}

/* That it is a copy of; NULL: of none of them. */
static struct inject *find_first(struct inject *const *all, size_t n,
				 const struct inject_copy *copy)
{
	for (size_t k = 0; k < n; k++)
		if (inject_is_first_of(all[k], copy))
			return all[k];
	return NULL;
}

/* Those of one that has been left are made without. */
static void leave_copies(struct inject *const *all, size_t n, struct leave *l,
			 uint64_t *stood_ns)
{
	own(inject_copies_fini) struct inject_copies found = { 0 };
	unsigned n_new = 1;

	for (unsigned pass = 0; n_new && pass < GENERATIONS; pass++) {
		struct err trouble = { 0 };

		if (inject_copies_find(inject_head(all[0]), &found, &trouble) < 0 &&
		    !l->why.code)
			l->why = trouble;
		vec_each(copy, &found.of) {
			struct inject *i = find_first(all, n, copy);

			if (i)
				*vec_push(&l->all) =
					(struct leaving){ .of = i, .copy = copy->pid };
		}
		n_new = leave_all(l, stood_ns);
	}
}

int inject_several_end(struct inject *const *all, size_t n, uint64_t *stood_ns,
		       struct err *e)
{
	own(leave_fini) struct leave l = { .until_ns = clock_monotonic_ns() + END_NS };

	for (size_t k = 0; k < n; k++)
		*vec_push(&l.all) = (struct leaving){ .of = all[k] };
	leave_all(&l, stood_ns);
	if (n)
		leave_copies(all, n, &l, stood_ns);
	for (size_t k = 0; k < n; k++)
		inject_free(all[k]);
	name_others(&l);
	if (e && l.why.code)
		*e = l.why;
	return l.why.code;
}
