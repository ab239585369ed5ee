/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracer_visits.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject.h"
#include "collect/inject_interrupt.h"
#include "collect/inject_several.h"
#include "collect/source.h"
#include "collect/unfollowed.h"
#include "host/clock.h"

/* In place of what is done to a process, by the place where it was put first. */
#define N	 5
#define TRIES	 30000
#define LONG_NS	 30000000 /* more than all have together */
#define ENDS_MAX 8

struct inject {
	unsigned n_looks;
	bool takes_long, is_to_be_left;
};

const char *const inject_why_not = NULL;
static struct inject all[N];
static struct inject *left[ENDS_MAX];
static size_t n_left;
static const char *noted;
static pid_t interrupted[N]; /* the last of them */
static size_t n_interrupted;

uint64_t inject_interrupt(pid_t pid, pid_t tid)
{
	assert_int_equal(pid, tid);
	interrupted[n_interrupted++ % N] = pid;
	nanosleep(&(struct timespec){ .tv_nsec = LONG_NS }, NULL);
	return 1;
}

int inject_look(struct inject *i, struct err *e)
{
	i->n_looks++;
	if (i->takes_long)
		nanosleep(&(struct timespec){ .tv_nsec = LONG_NS }, NULL);
	return i->is_to_be_left ? err_set(e, ERR_UNSUPPORTED, "it may cancel") : 0;
}

void inject_several_begin(struct inject_wish *wishes, size_t n, uint32_t traces,
			  uint64_t until_ns)
{
	(void)wishes;
	(void)n;
	(void)traces;
	(void)until_ns;
}

int inject_several_end(struct inject *const *these, size_t n, uint64_t *stood_ns,
		       struct err *e)
{
	(void)stood_ns;
	(void)e;
	for (size_t i = 0; i < n && n_left < ENDS_MAX; i++)
		left[n_left++] = these[i];
	return 0;
}

void unfollowed_note(const struct tracker *t, struct writer *w, uint32_t pid,
		     const char *exe, const char *why)
{
	(void)t;
	(void)w;
	(void)pid;
	(void)exe;
	assert_non_null(strstr(why, "it may cancel"));
	noted = "noted";
}

static const struct source_context context;

static void set_up(struct tracer_visits *ret)
{
	*ret = (struct tracer_visits){ .context = &context };
	memset(all, 0, sizeof(all));
	n_left = 0;
	noted = NULL;
	for (size_t i = 0; i < N; i++)
		*vec_push(&ret->injected) =
			(struct tracer_visit){ .pid = (pid_t)i, .inject = &all[i] };
}

/* Of one and the same, until it is the next one's turn. */
static void each_has_its_turn_when_all_take_too_long(void **state)
{
	struct tracer_visits v;

	(void)state;
	set_up(&v);
	for (size_t i = 0; i < N; i++)
		all[i].takes_long = true;
	for (unsigned n = 0; n < 3 * N; n++) {
		tracer_visits_look(&v);
		for (unsigned i = 0; i < N; i++)
			assert_int_equal(all[i].n_looks, n / N + (i <= n % N));
	}
	tracer_visits_fini(&v);
	assert_int_equal(n_left, N);
}

static void all_are_looked_at_where_there_is_time(void **state)
{
	struct tracer_visits v;
	bool is_at_once = false;

	(void)state;
	set_up(&v);
	/* If nobody else has our CPU for so long. */
	for (unsigned n = 0; n < TRIES && !is_at_once; n++) {
		unsigned before = all[0].n_looks;

		v.next = 0;
		tracer_visits_look(&v);
		is_at_once = all[0].n_looks == before + 1;
		for (size_t i = 1; i < N; i++)
			is_at_once &= all[i].n_looks == all[0].n_looks;
		if (!is_at_once)
			for (size_t i = 0; i < N; i++)
				all[i].n_looks = 0;
	}
	assert_true(is_at_once);
	tracer_visits_fini(&v);
}

static void who_is_left_meanwhile_is_in_nobodys_way(void **state)
{
	struct tracer_visits v;

	(void)state;
	set_up(&v);
	all[1].is_to_be_left = all[4].is_to_be_left = true;
	for (unsigned i = 0; i < TRIES && v.injected.n > N - 2; i++)
		tracer_visits_look(&v);
	assert_int_equal(n_left, 2);
	assert_true(left[0] != left[1] && (left[0] == &all[1] || left[0] == &all[4]) &&
		    (left[1] == &all[1] || left[1] == &all[4]));
	assert_non_null(noted);
	for (unsigned i = 0; i < TRIES && (all[0].n_looks < 3 || all[2].n_looks < 3 ||
					   all[3].n_looks < 3);
	     i++)
		tracer_visits_look(&v);
	assert_int_equal(all[1].n_looks, 1);
	assert_int_equal(all[4].n_looks, 1);
	tracer_visits_fini(&v);
	assert_int_equal(n_left, N);
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void visit(struct tracer_visits *v, pid_t pid, bool is_refused)
{
	*map_slot(&v->visited, (uint64_t)pid, NULL) = 1;
	if (is_refused)
		*map_slot(&v->refused, (uint64_t)pid, NULL) = 1;
}

/* Not those who were refused or are gone; and rings are looked at in between, however
 * long it takes. */
static void who_may_wait_is_interrupted_by_and_by(void **state)
{
	struct tracer_visits v = { .context = &context };
	pid_t first = make_child(), second = make_child(), refused = make_child(),
	      ended = make_child();
	siginfo_t info;

	(void)state;
	kill(ended, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
	visit(&v, first, false);
	visit(&v, second, false);
	visit(&v, refused, true);
	visit(&v, ended, false);
	tracer_visits_interrupt(&v);
	assert_int_equal(n_interrupted, 0);
	for (size_t n = 1; n <= 2; n++) {
		tracer_visits_look(&v);
		assert_int_equal(n_interrupted, n);
	}
	tracer_visits_look(&v);
	assert_int_equal(n_interrupted, 2);
	assert_int_equal(v.stood_ns, 2);
	assert_int_equal(interrupted[0] + interrupted[1], first + second);
	assert_int_not_equal(interrupted[0], interrupted[1]);
	tracer_visits_fini(&v);
	end_child(first);
	end_child(second);
	end_child(refused);
	end_child(ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_turn_when_all_take_too_long),
		cmocka_unit_test(all_are_looked_at_where_there_is_time),
		cmocka_unit_test(who_is_left_meanwhile_is_in_nobodys_way),
		cmocka_unit_test(who_may_wait_is_interrupted_by_and_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
