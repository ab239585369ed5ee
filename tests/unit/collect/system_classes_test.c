/* SPDX-License-Identifier: Apache-2.0
 *
 * Two recorders that tell of the same processes, each with its own numbers of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/system_classes.h"
#include "counts_fixture.h"

struct classes_fixture {
	struct counts_fixture f;
	struct system_images *other_images;
	struct system_classes *classes;
	struct system_classes_teller one, other;
};

static void set_up(struct classes_fixture *x, bool is_by_thread)
{
	counts_fixture_set_up(&x->f);
	x->other_images = system_images_new(NULL);
	x->classes = system_classes_new();
	x->one = (struct system_classes_teller){ x->f.images, is_by_thread };
	x->other = (struct system_classes_teller){ x->other_images, is_by_thread };
	system_classes_begin(x->classes, x->f.writer, NULL, NULL);
}

static void tear_down(struct classes_fixture *x)
{
	counts_fixture_tear_down(&x->f);
	system_images_free(x->other_images);
	system_classes_free(x->classes);
}

static void meet(struct system_images *images, uint32_t number, const char *name)
{
	struct stack_record_image r = { .kind = STACK_RECORD_IMAGE, .image = number };

	r.path_bytes =
		1 + (uint32_t)snprintf(r.path, sizeof(r.path), "no-file-is-%s", name);
	system_images_meet(images, &r);
}

static struct stack_record thread(uint32_t exe, uint64_t time_ns)
{
	return counts_fixture_thread_at(1, time_ns, "prog", exe);
}

static void a_thread_of_two_recorders_is_one(void **state)
{
	struct stack_record one = thread(EXE, 1), other = thread(OTHER_EXE, 2);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	meet(x.f.images, EXE, "prog");
	meet(x.other_images, OTHER_EXE, "prog");
	id = system_classes_id(x.classes, &x.one, &one);
	assert_int_equal(system_classes_id(x.classes, &x.other, &other), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	assert_int_equal(recording_n_threads(x.f.recording), 1);
	tear_down(&x);
}

static void a_class_of_two_recorders_is_one(void **state)
{
	struct stack_record one = counts_fixture_running(1, 100);
	struct stack_record other = counts_fixture_running(2, 200);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, false);
	other.exe = OTHER_EXE;
	meet(x.f.images, EXE, "prog");
	meet(x.other_images, OTHER_EXE, "prog");
	id = system_classes_id(x.classes, &x.one, &one);
	assert_int_equal(system_classes_id(x.classes, &x.other, &other), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	tear_down(&x);
}

/* Two recorders may give two files the same number. */
static void numbers_of_files_are_of_their_recorder(void **state)
{
	struct stack_record r = thread(EXE, 1);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	meet(x.f.images, EXE, "prog");
	meet(x.other_images, EXE, "another");
	id = system_classes_id(x.classes, &x.one, &r);
	assert_int_not_equal(system_classes_id(x.classes, &x.other, &r), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 2);
	tear_down(&x);
}

static void a_file_that_is_met_later_is_the_same(void **state)
{
	struct stack_record one = thread(EXE, 1), other = thread(OTHER_EXE, 2);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	id = system_classes_id(x.classes, &x.one, &one);
	meet(x.f.images, EXE, "prog");
	meet(x.other_images, OTHER_EXE, "prog");
	assert_int_equal(system_classes_id(x.classes, &x.one, &one), id);
	assert_int_equal(system_classes_id(x.classes, &x.other, &other), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	tear_down(&x);
}

/* The end of what one has met, told by the other. */
static void a_thread_whose_executable_is_gone_is_the_one_that_another_knows(void **state)
{
	struct stack_record runs = thread(EXE, 1), ends = thread(0, 2);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	meet(x.f.images, EXE, "prog");
	id = system_classes_id(x.classes, &x.one, &runs);
	assert_int_equal(system_classes_id(x.classes, &x.other, &ends), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	tear_down(&x);
}

/* CPUs tell in any order: of the program before behind the one that ends. */
static void a_thread_that_ends_is_what_it_ran_last(void **state)
{
	struct stack_record before = thread(EXE, 1), last = thread(OTHER_EXE, 2);
	struct stack_record ends = thread(0, 3);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	meet(x.f.images, EXE, "before");
	meet(x.f.images, OTHER_EXE, "last");
	system_classes_learn(x.classes, &x.one, &last);
	system_classes_learn(x.classes, &x.one, &before);
	system_classes_learn(x.classes, &x.one, &ends);
	id = system_classes_id(x.classes, &x.one, &last);
	assert_int_not_equal(system_classes_id(x.classes, &x.one, &before), id);
	assert_int_equal(system_classes_id(x.classes, &x.one, &ends), id);
	assert_int_equal(system_classes_id(x.classes, &x.other, &ends), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 2);
	tear_down(&x);
}

/* As after an exec: what runs before its end is told by the other one only. */
static void an_end_does_not_name_the_program_before(void **state)
{
	struct stack_record before = thread(EXE, 1), ends = thread(0, 3);
	struct classes_fixture x;

	(void)state;
	set_up(&x, true);
	strcpy(before.comm, "before");
	meet(x.f.images, EXE, "before");
	system_classes_learn(x.classes, &x.one, &before);
	system_classes_learn(x.classes, &x.one, &ends);
	system_classes_id(x.classes, &x.one, &before);
	system_classes_id(x.classes, &x.one, &ends);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	assert_string_equal(recording_string(x.f.recording,
					     recording_process(x.f.recording, 0)->comm),
			    "before");
	tear_down(&x);
}

static void threads_are_of_one_process_whose_first_never_ran(void **state)
{
	struct stack_record second = thread(EXE, 1), third = thread(EXE, 2);
	struct stack_record first = thread(EXE, 3);
	struct classes_fixture x;

	(void)state;
	set_up(&x, true);
	second.tid = first.pid + 1;
	third.tid = first.pid + 2;
	meet(x.f.images, EXE, "prog");
	system_classes_id(x.classes, &x.one, &second);
	system_classes_id(x.classes, &x.one, &third);
	system_classes_id(x.classes, &x.one, &first);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	assert_int_equal(recording_n_threads(x.f.recording), 3);
	tear_down(&x);
}

static void a_thread_of_which_only_the_end_is_told_has_no_executable(void **state)
{
	struct stack_record ends = thread(0, 1);
	struct classes_fixture x;

	(void)state;
	set_up(&x, true);
	system_classes_learn(x.classes, &x.one, &ends);
	system_classes_id(x.classes, &x.one, &ends);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 1);
	assert_string_equal(
		recording_string(x.f.recording, recording_process(x.f.recording, 0)->exe),
		"");
	tear_down(&x);
}

/* Its number is somebody else's now. */
static void what_ends_is_not_the_program_of_another_process(void **state)
{
	struct stack_record runs = thread(EXE, 1), ends = thread(0, 2);
	struct classes_fixture x;
	uint32_t id;

	(void)state;
	set_up(&x, true);
	meet(x.f.images, EXE, "prog");
	system_classes_learn(x.classes, &x.one, &runs);
	id = system_classes_id(x.classes, &x.one, &runs);
	ends.pid++;
	assert_int_not_equal(system_classes_id(x.classes, &x.one, &ends), id);
	counts_fixture_finish(&x.f);
	assert_int_equal(recording_n_processes(x.f.recording), 2);
	tear_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_of_two_recorders_is_one),
		cmocka_unit_test(a_class_of_two_recorders_is_one),
		cmocka_unit_test(numbers_of_files_are_of_their_recorder),
		cmocka_unit_test(a_file_that_is_met_later_is_the_same),
		cmocka_unit_test(a_thread_that_ends_is_what_it_ran_last),
		cmocka_unit_test(an_end_does_not_name_the_program_before),
		cmocka_unit_test(threads_are_of_one_process_whose_first_never_ran),
		cmocka_unit_test(
			a_thread_of_which_only_the_end_is_told_has_no_executable),
		cmocka_unit_test(what_ends_is_not_the_program_of_another_process),
		cmocka_unit_test(
			a_thread_whose_executable_is_gone_is_the_one_that_another_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
