/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/timer_ring.h"
#include "inject/ring.h"

#define BYTES WIRE_SAMPLER_RING_MIN

struct seen {
	unsigned n;
	uint64_t last_time_ns;
	char path[TIMER_RECORD_PATH_MAX + 1];
};

static void note(void *ctx, const struct timer_record *record)
{
	struct seen *s = ctx;

	s->n++;
	if (record->kind == WIRE_SAMPLER_THREAD)
		s->last_time_ns = record->thread.time_ns;
	else
		strcpy(s->path, record->path);
}

static bool write_thread(struct ring *r, uint64_t time_ns)
{
	struct wire_sampler_thread t = { .time_ns = time_ns, .tid = 7, .comm = "worker" };

	return ring_write(r, WIRE_SAMPLER_THREAD, &t, sizeof(t), NULL, 0);
}

/* A ring as the target makes it, opened as the recorder does. */
struct both {
	char directory[40];
	struct ring target;
	struct timer_ring *recorder;
};

static int open_both(void **state)
{
	struct both *b = calloc(1, sizeof(*b));
	char path[100];
	FILE *list;

	strcpy(b->directory, "/tmp/dwell-ring-XXXXXX");
	if (!mkdtemp(b->directory) || !ring_create(&b->target, b->directory, BYTES, 77))
		return -1;
	b->target.header->magic = WIRE_SAMPLER_MAGIC;
	snprintf(path, sizeof(path), "ls %s", b->directory);
	list = popen(path, "r");
	if (!list || !fgets(path, sizeof(path), list))
		return -1;
	pclose(list);
	path[strcspn(path, "\n")] = 0;
	*state = b;

	int directory = open(b->directory, O_DIRECTORY);
	int rc = timer_ring_open(directory, path, geteuid(), &b->recorder, NULL);

	close(directory);
	return rc;
}

/* The i-th thread's place, as the tracer has it. */
static struct wire_tracer_waiting *waiting_at(struct both *b, uint32_t i)
{
	return (struct wire_tracer_waiting *)((char *)b->target.header +
					      WIRE_SAMPLER_PAGE) +
	       i;
}

static void what_a_thread_waits_for_is_read_beside_the_records(void **state)
{
	struct both *b = *state;
	uint32_t last = WIRE_SAMPLER_N_WAITING - 1;
	struct wire_tracer_waiting w;

	assert_false(timer_ring_waiting(b->recorder, 0, &w));
	*waiting_at(b, last) =
		(struct wire_tracer_waiting){ .since_ns = 5,
					      .ring_ns = b->target.header->start_ns,
					      .tid = 17,
					      .address = UINT64_MAX };
	assert_true(timer_ring_waiting(b->recorder, last, &w));
	assert_int_equal(w.tid, 17);
	assert_false(timer_ring_waiting(b->recorder, last - 1, &w));
	assert_false(timer_ring_waiting(b->recorder, last + 1, &w));
	/* The first record is behind it. */
	assert_true(write_thread(&b->target, 9));
	assert_true(timer_ring_waiting(b->recorder, last, &w));
	waiting_at(b, last)->ring_ns++; /* the last owner's */
	assert_false(timer_ring_waiting(b->recorder, last, &w));
	waiting_at(b, last)->ring_ns--;
	waiting_at(b, last)->since_ns = 0;
	assert_false(timer_ring_waiting(b->recorder, last, &w));
}

static int close_both(void **state)
{
	struct both *b = *state;
	char command[100];

	timer_ring_free(b->recorder);
	ring_unmap(&b->target);
	snprintf(command, sizeof(command), "rm -r %s", b->directory);
	if (system(command) != 0)
		return -1;
	free(b);
	return 0;
}

static void records_pass_through_many_laps(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	unsigned sent = 0;

	for (unsigned round = 0; round < 400; round++) {
		for (unsigned i = 0; i < round % 50; i++)
			assert_true(write_thread(&b->target, ++sent));
		assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, NULL),
				 0);
		assert_int_equal(s.n, sent);
		assert_int_equal(s.last_time_ns, sent);
	}
}

static void a_full_ring_refuses_and_goes_on_when_there_is_room(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	unsigned sent = 0;

	while (write_thread(&b->target, sent + 1))
		sent++;
	assert_int_equal(sent, BYTES / 48);
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, NULL), 0);
	assert_int_equal(s.n, sent);
	assert_true(write_thread(&b->target, 1));
}

static void a_record_that_wraps_around_is_whole(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	struct wire_sampler_start start = { .pid = 77 };

	for (unsigned i = 0; i < BYTES / 48; i++)
		write_thread(&b->target, 1);
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, NULL), 0);
	assert_true(ring_write(&b->target, WIRE_SAMPLER_START, &start, sizeof(start),
			       "/usr/bin/a_rather_long_name_of_a_program", 40));
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, NULL), 0);
	assert_string_equal(s.path, "/usr/bin/a_rather_long_name_of_a_program");
}

static void a_record_that_was_never_finished_is_waited_for_then_passed_over(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };

	write_thread(&b->target, 1);
	memset(b->target.data, 0, 8); /* killed before its last store */
	write_thread(&b->target, 2);
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, NULL), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(timer_ring_drain(b->recorder, 0, true, note, &s, NULL), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.last_time_ns, 2);
}

static void fill(struct ring *r)
{
	while (write_thread(r, 3))
		;
	ring_count(&r->header->n_dropped, 1);
}

static void
a_record_that_nobody_will_finish_is_passed_over_when_others_are_lost(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	const uint64_t second = 1000000000;

	write_thread(&b->target, 1);
	assert_int_equal(timer_ring_drain(b->recorder, second, false, note, &s, NULL), 0);
	write_thread(&b->target, 2);
	memset(b->target.data + 48, 0, 8); /* its writer was jumped out of */
	write_thread(&b->target, 3);
	for (unsigned i = 2; i < 60; i++) /* nothing is lost */
		assert_int_equal(
			timer_ring_drain(b->recorder, i * second, false, note, &s, NULL),
			0);
	assert_int_equal(s.n, 1);
	fill(&b->target);
	assert_int_equal(
		timer_ring_drain(b->recorder, 60 * second, false, note, &s, NULL), 0);
	assert_int_equal(s.n, BYTES / 48);
	assert_int_equal(timer_ring_damaged(b->recorder), 1);
	assert_true(write_thread(&b->target, 4)); /* there is room again */
	assert_int_equal(
		timer_ring_drain(b->recorder, 61 * second, false, note, &s, NULL), 0);
	assert_int_equal(s.last_time_ns, 4);
}

static void a_record_that_is_late_is_waited_for_although_others_are_lost(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	const uint64_t second = 1000000000;
	uint64_t word;

	write_thread(&b->target, 1);
	memcpy(&word, b->target.data, 8);
	memset(b->target.data, 0, 8);
	for (unsigned i = 1; i < 6; i++) {
		fill(&b->target);
		assert_int_equal(
			timer_ring_drain(b->recorder, i * second, false, note, &s, NULL),
			0);
	}
	assert_int_equal(s.n, 0);
	memcpy(b->target.data, &word, 8);
	assert_int_equal(timer_ring_drain(b->recorder, 7 * second, false, note, &s, NULL),
			 0);
	assert_int_equal(s.n, BYTES / 48);
	assert_int_equal(timer_ring_damaged(b->recorder), 0);
}

static void a_ring_that_is_cut_short_or_overwritten_is_an_error(void **state)
{
	struct both *b = *state;
	struct seen s = { 0 };
	struct err e = { 0 };

	b->target.header->head = 3 * BYTES;
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, &e),
			 ERR_FORMAT);
	b->target.header->head = 0;
	write_thread(&b->target, 1);
	for (unsigned i = 0; i < 40; i++)
		b->target.data[8 + i] = 0xff; /* a payload of any bytes still parses */
	assert_int_equal(timer_ring_drain(b->recorder, 0, false, note, &s, &e), 0);
}

/* A ring of the control file, claimed and opened, given back, and claimed again. */
static void what_an_earlier_owner_left_in_a_claimed_ring_is_never_read(void **state)
{
	char path[] = "/tmp/dwell-control-XXXXXX";
	int fd = mkstemp(path);
	struct wire_sampler_control *control;
	struct ring target = { 0 }, old = { 0 };
	struct timer_ring *recorder;
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)wire_sampler_ring_at(1, BYTES)), 0);
	control = mmap(NULL, WIRE_SAMPLER_CONTROL_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	assert_true(control != MAP_FAILED);
	control->ring_bytes = BYTES;
	assert_false(ring_claim(&old, control, fd, 77)); /* there is none */
	control->n_rings = 1;
	assert_true(ring_claim(&old, control, fd, 77));
	assert_false(ring_claim(&target, control, fd, 78)); /* it is taken */
	assert_int_equal(timer_ring_open_claimed(fd, 0, BYTES, &recorder, NULL),
			 ERR_UNSUPPORTED); /* it is not ready */
	old.header->magic = WIRE_SAMPLER_MAGIC;
	assert_int_equal(timer_ring_open_claimed(fd, 0, BYTES, &recorder, NULL), 0);
	assert_true(write_thread(&old, 1) && write_thread(&old, 2));
	assert_int_equal(timer_ring_drain(recorder, 0, true, note, &s, NULL), 0);
	assert_int_equal(s.n, 2);
	timer_ring_give_back(recorder);
	timer_ring_free(recorder);
	assert_false(write_thread(&old, 3)); /* it is not ours any more */

	assert_true(ring_claim(&target, control, fd, 78));
	target.header->magic = WIRE_SAMPLER_MAGIC;
	assert_int_equal(timer_ring_open_claimed(fd, 0, BYTES, &recorder, NULL), 0);
	target.header->head += 96; /* killed before it stored anything */
	assert_int_equal(timer_ring_drain(recorder, 0, true, note, &s, NULL), 0);
	assert_int_equal(s.n, 2);
	assert_false(write_thread(&old, 3));

	timer_ring_free(recorder);
	ring_unmap(&old);
	ring_unmap(&target);
	munmap(control, WIRE_SAMPLER_CONTROL_BYTES);
	close(fd);
	unlink(path);
}

/* As a shell's children have theirs. */
static void a_ring_that_is_mapped_among_all_is_as_good_as_one_that_is_alone(void **state)
{
	char path[] = "/tmp/dwell-control-XXXXXX";
	int fd = mkstemp(path);
	size_t at = wire_sampler_ring_at(0, BYTES);
	size_t size = wire_sampler_ring_at(8, BYTES) - at; /* more than there are */
	struct wire_sampler_control *control;
	struct ring rings[2] = { 0 }, third = { 0 };
	void *all;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)wire_sampler_ring_at(2, BYTES)), 0);
	control = mmap(NULL, WIRE_SAMPLER_CONTROL_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	assert_true(control != MAP_FAILED && all != MAP_FAILED);
	control->ring_bytes = BYTES;
	control->n_rings = 2;
	/* Not one that is behind what is mapped. */
	assert_true(ring_claim_mapped(&third, control, all, 1, 78));
	assert_false(ring_claim_mapped(&third, control, all, 1, 79));
	control->claims[0] = 0;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(ring_claim_mapped(&rings[i], control, all, 8, (int)i + 78));
		rings[i].header->magic = WIRE_SAMPLER_MAGIC;
		assert_true(write_thread(&rings[i], i + 1));
	}
	assert_false(ring_claim_mapped(&third, control, all, 8, 80));
	for (uint32_t i = 0; i < 2; i++) {
		struct timer_ring *recorder;
		struct seen s = { 0 };

		assert_int_equal(timer_ring_open_claimed(fd, i, BYTES, &recorder, NULL),
				 0);
		assert_int_equal(timer_ring_header(recorder)->pid, control->claims[i]);
		assert_int_equal(timer_ring_drain(recorder, 0, true, note, &s, NULL), 0);
		assert_int_equal(s.n, 1);
		timer_ring_free(recorder);
	}
	munmap(all, size);
	munmap(control, WIRE_SAMPLER_CONTROL_BYTES);
	close(fd);
	unlink(path);
}

int main(void)
{
#define IN_BOTH(f) cmocka_unit_test_setup_teardown(f, open_both, close_both)
	const struct CMUnitTest tests[] = {
		IN_BOTH(records_pass_through_many_laps),
		IN_BOTH(a_full_ring_refuses_and_goes_on_when_there_is_room),
		IN_BOTH(a_record_that_wraps_around_is_whole),
		IN_BOTH(a_record_that_was_never_finished_is_waited_for_then_passed_over),
		IN_BOTH(a_record_that_nobody_will_finish_is_passed_over_when_others_are_lost),
		IN_BOTH(a_record_that_is_late_is_waited_for_although_others_are_lost),
		IN_BOTH(a_ring_that_is_cut_short_or_overwritten_is_an_error),
		IN_BOTH(what_a_thread_waits_for_is_read_beside_the_records),
		cmocka_unit_test(
			what_an_earlier_owner_left_in_a_claimed_ring_is_never_read),
		cmocka_unit_test(
			a_ring_that_is_mapped_among_all_is_as_good_as_one_that_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
