/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/procfs.h"
#include "wire/injected.h"

#define LIBRARY 77

static const char nothing[] = "400000-401000 r-xp 00000000 08:01 5 /bin/a\n";
static const char first[] = "468040000000-468040100000 rw-p 00000000 00:00 0 \n";

/* Of the first place, all that there is. */
static bool read_head(void *ctx, uint64_t at, void *to, size_t bytes)
{
	if (at != INJECT_PLACE_FIRST || bytes != sizeof(struct wire_injected))
		return false;
	memcpy(to, ctx, bytes);
	return true;
}

static int choose(const struct wire_injected *head, const char *maps, uint64_t from,
		  struct inject_place *ret)
{
	struct inject_memory m = { read_head, (void *)head };

	return inject_place_choose(&m, from, maps, strlen(maps), LIBRARY, ret, NULL);
}

static struct wire_injected head_of(bool is_patched, uint32_t owner, uint64_t start)
{
	return (struct wire_injected){ .magic = WIRE_INJECTED_MAGIC,
				       .library = LIBRARY,
				       .is_patched = is_patched,
				       .owner_pid = owner,
				       .owner_start = start };
}

static void where_nothing_is_there_is_room(void **state)
{
	struct inject_place p;

	(void)state;
	assert_int_equal(choose(NULL, nothing, 0, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST);
	assert_false(p.is_mapped);
}

static void what_was_left_is_used_again(void **state)
{
	struct wire_injected head = head_of(false, 1, 1);
	struct inject_place p;

	(void)state;
	assert_int_equal(choose(&head, first, 0, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST);
	assert_true(p.is_mapped);
	assert_int_equal(choose(&head, first, INJECT_PLACE_FIRST + 1, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST + INJECT_PLACE_STRIDE);
	head.library++;
	assert_int_equal(choose(&head, first, 0, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST + INJECT_PLACE_STRIDE);
	head.magic = 0; /* it is another's memory */
	assert_int_equal(choose(&head, first, 0, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST + INJECT_PLACE_STRIDE);
}

static void what_is_in_use_is_not_while_its_owner_lives(void **state)
{
	struct procfs_stat own = { 0 };
	struct inject_place p;

	(void)state;
	assert_int_equal(procfs_stat(getpid(), &own, NULL), 0);

	struct wire_injected head = head_of(true, (uint32_t)getpid(), own.start_ns);

	assert_true(choose(&head, first, 0, &p) < 0);
	head.owner_start++; /* the pid is another's now */
	assert_int_equal(choose(&head, first, 0, &p), 0);
	assert_int_equal(p.at, INJECT_PLACE_FIRST);
}

static void who_is_led_by_this_recorder_is_known(void **state)
{
	struct procfs_stat own = { 0 };

	(void)state;
	assert_int_equal(procfs_stat(getpid(), &own, NULL), 0);

	struct wire_injected head = head_of(true, (uint32_t)getpid(), own.start_ns);
	struct inject_memory m = { read_head, &head };

	assert_true(inject_place_is_led(&m, getpid()));
	assert_false(inject_place_is_led(&m, getppid()));
	head.owner_start++; /* by one that had its pid */
	assert_false(inject_place_is_led(&m, getpid()));
	head = head_of(false, (uint32_t)getpid(), own.start_ns);
	assert_false(inject_place_is_led(&m, getpid()));
	head = head_of(true, (uint32_t)getpid(), own.start_ns);
	head.magic = 0;
	assert_false(inject_place_is_led(&m, getpid()));
}

/* Of a stale address a program has written over the lower half. */
static void no_place_is_at_a_small_number(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < INJECT_PLACE_N; i++)
		assert_in_range((uint32_t)(INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE),
				1 << 30, INT32_MAX);
}

/* A place and what it is told of two calls. */
struct told {
	struct wire_injected head;
	struct wire_injected_call calls[2];
};

static bool read_second(void *ctx, uint64_t at, void *to, size_t bytes)
{
	uint64_t off = at - INJECT_PLACE_FIRST - INJECT_PLACE_STRIDE;

	if (off > sizeof(struct told) || bytes > sizeof(struct told) - off)
		return false;
	memcpy(to, (const char *)ctx + off, bytes);
	return true;
}

static void what_a_wrapper_leads_to_is_told_at_its_place(void **state)
{
	struct told told = { .head = head_of(true, 1, 1),
			     .calls = { { "free", 0x700 }, { "malloc", 0x800 } } };
	struct inject_memory m = { read_second, &told };
	uint64_t here = INJECT_PLACE_FIRST + INJECT_PLACE_STRIDE + 0x5000;

	(void)state;
	told.head.n_calls = 2;
	assert_int_equal(inject_place_leads_to(&m, here, "malloc"), 0x800);
	assert_int_equal(inject_place_leads_to(&m, here, "mall"), 0);
	assert_int_equal(inject_place_leads_to(&m, here - INJECT_PLACE_STRIDE, "malloc"),
			 0);
	told.head.n_calls = 1;
	assert_int_equal(inject_place_leads_to(&m, here, "malloc"), 0);
	told.head.n_calls = UINT64_MAX;
	assert_int_equal(inject_place_leads_to(&m, here, "calloc"), 0);
	told.head.magic = 0;
	assert_int_equal(inject_place_leads_to(&m, here, "free"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_wrapper_leads_to_is_told_at_its_place),
		cmocka_unit_test(where_nothing_is_there_is_room),
		cmocka_unit_test(what_was_left_is_used_again),
		cmocka_unit_test(who_is_led_by_this_recorder_is_known),
		cmocka_unit_test(no_place_is_at_a_small_number),
		cmocka_unit_test(what_is_in_use_is_not_while_its_owner_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
