/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_hotplug.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf_fixture.h"

#define LOOK_NS 100000000
#define MS	1000000
/* Not online, however large the machine. */
#define NO_CPU (CPUS_MAX - 1)

static void set_up(struct perf_fixture *f, enum scope_kind kind)
{
	perf_fixture_init(f, kind);
	perf_fixture_add_samples(f);
}

/* As if the last look had not seen the machine's last CPU. */
static uint32_t forget_last_cpu(struct perf_hotplug *h)
{
	return h->watch.open.at[--h->watch.open.n].id;
}

static void a_look_at_what_has_not_changed_opens_nothing(void **state)
{
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;

	(void)state;
	set_up(&f, SCOPE_CPUS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	for (uint64_t t = 1; t < 5; t++)
		assert_false(perf_hotplug_check(&h, t * LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 0);
	assert_int_equal(f.files.files.n, 0);
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

static void a_cpu_that_comes_is_observed_from_the_next_look_on(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;
	uint32_t cpu;

	(void)state;
	set_up(&f, SCOPE_CPUS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	assert_false(perf_hotplug_check(&h, LOOK_NS, &f.files, true));
	cpu = forget_last_cpu(&h);
	if (!h.watch.open.n)
		skip();
	assert_false(perf_hotplug_check(&h, 2 * LOOK_NS - 1, &f.files, true));
	assert_true(perf_hotplug_check(&h, 2 * LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 1);
	assert_int_equal(h.watch.open.at[h.watch.open.n - 1].id, cpu);
	perf_fixture_pin(cpu);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.n >= 10);
	assert_int_equal(seen.n, seen.on[cpu]);
	assert_false(perf_hotplug_check(&h, 3 * LOOK_NS, &f.files, true));
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

static void a_cpu_that_cannot_be_opened_yet_is_tried_at_every_look(void **state)
{
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;

	(void)state;
	set_up(&f, SCOPE_CPUS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	forget_last_cpu(&h);
	if (!h.watch.open.n)
		skip();
	perf_fixture_break(&f, 0);
	assert_false(perf_hotplug_check(&h, 2 * LOOK_NS, &f.files, true));
	assert_false(perf_hotplug_check(&h, 3 * LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 0);
	perf_fixture_mend(&f, 0);
	assert_true(perf_hotplug_check(&h, 4 * LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 1);
	assert_int_equal(f.files.files.n, 1);
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

static void a_cpu_that_goes_is_a_change_and_opens_nothing(void **state)
{
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;

	(void)state;
	set_up(&f, SCOPE_CPUS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	*vec_push(&h.watch.open) = (struct cpu_watch_one){ .id = NO_CPU };
	assert_false(perf_hotplug_check(&h, 2 * LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 1);
	assert_int_not_equal(h.watch.open.at[h.watch.open.n - 1].id, NO_CPU);
	assert_int_equal(f.files.files.n, 0);
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

static void a_cpu_that_nobody_saw_go_is_observed_again(void **state)
{
	struct perf_fixture_seen seen = { 0 }, later = { 0 };
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;
	uint64_t counted;
	uint32_t cpu;
	size_t n;

	(void)state;
	set_up(&f, SCOPE_CPUS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	assert_int_equal(perf_files_open(&f.files, -1, NULL), 0);
	perf_files_enable(&f.files, true);
	cpu = h.watch.open.at[0].id;
	perf_fixture_pin(cpu);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	n = f.files.files.n;
	counted = perf_files_count(&f.files, 0);
	h.watch.open.at[0].life++; /* another than it has now */
	assert_true(perf_hotplug_check(&h, LOOK_NS, &f.files, true));
	assert_int_equal(h.watch.n_changes, 2);
	/* What had ended is closed; what it had counted and written is there. */
	assert_int_equal(f.files.files.n, n + 1);
	assert_int_equal(f.files.files.at[0].fd, -1);
	assert_true(perf_files_count(&f.files, 0) >= counted);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.on[cpu] >= 10);
	perf_files_enable(&f.files, true);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &later);
	assert_true(later.on[cpu] >= 10);
	assert_false(perf_hotplug_check(&h, 2 * LOOK_NS, &f.files, true));
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

static void events_of_threads_need_no_opening(void **state)
{
	struct perf_hotplug h = { 0 };
	struct perf_fixture f;

	(void)state;
	set_up(&f, SCOPE_THREADS);
	assert_int_equal(perf_hotplug_begin(&h, NULL), 0);
	forget_last_cpu(&h);
	if (!h.watch.open.n)
		skip();
	assert_true(perf_hotplug_check(&h, 2 * LOOK_NS, &f.files, false));
	assert_int_equal(h.watch.n_changes, 1);
	assert_int_equal(f.files.files.n, 0);
	perf_hotplug_fini(&h);
	perf_fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_at_what_has_not_changed_opens_nothing),
		cmocka_unit_test(a_cpu_that_comes_is_observed_from_the_next_look_on),
		cmocka_unit_test(a_cpu_that_cannot_be_opened_yet_is_tried_at_every_look),
		cmocka_unit_test(a_cpu_that_goes_is_a_change_and_opens_nothing),
		cmocka_unit_test(a_cpu_that_nobody_saw_go_is_observed_again),
		cmocka_unit_test(events_of_threads_need_no_opening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
