/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/call_shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/metrics.h"
#include "recording_builder.h"

static char path[64];

static int make_path(void **state unused)
{
	snprintf(path, sizeof(path), "/tmp/dwell-call_shares-%d.dwell", getpid());
	return 0;
}

static int remove_path(void **state unused)
{
	unlink(path);
	return 0;
}

#define EVENT "event instructions unit=count period=1 flags=exact,pc-only\n"

static struct profile *load(const char *text)
{
	own(freep) char *whole = NULL;
	struct profile *p = NULL;
	const char *paths[] = { path };
	struct err e = { 0 };

	assert_true(asprintf(&whole, "%s%s", EVENT, text) > 0);
	recording_builder_write(path, whole);
	if (profile_load(paths, 1, &(struct profile_options){ .is_worked_out = true }, &p,
			 &e) < 0)
		fail_msg("%s", e.text);
	assert_true(profile_has_calls(p));
	return p;
}

static uint32_t find(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		if (strcmp(profile_function(p, i)->name, name) == 0)
			return i;
	fail_msg("no function %s", name);
	return 0;
}

/* Of instructions, the first column. */
static uint64_t inclusive(const struct profile *p, const char *name)
{
	struct metrics m;
	uint64_t value;

	metrics_sum(&m, p, NULL, 0);
	value = m.inclusive[find(p, name) * m.n_columns];
	metrics_fini(&m);
	return value;
}

static uint64_t value_of(const struct metrics_edge *edges, size_t n, uint32_t function)
{
	for (size_t i = 0; i < n; i++)
		if (edges[i].function == function)
			return edges[i].values[0];
	return 0;
}

static uint64_t from_caller(const struct profile *p, const char *function,
			    const char *caller)
{
	struct metrics_butterfly b;
	uint64_t value;

	metrics_attribute(&b, p, find(p, function));
	value = value_of(b.callers, b.n_callers, find(p, caller));
	metrics_butterfly_fini(&b);
	return value;
}

static uint64_t to_callee(const struct profile *p, const char *function,
			  const char *callee)
{
	struct metrics_butterfly b;
	uint64_t value;

	metrics_attribute(&b, p, find(p, function));
	value = value_of(b.callees, b.n_callees, find(p, callee));
	metrics_butterfly_fini(&b);
	return value;
}

/* The example of the manual of SpeedShop: sin takes 1000, foo calls it 25 times and bar
 * 75 times. */
static void callers_share_by_how_often_they_call(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main+0x0 10\nfoo+0x0 5\nbar+0x0 7\nsin+0x0 1000\n"
		     "basic-block main+0x0 4 1 call 2\n"
		     "basic-block foo+0x0 4 1 call 25\n"
		     "basic-block bar+0x0 4 1 call 75\n"
		     "basic-block sin+0x0 4 1 return 100\n"
		     "edge 0 call 1 foo+0x0\nedge 0 call 1 bar+0x0\n"
		     "edge 1 call 25 sin+0x0\nedge 2 call 75 sin+0x0\n");

	assert_int_equal(inclusive(p, "sin"), 1000);
	assert_int_equal(inclusive(p, "foo"), 255);
	assert_int_equal(inclusive(p, "bar"), 757);
	assert_int_equal(inclusive(p, "main"), 1022);
	assert_int_equal(from_caller(p, "sin", "foo"), 250);
	assert_int_equal(from_caller(p, "sin", "bar"), 750);
	assert_int_equal(to_callee(p, "main", "foo"), 255);
	assert_int_equal(from_caller(p, "foo", "main"), 255);
}

/* A function that calls itself is in itself once. */
static void recursion_counts_once(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main+0x0 10\nfib+0x0 900\n"
		     "basic-block main+0x0 4 1 call 1\n"
		     "basic-block fib+0x0 4 1 call 90\n"
		     "edge 0 call 1 fib+0x0\nedge 1 call 89 fib+0x0\n");

	assert_int_equal(inclusive(p, "fib"), 900);
	assert_int_equal(inclusive(p, "main"), 910);
}

/* Those that call each other are one to those outside, and each has of it what came in
 * by it: here all by expression. */
static void a_circle_is_one_to_those_outside(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main+0x0 10\nexpression+0x0 100\nterm+0x0 300\ntoken+0x0 40\n"
		     "basic-block main+0x0 4 1 call 1\n"
		     "basic-block expression+0x0 4 1 call 50\n"
		     "basic-block term+0x0 4 1 call 60\n"
		     "basic-block token+0x0 4 1 return 20\n"
		     "edge 0 call 10 expression+0x0\n"
		     "edge 1 call 60 term+0x0\n"
		     "edge 2 call 40 expression+0x0\n"
		     "edge 2 call 20 token+0x0\n");

	assert_int_equal(inclusive(p, "main"), 450);
	assert_int_equal(inclusive(p, "expression"), 440);
	assert_int_equal(inclusive(p, "term"), 340);
	assert_int_equal(from_caller(p, "token", "term"), 40);
}

/* Left to the callee what is to be returned: a jump to another function's begin. */
static void a_jump_to_a_function_is_a_call_and_one_into_it_is_none(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main+0x0 10\nstub+0x0 1\nwork+0x0 500\nother+0x0 30\n"
		     "basic-block main+0x0 4 1 call 1\n"
		     "basic-block stub+0x0 4 1 jump 1\n"
		     "basic-block work+0x0 4 1 return 1\n"
		     "basic-block work+0x8 4 1 return 1\n"
		     "basic-block other+0x0 4 1 jump 1\n"
		     "edge 0 call 1 stub+0x0\nedge 1 taken 1 work+0x0\n"
		     "edge 4 taken 1 work+0x8\n");

	assert_int_equal(inclusive(p, "main"), 511);
	assert_int_equal(inclusive(p, "stub"), 501);
	assert_int_equal(inclusive(p, "other"), 30);
}

/* What a thread or a signal begins with has no caller for that part. */
static void what_is_entered_from_outside_has_a_share_without_caller(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main+0x0 10\nhandler+0x0 400\n"
		     "basic-block main+0x0 4 1 call 1\n"
		     "basic-block handler+0x0 4 1 return 4\n"
		     "edge 0 call 1 handler+0x0\nedge 1 entered 3\n");

	assert_int_equal(inclusive(p, "main"), 110);
	assert_int_equal(from_caller(p, "handler", "main"), 100);
}

/* A library's function is another one in each program: here it is long in one of them. */
static void programs_do_not_mix(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("process 1 a exe=/bin/a\nprocess 2 b exe=/bin/b\n"
		     "first 10 pid=1\nwork_[k] 30 pid=1\n"
		     "second 20 pid=2\nwork_[k] 900 pid=2\n"
		     "basic-block first 4 1 call 10 pid=1\n"
		     "basic-block work_[k] 4 1 return 30 pid=1\n"
		     "basic-block second 4 1 call 20 pid=2\n"
		     "basic-block work_[k] 4 1 return 900 pid=2\n"
		     "edge 0 call 10 work_[k]\nedge 2 call 1 work_[k]\n");

	assert_int_equal(inclusive(p, "work"), 930);
	assert_int_equal(inclusive(p, "first"), 40);
	assert_int_equal(inclusive(p, "second"), 920);
	assert_int_equal(from_caller(p, "work", "first"), 30);
	assert_int_equal(from_caller(p, "work", "second"), 900);
}

/* What was bound when it was called first belongs to the stub that it was called by. */
static void the_linkers_resolver_calls_nothing(void **state unused)
{
	own(profile_freep) struct profile *p = load(
		"main+0x0 10\nwork@plt+0x0 2\nrest@plt+0x0 2\n"
		"_dl_runtime_resolve_xsave+0x0 50\nwork+0x0 1000\nrest+0x0 3\n"
		"basic-block main+0x0 4 1 call 1\n"
		"basic-block work@plt+0x0 4 1 jump 1\n"
		"basic-block rest@plt+0x0 4 1 jump 1\n"
		"basic-block _dl_runtime_resolve_xsave+0x0 4 1 indirect-jump 2\n"
		"basic-block work+0x0 4 1 return 1\n"
		"basic-block rest+0x0 4 1 return 1\n"
		"edge 0 call 1 work@plt+0x0\nedge 0 call 1 rest@plt+0x0\n"
		"edge 1 taken 1 _dl_runtime_resolve_xsave+0x0\n"
		"edge 2 taken 1 _dl_runtime_resolve_xsave+0x0\n"
		"edge 3 indirect-jump 1 work+0x0\nedge 3 indirect-jump 1 rest+0x0\n");

	assert_int_equal(inclusive(p, "_dl_runtime_resolve_xsave"), 50);
	assert_int_equal(inclusive(p, "work@plt"), 1027);
	assert_int_equal(inclusive(p, "rest@plt"), 30);
	assert_int_equal(inclusive(p, "main"), 1067);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_share_by_how_often_they_call),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(a_circle_is_one_to_those_outside),
		cmocka_unit_test(a_jump_to_a_function_is_a_call_and_one_into_it_is_none),
		cmocka_unit_test(what_is_entered_from_outside_has_a_share_without_caller),
		cmocka_unit_test(programs_do_not_mix),
		cmocka_unit_test(the_linkers_resolver_calls_nothing),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
