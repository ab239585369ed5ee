/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_images.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES WIRE_SAMPLER_RING_MIN

static const unsigned char bytes[] = "library";
static const size_t size = sizeof(bytes), none;
static const struct timer_library library = { "lib.so", bytes, bytes, &size, &none };

static int set_up(void **state)
{
	struct timer_images *s = calloc(1, sizeof(*s));
	struct wire_sampler_control control = { .magic = WIRE_SAMPLER_MAGIC,
						.ring_bytes = BYTES };

	s->totals = (struct timer_totals){ .known = &s->known, .present = &s->present };
	*state = s;
	return timer_directory_make(&s->directory, &control, &library, 1, NULL);
}

static int tear_down(void **state)
{
	timer_images_fini(*state);
	free(*state);
	return 0;
}

static void let_age(void)
{
	const struct timespec t = { .tv_nsec = 50000000 };

	nanosleep(&t, NULL);
}

/* After so long the directory is known to be as it was. */
static void let_settle(struct timer_images *s)
{
	let_age();
	timer_images_drain(s, false);
	timer_images_drain(s, false);
}

/* A file of a ring that nothing is in yet. */
static int make_file(const struct timer_images *s, unsigned number)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%u", WIRE_SAMPLER_RING_PREFIX, number);
	return openat(s->directory.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void make_ready_of(int fd, pid_t pid, uint64_t start_ns)
{
	const struct wire_sampler_ring header = { .magic = WIRE_SAMPLER_MAGIC,
						  .version = WIRE_SAMPLER_VERSION,
						  .ring_bytes = BYTES,
						  .pid = (uint32_t)pid,
						  .start_ns = start_ns };

	assert_int_equal(ftruncate(fd, WIRE_SAMPLER_RECORDS_AT + BYTES), 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	close(fd);
}

static void make_ready(int fd)
{
	make_ready_of(fd, getpid(), 1);
}

static void rings_are_found_whenever_they_are_made(void **state)
{
	struct timer_images *s = *state;

	for (unsigned n = 1; n <= 3; n++) {
		let_settle(s);
		make_ready(make_file(s, n));
		timer_images_drain(s, false);
		assert_int_equal(s->totals.n_images, n);
	}
	/* Within what a file system may tell as one time. */
	for (unsigned n = 4; n <= 50; n++) {
		make_ready(make_file(s, n));
		timer_images_drain(s, false);
		assert_int_equal(s->totals.n_images, n);
	}
}

/* Its directory does not change then. */
static void a_ring_that_takes_its_time_is_found_when_it_is_ready(void **state)
{
	struct timer_images *s = *state;
	int fd = make_file(s, 1);

	let_settle(s);
	assert_int_equal(s->totals.n_images, 0);
	make_ready(fd);
	timer_images_drain(s, false);
	assert_int_equal(s->totals.n_images, 1);
}

static void what_is_as_it_was_is_not_read_again(void **state)
{
	struct timer_images *s = *state;

	timer_images_drain(s, false);
	assert_int_equal(s->directory.known_ns, 0); /* just made */
	let_settle(s);
	assert_int_not_equal(s->directory.known_ns, 0);
}

static pid_t that_has_ended(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* What a process ran before is there until what it has executed begins, which takes a
 * while where others tell of it first; meanwhile the process may have ended. */
static void what_is_replaced_stays_until_what_replaces_it_begins(void **state)
{
	struct timer_images *s = *state;
	pid_t pid = that_has_ended();
	int next = make_file(s, 2);

	make_ready_of(make_file(s, 1), pid, 1);
	timer_images_drain(s, false);
	s->totals.lag_ns = 20000000;
	let_age();
	make_ready_of(next, pid, 2);
	timer_images_drain(s, false);
	assert_int_equal(s->totals.n_images, 2);
	assert_int_equal(s->all.n, 2);
	assert_ptr_equal(s->all.at[1]->previous, s->all.at[0]);
	let_age();
	timer_images_drain(s, false);
	assert_int_equal(s->all.n, 0);
}

#define CLAIM_AT (off_t) offsetof(struct wire_sampler_control, claims)

/* The first ring of the control file. */
static void claim_ready(const struct timer_images *s, pid_t owner)
{
	const uint32_t pid = (uint32_t)owner;
	const struct wire_sampler_ring header = { .magic = WIRE_SAMPLER_MAGIC,
						  .version = WIRE_SAMPLER_VERSION,
						  .ring_bytes = BYTES,
						  .pid = pid,
						  .start_ns = 1 };

	assert_int_equal(pwrite(s->directory.control_fd, &header, sizeof(header),
				(off_t)wire_sampler_ring_at(0, BYTES)),
			 sizeof(header));
	assert_int_equal(pwrite(s->directory.control_fd, &pid, sizeof(pid), CLAIM_AT),
			 sizeof(pid));
}

static uint32_t claimed_by(const struct timer_images *s)
{
	uint32_t pid;

	assert_int_equal(pread(s->directory.control_fd, &pid, sizeof(pid), CLAIM_AT),
			 sizeof(pid));
	return pid;
}

/* It is there for a look more: a child of it may have no ring yet. */
static void who_came_and_went_since_the_last_look_is_done_with_at_the_next(void **state)
{
	struct timer_images *s = *state;
	pid_t pid = that_has_ended();

	claim_ready(s, pid);
	timer_images_drain(s, false);
	assert_int_equal(s->totals.n_images, 1);
	assert_int_equal(s->all.n, 1);
	assert_true(s->all.at[0]->is_drained);
	timer_images_drain(s, false);
	assert_int_equal(s->all.n, 0);
	assert_int_equal(claimed_by(s), 0);

	claim_ready(s, getpid());
	for (unsigned i = 0; i < 3; i++)
		timer_images_drain(s, false);
	assert_int_equal(s->totals.n_images, 2);
	assert_int_equal(s->all.n, 1);
	assert_int_equal(claimed_by(s), getpid());
}

/* Then others may tell of it first, and it waits until they have. */
static void who_is_too_new_is_not_done_with_though_it_has_gone(void **state)
{
	struct timer_images *s = *state;
	pid_t pid = that_has_ended();

	s->totals.lag_ns = UINT64_C(3600) * 1000000000;
	claim_ready(s, pid);
	timer_images_drain(s, false);
	timer_images_drain(s, false);
	assert_int_equal(s->all.n, 1);
	assert_int_equal(claimed_by(s), pid);
	s->totals.lag_ns = 0;
	timer_images_drain(s, false);
	assert_int_equal(s->all.n, 0);
	assert_int_equal(claimed_by(s), 0);
}

int main(void)
{
#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(rings_are_found_whenever_they_are_made),
		IN_DIRECTORY(a_ring_that_takes_its_time_is_found_when_it_is_ready),
		IN_DIRECTORY(what_is_as_it_was_is_not_read_again),
		IN_DIRECTORY(what_is_replaced_stays_until_what_replaces_it_begins),
		IN_DIRECTORY(
			who_came_and_went_since_the_last_look_is_done_with_at_the_next),
		IN_DIRECTORY(who_is_too_new_is_not_done_with_though_it_has_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
