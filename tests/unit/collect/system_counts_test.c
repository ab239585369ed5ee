/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/path_choice.h"
#include "counts_fixture.h"

/* It has let go of its memory: the kernel knows its name alone. */
static struct stack_record exiting(uint64_t key, uint32_t pid)
{
	struct stack_record r = { .kind = STACK_RECORD_STACK,
				  .key = key,
				  .pid = pid,
				  .tid = pid,
				  .comm = "prog",
				  .n_kernel = 1,
				  .frames = { UINT64_C(0xffffffff81000000) } };
	return r;
}

static void a_key_is_one_sample_of_all_that_was_counted(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	counts_fixture_count(&f, &r, 3);
	system_counts_count(f.counts, 0, r.key, 4);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.count[0], 7);
	assert_int_equal(f.samples.weight[0], 7 * PERIOD_NS);
	assert_int_equal(system_counts_stats(f.counts)->samples, 7);
	counts_fixture_tear_down(&f);
}

/* Also where a sample stands for less than one more of its period. */
static void what_was_off_at_times_is_scaled_as_a_whole(void **state)
{
	struct counts_fixture f;
	uint64_t weight = 0;

	(void)state;
	counts_fixture_set_up(&f);
	system_counts_scale(f.counts, STATE_RECORD_USER, 1.0004);
	for (uint64_t key = 1; key <= 1000; key++) {
		struct stack_record r = counts_fixture_running(key, 100);

		counts_fixture_count(&f, &r, 1);
	}
	assert_int_equal(system_counts_n_waiting(f.counts, 0, STATE_RECORD_USER), 1000);
	assert_int_equal(system_counts_n_waiting(f.counts, 0, STATE_RECORD_SLEEP), 0);
	assert_int_equal(system_counts_n_waiting(f.counts, 1, STATE_RECORD_USER), 0);
	system_counts_write(f.counts, 0, 1);
	assert_int_equal(system_counts_n_waiting(f.counts, 0, STATE_RECORD_USER), 0);
	counts_fixture_finish(&f);
	for (size_t i = 0; i < f.samples.n; i++)
		weight += f.samples.weight[i];
	assert_in_range(weight, 1000399, 1000400);
	counts_fixture_tear_down(&f);
}

static void what_nobody_told_of_is_a_stray(void **state)
{
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	system_counts_count(f.counts, 0, 42, 5);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(system_counts_stats(f.counts)->strays, 5);
	assert_int_equal(recording_n_sample_blocks(f.recording), 0);
	counts_fixture_tear_down(&f);
}

static void the_tables_are_apart(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	counts_fixture_count(&f, &r, 1);
	r.table = 1;
	counts_fixture_count(&f, &r, 2);
	system_counts_write(f.counts, 1, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 2);
	system_counts_write(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 3);
	system_counts_write(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 3);
	counts_fixture_finish(&f);
	counts_fixture_tear_down(&f);
}

static void processes_of_one_name_and_executable_are_one_class(void **state)
{
	struct stack_record a = counts_fixture_running(1, 100),
			    b = counts_fixture_running(2, 200);
	struct stack_record other = counts_fixture_running(3, 300);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	other.exe = OTHER_EXE;
	counts_fixture_count(&f, &a, 1);
	counts_fixture_count(&f, &b, 1);
	counts_fixture_count(&f, &other, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 2);
	counts_fixture_tear_down(&f);
}

static void processes_are_apart_where_their_pids_matter(void **state)
{
	struct stack_record a = counts_fixture_running(1, 100),
			    b = counts_fixture_running(2, 200);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	a.flags = b.flags = STACK_RECORD_IS_PROCESS;
	counts_fixture_count(&f, &a, 1);
	counts_fixture_count(&f, &b, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 2);
	assert_int_equal(recording_process(f.recording, 0)->pid, 100);
	assert_int_equal(recording_process(f.recording, 1)->pid, 200);
	counts_fixture_tear_down(&f);
}

/* The kernel's side tells them apart, as it does until it knows which are meant. */
static void processes_are_apart_where_their_executable_is_chosen(void **state)
{
	static const struct {
		const char *chosen;
		uint32_t want;
	} t[] = { { "*vdso*", 2 }, { "other", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(path_choice_freep) struct path_choice *c = path_choice_new();
		struct stack_record all[4] = { counts_fixture_running(1, 100),
					       counts_fixture_running(2, 200),
					       exiting(3, 100), exiting(4, 200) };
		struct counts_fixture f;

		assert_int_equal(path_choice_add(c, t[i].chosen, NULL), 0);
		counts_fixture_set_up_choosing(&f, false, c);
		for (size_t k = 0; k < 4; k++) {
			all[k].flags = STACK_RECORD_IS_PROCESS;
			/* Which has a name without being a file. */
			all[k].exe = k < 2 ? STACK_RECORD_VDSO : 0;
			all[k].cpu = (uint32_t)k;
			counts_fixture_count(&f, &all[k], 1);
		}
		system_counts_write(f.counts, 0, 1);
		counts_fixture_finish(&f);
		assert_int_equal(recording_n_processes(f.recording), t[i].want);
		assert_int_equal(recording_process(f.recording, 0)->pid,
				 t[i].want == 2 ? 100 : 0);
		assert_int_equal(f.samples.n, 4);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(f.samples.cpu[k], k);
		counts_fixture_tear_down(&f);
	}
}

static void a_process_that_exits_is_the_one_that_ran(void **state)
{
	struct stack_record runs = counts_fixture_running(1, 100), ends = exiting(2, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	runs.flags = ends.flags = STACK_RECORD_IS_PROCESS;
	/* Its end, on another CPU, is told first. */
	counts_fixture_count(&f, &ends, 1);
	counts_fixture_count(&f, &runs, 1);
	system_counts_write(f.counts, 0, 1);
	ends.key = 3;
	counts_fixture_count(&f, &ends, 1);
	system_counts_write(f.counts, 0, 2);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 1);
	assert_int_equal(f.samples.n, 3);
	counts_fixture_tear_down(&f);
}

static void a_process_that_execs_is_the_one_of_its_name(void **state)
{
	struct stack_record runs = counts_fixture_running(1, 100),
			    execs = counts_fixture_running(2, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	execs.flags = STACK_RECORD_IS_EXEC;
	execs.exe = OTHER_EXE;
	counts_fixture_count(&f, &execs, 1);
	counts_fixture_count(&f, &runs, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 1);
	counts_fixture_tear_down(&f);
}

static void a_stack_that_was_cut_says_so(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	r.stop = STACK_STOP_BAD_MEMORY;
	counts_fixture_count(&f, &r, 2);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);

	const struct model_stack *s = &recording_stacks(f.recording)[f.samples.stack[0]];
	uint32_t below = recording_stacks(f.recording)[s->parent].location;
	uint32_t image = recording_locations(f.recording)[below].image;

	assert_int_equal(recording_image(f.recording, image)->kind, IMAGE_TRUNCATED);
	assert_int_equal(system_counts_stats(f.counts)->stops[UNWIND_BAD_MEMORY], 2);
	counts_fixture_tear_down(&f);
}

static void without_a_recording_counts_are_told_as_strays(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up(&f);
	counts_fixture_finish(&f);
	counts_fixture_count(&f, &r, 3);
	system_counts_write(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->strays, 3);
	counts_fixture_tear_down(&f);
}

static void times_are_of_the_state_and_of_the_wait_behind_it(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct state_record_sum sum = {
		.ns = 500, .wait_ns = 70, .count = 3, .n_waits = 2
	};
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	r.state = STATE_RECORD_SLEEP;
	system_counts_stack(f.counts, &r);
	system_counts_time(f.counts, r.key, &sum);
	system_counts_write(f.counts, 0, 1);
	/* The key stays; nothing of it came. */
	system_counts_write(f.counts, 0, 2);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 2);
	assert_int_equal(f.samples.weight[0], 500);
	assert_int_equal(f.samples.count[0], 3);
	assert_int_equal(f.samples.weight[1], 70);
	assert_int_equal(f.samples.count[1], 2);
	assert_int_not_equal(f.samples.event[0], f.samples.event[1]);
	assert_int_equal(f.samples.stack[0], f.samples.stack[1]);
	counts_fixture_tear_down(&f);
}

static struct stack_record waking(uint64_t key, uint32_t pid)
{
	struct stack_record r = counts_fixture_running(key, pid);

	r.state = STATE_RECORD_WAKER;
	strcpy(r.comm, "waker");
	return r;
}

static void a_wake_up_has_the_wakers_frames_inside_of_the_waiters(void **state)
{
	struct stack_record waiter = counts_fixture_running(1, 100),
			    waker = waking(2, 200);
	struct stack_record_pair pair = {
		.kind = STACK_RECORD_PAIR, .key = 3, .waiter = 1, .waker = 2
	};
	struct state_record_sum sum = { .ns = 500, .wait_ns = 70, .count = 3 };
	const struct model_location *l;
	struct counts_fixture f;
	uint32_t stack;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	/* In any order. */
	system_counts_pair(f.counts, &pair);
	system_counts_stack(f.counts, &waker);
	system_counts_stack(f.counts, &waiter);
	system_counts_time(f.counts, pair.key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 3);
	assert_int_equal(f.samples.weight[0], 3);
	assert_int_equal(f.samples.weight[1], 70);
	assert_int_equal(f.samples.weight[2], 500);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(f.samples.count[i], 3);
	/* main, the label, main. */
	stack = recording_stacks(f.recording)[f.samples.stack[0]].parent;
	l = &recording_locations(
		f.recording)[recording_stacks(f.recording)[stack].location];
	assert_int_equal(recording_image(f.recording, l->image)->kind, IMAGE_LABEL);
	assert_string_equal(
		recording_string(f.recording,
				 recording_image(f.recording, l->image)->path),
		"[woken by waker]");
	stack = recording_stacks(f.recording)[stack].parent;
	assert_int_equal(recording_stacks(f.recording)[stack].parent, 0);
	assert_int_equal(recording_thread(f.recording, f.samples.thread[0])->tid, 100);
	assert_int_equal(recording_n_threads(f.recording), 1);
	counts_fixture_tear_down(&f);
}

static void a_wake_up_whose_waker_nobody_told_of_is_a_stray(void **state)
{
	struct stack_record waiter = counts_fixture_running(1, 100);
	struct stack_record_pair pair = {
		.kind = STACK_RECORD_PAIR, .key = 3, .waiter = 1, .waker = 2
	};
	struct state_record_sum sum = { .ns = 500, .count = 3 };
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	system_counts_stack(f.counts, &waiter);
	system_counts_pair(f.counts, &pair);
	system_counts_time(f.counts, pair.key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 0);
	assert_int_equal(system_counts_stats(f.counts)->strays, 3);
	counts_fixture_tear_down(&f);
}

#define FIRST	    STATE_RECORD_NUMBER(0, 1)
#define FIRST_WAKER STATE_RECORD_NUMBER(0, 2)
#define NEXT	    STATE_RECORD_NUMBER(1, 1)
#define NEXT_WAKER  STATE_RECORD_NUMBER(1, 2)
#define NEXT_PAIR   STATE_RECORD_NUMBER(1, 3)
#define LATER	    STATE_RECORD_NUMBER(2, 1)

static void tell_again(struct counts_fixture *f, uint64_t key, uint64_t of)
{
	system_counts_again(f->counts,
			    &(struct stack_record_again){
				    .kind = STACK_RECORD_AGAIN, .key = key, .of = of });
}

static void write_both(struct counts_fixture *f, uint64_t now_ns)
{
	system_counts_write(f->counts, 0, now_ns);
	system_counts_write(f->counts, 1, now_ns);
}

static void a_key_that_is_told_again_outlives_the_first(void **state)
{
	struct stack_record r = counts_fixture_running(FIRST, 100);
	struct state_record_sum sum = { .ns = 500 }; /* of a wait that goes on */
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	r.state = STATE_RECORD_SLEEP;
	tell_again(&f, NEXT, FIRST); /* it may come by another ring */
	system_counts_stack(f.counts, &r);
	system_counts_time(f.counts, FIRST, &sum);
	system_counts_time(f.counts, NEXT, &sum);
	write_both(&f, 1);
	system_counts_forget(f.counts, 0);
	system_counts_time(f.counts, NEXT, &sum);
	tell_again(&f, LATER, NEXT);
	write_both(&f, 2);
	system_counts_forget(f.counts, 1);
	system_counts_time(f.counts, LATER, &sum);
	write_both(&f, 3);
	system_counts_time(f.counts, FIRST, &(struct state_record_sum){ .count = 1 });
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(f.samples.weight[i], 500);
		assert_int_equal(f.samples.count[i], 0);
		assert_int_equal(f.samples.stack[i], f.samples.stack[0]);
		assert_int_equal(f.samples.thread[i], f.samples.thread[0]);
	}
	assert_int_equal(system_counts_stats(f.counts)->strays, 1);
	counts_fixture_tear_down(&f);
}

/* Of two generations. */
static void tell_pair(struct counts_fixture *f)
{
	struct stack_record waiter = counts_fixture_running(FIRST, 100),
			    waker = waking(FIRST_WAKER, 200);
	struct stack_record_pair pair = { .kind = STACK_RECORD_PAIR,
					  .key = NEXT_PAIR,
					  .waiter = FIRST,
					  .waker = NEXT_WAKER };

	counts_fixture_set_up_as(f, true);
	system_counts_stack(f->counts, &waiter);
	system_counts_stack(f->counts, &waker);
	tell_again(f, NEXT_WAKER, FIRST_WAKER);
	system_counts_pair(f->counts, &pair);
}

static void assert_pair_is_known(struct counts_fixture *f)
{
	system_counts_time(f->counts, NEXT_PAIR,
			   &(struct state_record_sum){ .ns = 500, .count = 3 });
	write_both(f, 1);
	counts_fixture_finish(f);
	assert_int_equal(f->samples.n, 2);
	assert_int_equal(f->samples.weight[0], 3);
	assert_int_equal(f->samples.weight[1], 500);
	assert_int_equal(system_counts_stats(f->counts)->strays, 0);
	counts_fixture_tear_down(f);
}

static void a_pair_outlives_the_keys_that_it_is_of(void **state)
{
	struct counts_fixture f;

	(void)state;
	tell_pair(&f);
	system_counts_forget(f.counts, 0);
	assert_pair_is_known(&f);
}

static void kept_keys_are_known_where_their_records_are_loaded(void **state)
{
	struct counts_fixture f, next;

	(void)state;
	for (unsigned is_forgotten = 0; is_forgotten < 2; is_forgotten++) {
		tell_pair(&f);
		counts_fixture_set_up_as(&next, true);
		if (is_forgotten)
			system_counts_forget(f.counts, 0);
		for (unsigned table = 0; table < 2; table++) {
			size_t size;
			const void *at = system_counts_records(f.counts, table, &size);

			system_counts_load(next.counts, table, at, size);
		}
		assert_pair_is_known(&next);
		counts_fixture_finish(&f);
		counts_fixture_tear_down(&f);
	}
}

static void time_of_an_unknown_key_is_a_stray(void **state)
{
	struct state_record_sum sum = { .ns = 500, .count = 3 };
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	system_counts_time(f.counts, 9, &sum);
	counts_fixture_finish(&f);
	assert_int_equal(system_counts_stats(f.counts)->strays, 3);
	counts_fixture_tear_down(&f);
}

/* A thread by itself, told at a time, under these names. */
static const char *thread_name(struct counts_fixture *f, uint32_t i)
{
	return recording_string(f->recording, recording_thread(f->recording, i)->name);
}

static void a_thread_has_the_name_that_it_had_last(void **state)
{
	struct stack_record first = counts_fixture_thread_at(1, 10, "first", EXE);
	struct stack_record last = counts_fixture_thread_at(2, 30, "last", EXE);
	struct stack_record between = counts_fixture_thread_at(3, 20, "between", EXE);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	counts_fixture_count(&f, &first, 1);
	counts_fixture_count(&f, &last, 1);
	counts_fixture_count(&f, &between, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_threads(f.recording), 1);
	assert_string_equal(thread_name(&f, 0), "last");
	counts_fixture_tear_down(&f);
}

static void a_thread_whose_end_is_told_first_is_one(void **state)
{
	struct stack_record ends = counts_fixture_thread_at(1, 20, "prog", 0);
	struct stack_record runs = counts_fixture_thread_at(2, 10, "prog", EXE);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	counts_fixture_count(&f, &ends, 1);
	counts_fixture_count(&f, &runs, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 1);
	assert_int_equal(recording_n_threads(f.recording), 1);
	counts_fixture_tear_down(&f);
}

static void a_number_that_runs_another_program_is_another_thread(void **state)
{
	struct stack_record one = counts_fixture_thread_at(1, 10, "one", EXE);
	struct stack_record two = counts_fixture_thread_at(2, 20, "two", OTHER_EXE);
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	counts_fixture_count(&f, &one, 1);
	counts_fixture_count(&f, &two, 1);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(recording_n_processes(f.recording), 2);
	assert_int_equal(recording_n_threads(f.recording), 2);
	counts_fixture_tear_down(&f);
}

struct telling {
	struct system_counts *counts;
	uint64_t next; /* key */
	unsigned n_times;
};

static void tell_meanwhile(void *ctx)
{
	struct telling *t = ctx;

	t->n_times++;
	for (unsigned i = 0; i < 2000; i++) {
		struct stack_record r = counts_fixture_running(t->next++, 100);

		system_counts_stack(t->counts, &r);
	}
}

/* The table is moved by it. */
static void what_is_told_while_a_table_is_written_is_of_the_next(void **state)
{
	struct telling telling = { .next = 1001 };
	struct system_counts_events events = { .is_kept = true,
					       .meanwhile = tell_meanwhile,
					       .meanwhile_ctx = &telling };
	struct counts_fixture f;

	(void)state;
	counts_fixture_set_up_as(&f, true);
	telling.counts = f.counts;
	events.ids[STATE_RECORD_USER] = counts_fixture_event_of(&f, "told");
	system_counts_begin(f.counts, f.writer, &events);
	for (uint64_t key = 1; key <= 1000; key++) {
		struct stack_record r = counts_fixture_running(key, 100);

		counts_fixture_count(&f, &r, 1);
	}
	system_counts_write(f.counts, 0, 1);
	assert_true(telling.n_times > 0);
	assert_int_equal(system_counts_stats(f.counts)->samples, 1000);
	for (uint64_t key = 1; key < telling.next; key++)
		system_counts_count(f.counts, 0, key, 1);
	system_counts_write(f.counts, 0, 2);
	assert_true(system_counts_stats(f.counts)->samples > 3000);
	assert_int_equal(system_counts_stats(f.counts)->strays, 0);
	counts_fixture_finish(&f);
	counts_fixture_tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_one_sample_of_all_that_was_counted),
		cmocka_unit_test(what_was_off_at_times_is_scaled_as_a_whole),
		cmocka_unit_test(what_nobody_told_of_is_a_stray),
		cmocka_unit_test(the_tables_are_apart),
		cmocka_unit_test(processes_of_one_name_and_executable_are_one_class),
		cmocka_unit_test(processes_are_apart_where_their_pids_matter),
		cmocka_unit_test(processes_are_apart_where_their_executable_is_chosen),
		cmocka_unit_test(a_process_that_exits_is_the_one_that_ran),
		cmocka_unit_test(a_process_that_execs_is_the_one_of_its_name),
		cmocka_unit_test(a_stack_that_was_cut_says_so),
		cmocka_unit_test(without_a_recording_counts_are_told_as_strays),
		cmocka_unit_test(times_are_of_the_state_and_of_the_wait_behind_it),
		cmocka_unit_test(a_wake_up_has_the_wakers_frames_inside_of_the_waiters),
		cmocka_unit_test(a_wake_up_whose_waker_nobody_told_of_is_a_stray),
		cmocka_unit_test(a_key_that_is_told_again_outlives_the_first),
		cmocka_unit_test(a_pair_outlives_the_keys_that_it_is_of),
		cmocka_unit_test(kept_keys_are_known_where_their_records_are_loaded),
		cmocka_unit_test(time_of_an_unknown_key_is_a_stray),
		cmocka_unit_test(a_thread_has_the_name_that_it_had_last),
		cmocka_unit_test(a_thread_whose_end_is_told_first_is_one),
		cmocka_unit_test(a_number_that_runs_another_program_is_another_thread),
		cmocka_unit_test(what_is_told_while_a_table_is_written_is_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
