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
#include "host/clock.h"
#include "wire/injected.h"

/* In place of what is done to a process: by its number. */
#define N     40
#define FAILS 1		    /* what is done at last, too */
static unsigned n_fail = 1; /* every one of them from that on with an odd number */
#define FAILS_AT_LAST(pid)  ((pid) % 2 && (unsigned)(pid) < FAILS + 2 * n_fail)
#define IS_TRIED_AGAIN(pid) ((pid) % 2 == 0)

struct inject {
	pid_t pid;
};

const char *const inject_why_not = NULL;
static struct inject all[N];
static struct wire_injected heads[N];
static atomic_uint n_freed;

/* Of the thread that waits for the others; somebody is late for it, or nobody. */
#define TRIES	 30000
#define TRY_NS	 UINT64_C(10000000000)
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

/* The longest that one was to be tried, from when that was known. */
static _Atomic uint64_t longest_ns;

static void note_time(uint64_t until_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;

	if (ns > longest_ns)
		longest_ns = ns;
}

static int try(pid_t pid, struct err *e)
{
	if (IS_TRIED_AGAIN(pid))
		err_set(e, ERR_LIMIT, "not yet");
	return FAILS_AT_LAST(pid) ? err_set(e, ERR_UNSUPPORTED, "never") : 0;
}

int inject_begin(pid_t pid, const char *directory, uint32_t traces, uint64_t until_ns,
		 struct inject **ret, struct err *e)
{
	int rc = try(pid, e);

	(void)directory;
	(void)traces;
	note_time(until_ns);
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

int inject_leave(struct inject *i, uint64_t until_ns, uint64_t *stood_ns, struct err *e)
{
	note_time(until_ns);
	*stood_ns += 1;
	if (is_late)
		wait_until_they_are_let_go();
	return try(i->pid, e);
}

int inject_leave_copy(const struct inject *i, pid_t pid, uint64_t until_ns, struct err *e)
{
	(void)i;
	(void)until_ns;
	return try(pid, e);
}

void inject_free(struct inject *i)
{
	n_freed += i != NULL;
}

const struct wire_injected *inject_head(const struct inject *i)
{
	return &heads[i->pid];
}

bool inject_is_first_of(const struct inject *i, const struct inject_copy *copy)
{
	(void)i;
	(void)copy;
	return false;
}

static void begin(struct inject_wish *wishes, size_t n, uint64_t until_ns)
{
	for (size_t i = 0; i < n; i++)
		wishes[i] = (struct inject_wish){ .pid = (pid_t)i };
	inject_several_begin(wishes, n, 1, until_ns);
}

static void who_is_begun_when_it_is_tried_again_is_begun(void **state)
{
	struct inject_wish wishes[N];

	(void)state;
	begin(wishes, N, UINT64_MAX);
	for (size_t i = 0; i < N; i++) {
		assert_ptr_equal(wishes[i].ret, i == FAILS ? NULL : &all[i]);
		assert_int_equal(wishes[i].why.code, i == FAILS ? ERR_UNSUPPORTED : 0);
	}
	begin(wishes, 1, UINT64_MAX);
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
		heads[i].first_pid = i;
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

static void each_has_its_time_and_none_more_than_there_is_for_all(void **state)
{
	struct inject_wish wishes[N];
	struct inject *those[] = { &all[2], &all[4] };
	uint64_t stood_ns = 0;

	(void)state;
	longest_ns = 0;
	begin(wishes, N, UINT64_MAX);
	assert_in_range(longest_ns, 1, TRY_NS);
	longest_ns = 0;
	begin(wishes, N, clock_monotonic_ns());
	assert_int_equal(longest_ns, 0);
	assert_int_equal(inject_several_end(those, 2, &stood_ns, NULL), 0);
	assert_in_range(longest_ns, 1, TRY_NS);
}

static void all_that_are_not_as_they_were_are_named(void **state)
{
	static const struct {
		unsigned n_fail;
		const char *text;
	} cases[] = {
		{ 1, "never" },
		{ 3, "never; nor are these as they were: 3, 5" },
		{ 9, "never; nor are these as they were: 3, 5, 7, 9, 11, 13, 15, 17" },
		{ 11, "never; nor are these as they were: 3, 5, 7, 9, 11, 13, 15, 17 and "
		      "2 more" },
	};
	struct inject *those[N];
	uint64_t stood_ns = 0;
	struct err e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		those[i] = &all[i];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n_fail = cases[i].n_fail;
		assert_int_equal(inject_several_end(those, N, &stood_ns, &e),
				 ERR_UNSUPPORTED);
		assert_string_equal(e.text, cases[i].text);
	}
	n_fail = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_begun_when_it_is_tried_again_is_begun),
		cmocka_unit_test(who_is_left_when_it_is_tried_again_is_left),
		cmocka_unit_test(who_is_late_goes_on_while_others_are_left),
		cmocka_unit_test(each_has_its_time_and_none_more_than_there_is_for_all),
		cmocka_unit_test(all_that_are_not_as_they_were_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
