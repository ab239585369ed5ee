/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_several.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "collect/count_late.h"
#include "collect/inject.h"
#include "wire/injected.h"

/* In place of what is done to a process: by its number. */
#define N		    40
#define FAILS		    1 /* what is done at last, too */
#define IS_TRIED_AGAIN(pid) ((pid) % 2 == 0)

struct inject {
	pid_t pid;
};

const char *const inject_why_not = NULL;
static struct inject all[N];
static struct wire_injected head;
static atomic_uint n_freed;

/* Of the thread that waits for the others; somebody is late for it, or nobody. */
#define TRIES	 30000
#define N_LET_GO 3
static atomic_uint n_let_go;
static bool is_late;
/* Of the others. */
static atomic_uint n_awaited, n_forgotten;

void count_late_let_go(void)
{
	n_let_go++;
}

bool count_late_are_any(void)
{
	return is_late;
}

void count_late_await(void)
{
	n_awaited++;
}

void count_late_forget(void)
{
	n_forgotten++;
	assert_true(n_awaited >= n_forgotten);
}

static void wait_until_they_are_let_go(void)
{
	for (int i = 0; i < TRIES && n_let_go < N_LET_GO; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static int try(pid_t pid, struct err *e)
{
	if (IS_TRIED_AGAIN(pid))
		err_set(e, ERR_LIMIT, "not yet");
	return pid == FAILS ? err_set(e, ERR_UNSUPPORTED, "never") : 0;
}

int inject_begin(pid_t pid, const char *directory, uint32_t traces, struct inject **ret,
		 struct err *e)
{
	int rc = try(pid, e);

	(void)directory;
	(void)traces;
	all[pid].pid = pid;
	if (rc == 0)
		*ret = &all[pid];
	return rc;
}

int inject_look(struct inject *i, struct err *e)
{
	(void)i;
	(void)e;
	return 0;
}

int inject_leave(struct inject *i, uint64_t *stood_ns, struct err *e)
{
	*stood_ns += 1;
	if (is_late)
		wait_until_they_are_let_go();
	return try(i->pid, e);
}

int inject_leave_copy(const struct inject *i, pid_t pid, struct err *e)
{
	(void)i;
	return try(pid, e);
}

void inject_free(struct inject *i)
{
	n_freed += i != NULL;
}

const struct wire_injected *inject_head(const struct inject *i)
{
	(void)i;
	return &head;
}

bool inject_is_first_of(const struct inject *i, const struct inject_copy *copy)
{
	(void)i;
	(void)copy;
	return false;
}

static void begin(struct inject_wish *wishes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wishes[i] = (struct inject_wish){ .pid = (pid_t)i };
	inject_several_begin(wishes, n, 1);
}

static void who_is_begun_when_it_is_tried_again_is_begun(void **state)
{
	struct inject_wish wishes[N];

	(void)state;
	begin(wishes, N);
	for (size_t i = 0; i < N; i++) {
		assert_ptr_equal(wishes[i].ret, i == FAILS ? NULL : &all[i]);
		assert_int_equal(wishes[i].why.code, i == FAILS ? ERR_UNSUPPORTED : 0);
	}
	begin(wishes, 1);
	assert_non_null(wishes[0].ret);
	assert_int_equal(wishes[0].why.code, 0);
}

static void who_is_left_when_it_is_tried_again_is_left(void **state)
{
	struct inject *those[N];
	uint64_t stood_ns = 0;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < N; i++) {
		all[i].pid = (pid_t)i;
		those[i] = &all[i];
	}
	n_freed = 0;
	assert_int_equal(inject_several_end(those, FAILS, &stood_ns, &e), 0);
	assert_int_equal(
		inject_several_end(those + FAILS + 1, N - FAILS - 1, &stood_ns, &e), 0);
	assert_int_equal(e.code, 0);
	assert_int_equal(stood_ns, N - 1);
	assert_int_equal(n_freed, N - 1);
	assert_int_equal(inject_several_end(those, N, &stood_ns, &e), ERR_UNSUPPORTED);
	assert_string_equal(e.text, "never");
}

static void who_is_late_goes_on_while_others_are_left(void **state)
{
	struct inject *those[] = { &all[2], &all[4] };
	uint64_t stood_ns = 0;

	(void)state;
	is_late = true;
	n_let_go = 0;
	assert_int_equal(inject_several_end(those, 2, &stood_ns, NULL), 0);
	assert_true(n_let_go >= N_LET_GO);
	is_late = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_begun_when_it_is_tried_again_is_begun),
		cmocka_unit_test(who_is_left_when_it_is_tried_again_is_left),
		cmocka_unit_test(who_is_late_goes_on_while_others_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
