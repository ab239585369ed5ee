/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "inject/stack_room.h"

#define STACK_BYTES (256 << 10)
#define BELOW_BYTES (1 << 20)

struct rooms {
	bool has_half, has_all, has_more;
};

static void *look(void *to)
{
	struct rooms *r = to;

	r->has_half = stack_room_is(STACK_BYTES / 2);
	r->has_all = stack_room_is(STACK_BYTES);
	r->has_more = stack_room_is(SIZE_MAX);
	return NULL;
}

static void a_thread_has_what_its_stack_has(void **state)
{
	struct rooms r = { false, true, true };
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, look, &r), 0);
	pthread_join(thread, NULL);
	assert_true(r.has_half);
	assert_false(r.has_all);
	assert_false(r.has_more);
}

static void the_first_threads_grows(void **state)
{
	(void)state;
	assert_true(stack_room_is(STACK_BYTES));
}

static struct rooms in_handler;

static void handle(int signal)
{
	(void)signal;
	look(&in_handler);
}

/* What is below can be read, and is somebody else's. */
static void a_handlers_ends_where_it_was_said(void **state)
{
	char *memory = mmap(NULL, BELOW_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t s = { .ss_sp = memory + BELOW_BYTES, .ss_size = STACK_BYTES };
	stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(sigaltstack(&s, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	in_handler = (struct rooms){ false, true, true };
	raise(SIGUSR1);
	assert_int_equal(sigaltstack(&none, NULL), 0);
	munmap(memory, BELOW_BYTES + STACK_BYTES);
	assert_true(in_handler.has_half);
	assert_false(in_handler.has_all);
	assert_false(in_handler.has_more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_what_its_stack_has),
		cmocka_unit_test(the_first_threads_grows),
		cmocka_unit_test(a_handlers_ends_where_it_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
