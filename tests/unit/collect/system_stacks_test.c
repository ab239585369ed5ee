/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject_place.h"
#include "collect/system_images.h"
#include "store/recording.h"

#define FRAME(image, offset) ((uint64_t)(image) << STACK_RECORD_IMAGE_SHIFT | (offset))
#define PROGRAM		     7
#define LIBRARY		     8
#define OWN		     9
#define COMPILED	     FRAME(STACK_RECORD_ADDRESS, 0x7000)
#define KERNEL		     UINT64_C(0xffffffff81000000)
#define KIND		     3
#define SAME_PATH_KIND	     (KIND + 64)

/* Stacks on their way into a recording; then what it holds. */
struct fixture {
	char path[64];
	struct system_images *images;
	struct system_stacks *stacks;
	struct writer *writer;
	struct recording *recording;
};

static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->path, sizeof(f->path), "/tmp/system_stacks_test.XXXXXX");

	own(closep) int fd = mkstemp(f->path);

	assert_true(fd >= 0);
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->images = system_images_new(NULL);
	system_images_begin(f->images, f->writer);
	f->stacks = system_stacks_new(f->images, f->writer);
}

static void finish(struct fixture *f)
{
	assert_int_equal(system_stacks_keep_names(f->stacks, false, NULL), 0);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &f->recording, NULL), 0);
}

static void tear_down(struct fixture *f)
{
	recording_free(f->recording);
	system_stacks_free(f->stacks);
	system_images_free(f->images);
	unlink(f->path);
}

/* Frames from the innermost out, the kernel's first, ended by a 0. */
static uint32_t stack_of(struct fixture *f, uint32_t kind, uint32_t pid,
			 const uint64_t *frames)
{
	struct stack_record r = { .pid = pid, .stop = STACK_STOP_END };
	enum unwind_stop stop;

	for (; *frames; frames++) {
		r.frames[r.n_kernel + r.n_user] = *frames;
		if (*frames >= UINT64_C(0xffffffff00000000))
			r.n_kernel++;
		else
			r.n_user++;
	}
	return system_stacks_id(f->stacks, &r, kind, &stop);
}

#define STACK(f, kind, pid, ...)                                                         \
	stack_of(f, kind, pid, (const uint64_t[]){ __VA_ARGS__, 0 })

static uint32_t parent(const struct fixture *f, uint32_t stack)
{
	return recording_stacks(f->recording)[stack].parent;
}

static const struct model_location *location(const struct fixture *f, uint32_t stack)
{
	return &recording_locations(
		f->recording)[recording_stacks(f->recording)[stack].location];
}

static void stacks_that_begin_alike_share_their_outer_frames(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100), mid = FRAME(PROGRAM, 0x200);
	struct fixture f;
	uint32_t a, b, c, again;

	(void)state;
	set_up(&f);
	a = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x10), mid, outer);
	b = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x20), mid, outer);
	c = STACK(&f, KIND, 1, outer);
	again = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x10), mid, outer);
	finish(&f);
	assert_int_equal(again, a);
	assert_int_not_equal(a, b);
	assert_int_equal(parent(&f, a), parent(&f, b));
	assert_int_equal(parent(&f, parent(&f, a)), c);
	assert_int_equal(parent(&f, c), 0);
	assert_int_equal(location(&f, a)->offset, 0x10);
	assert_int_equal(location(&f, b)->offset, 0x20);
	tear_down(&f);
}

static void kinds_that_share_a_memory_are_not_mixed_up(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100);
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x10), outer);
	STACK(&f, SAME_PATH_KIND, 2, FRAME(LIBRARY, 0x30), FRAME(PROGRAM, 0x900));
	b = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x10), outer);
	finish(&f);
	assert_int_equal(a, b);
	tear_down(&f);
}

static void code_without_a_file_is_of_one_process(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100);
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = STACK(&f, KIND, 1, COMPILED, outer);
	b = STACK(&f, KIND, 2, COMPILED, outer);
	finish(&f);
	assert_int_not_equal(a, b);
	assert_int_equal(parent(&f, a), parent(&f, b));
	assert_int_not_equal(location(&f, a)->image, location(&f, b)->image);
	assert_int_equal(location(&f, a)->offset, location(&f, b)->offset);
	tear_down(&f);
}

static void the_kernel_part_is_on_top(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100);
	struct fixture f;
	uint32_t leaf, called;

	(void)state;
	set_up(&f);
	leaf = STACK(&f, KIND, 1, KERNEL + 8, KERNEL, outer);
	/* The same address as a return address is another place. */
	called = STACK(&f, KIND, 1, KERNEL + 16, KERNEL + 8, outer);
	finish(&f);
	assert_int_equal(location(&f, leaf)->flags, 0);
	assert_int_equal(location(&f, parent(&f, called))->flags, LOCATION_RETURN);
	assert_int_not_equal(leaf, parent(&f, called));
	assert_int_equal(parent(&f, parent(&f, leaf)), parent(&f, parent(&f, called)));
	tear_down(&f);
}

static void a_cut_stack_has_other_outer_frames(void **state)
{
	struct stack_record r = { .n_user = 1,
				  .stop = STACK_STOP_BAD_MEMORY,
				  .frames = { FRAME(PROGRAM, 0x100) } };
	enum unwind_stop stop;
	struct fixture f;
	uint32_t whole, cut;

	(void)state;
	set_up(&f);
	whole = STACK(&f, KIND, 0, FRAME(PROGRAM, 0x100));
	cut = system_stacks_id(f.stacks, &r, KIND, &stop);
	assert_int_equal(stop, UNWIND_BAD_MEMORY);
	finish(&f);
	assert_int_equal(parent(&f, whole), 0);
	assert_int_equal(
		recording_image(f.recording, location(&f, parent(&f, cut))->image)->kind,
		IMAGE_TRUNCATED);
	tear_down(&f);
}

static const char *text(const struct fixture *f, uint32_t stack)
{
	return recording_string(
		f->recording,
		recording_image(f->recording, location(f, stack)->image)->path);
}

static void what_is_inside_of_a_stack_is_no_code(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100);
	struct stack_record by = { .n_user = 2,
				   .stop = STACK_STOP_END,
				   .frames = { FRAME(LIBRARY, 0x10), outer } };
	struct fixture f;
	uint32_t stack, object, label, woken;

	(void)state;
	set_up(&f);
	stack = STACK(&f, KIND, 1, outer);
	object = system_stacks_object(
		f.stacks, stack,
		&(struct stack_record){ .object = FRAME(STACK_RECORD_ADDRESS, 0x7000) });
	label = system_stacks_label(f.stacks, object, "[woken by]");
	woken = system_stacks_append(f.stacks, label, &by);
	assert_int_equal(system_stacks_append(f.stacks, label, &by), woken);
	finish(&f);
	assert_int_equal(parent(&f, object), stack);
	assert_string_equal(text(&f, object), "[0x7000]");
	assert_int_equal(parent(&f, label), object);
	assert_string_equal(text(&f, label), "[woken by]");
	assert_int_equal(location(&f, woken)->offset, 0x10);
	assert_int_equal(location(&f, parent(&f, woken))->offset, 0x100);
	assert_int_equal(parent(&f, parent(&f, woken)), label);
	tear_down(&f);
}

/* What it does itself is one frame, whichever; what it leads on to is the caller's. */
static void our_own_code_is_told_apart_from_the_program(void **state)
{
	const uint64_t outer = FRAME(PROGRAM, 0x100);
	struct stack_record_image own = { .image = OWN, .pid = 0x7ffffff0, .inode = 1 };
	struct fixture f;
	const uint64_t put = INJECT_PLACE_FIRST + 0x5000;
	const uint64_t high = put >> STACK_RECORD_OFFSET_BITS;
	uint32_t in, in_the_kernel, put_in, through;

	(void)state;
	set_up(&f);
	/* The last part of its path first. */
	memcpy(own.path, "libdwell-tracer.so\0tmp", sizeof("libdwell-tracer.so\0tmp"));
	own.path_bytes = sizeof("libdwell-tracer.so\0tmp");
	system_images_meet(f.images, &own);
	in = STACK(&f, KIND, 1, FRAME(OWN, 0x10), FRAME(OWN, 0x20), outer);
	in_the_kernel = STACK(&f, KIND, 1, KERNEL, FRAME(OWN, 0x30), outer);
	put_in = STACK(&f, KIND, 1,
		       FRAME(STACK_RECORD_ADDRESS + high, put & STACK_RECORD_OFFSET),
		       outer);
	through = STACK(&f, KIND, 1, FRAME(LIBRARY, 0x10), FRAME(OWN, 0x20), outer);
	finish(&f);
	assert_string_equal(text(&f, in), "[dwell tracing]");
	assert_int_equal(location(&f, parent(&f, in))->offset, 0x100);
	assert_int_equal(parent(&f, in_the_kernel), in);
	assert_int_equal(put_in, in);
	assert_int_equal(parent(&f, through), parent(&f, in));
	assert_int_equal(location(&f, through)->offset, 0x10);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_that_begin_alike_share_their_outer_frames),
		cmocka_unit_test(kinds_that_share_a_memory_are_not_mixed_up),
		cmocka_unit_test(code_without_a_file_is_of_one_process),
		cmocka_unit_test(the_kernel_part_is_on_top),
		cmocka_unit_test(what_is_inside_of_a_stack_is_no_code),
		cmocka_unit_test(our_own_code_is_told_apart_from_the_program),
		cmocka_unit_test(a_cut_stack_has_other_outer_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
