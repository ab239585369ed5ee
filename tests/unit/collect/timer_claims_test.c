/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_claims.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/ring.h"

#define BYTES	WIRE_SAMPLER_RING_MIN
#define SECOND	UINT64_C(1000000000)
#define N_FIRST 32

/* The recorder's directory, the control file as a target maps it, and what was found. */
struct fixture {
	struct timer_directory directory;
	struct timer_claims claims;
	struct wire_sampler_control *control;
	struct timer_ring *found; /* the last */
	unsigned n_found, n_damaged;
};

static const unsigned char bytes[] = "library";
static const size_t size = sizeof(bytes), none;
static const struct timer_library library = { "lib.so", bytes, bytes, &size, &none };

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct wire_sampler_control control = { .magic = WIRE_SAMPLER_MAGIC,
						.ring_bytes = BYTES };

	if (timer_directory_make(&f->directory, &control, &library, N_FIRST, NULL) < 0)
		return -1;
	f->control = mmap(NULL, WIRE_SAMPLER_CONTROL_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED, f->directory.control_fd, 0);
	*state = f;
	return f->control == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	munmap(f->control, WIRE_SAMPLER_CONTROL_BYTES);
	timer_directory_remove(&f->directory, false);
	timer_ring_free(f->found);
	free(f);
	return 0;
}

static void note(void *ctx, struct timer_ring *ring)
{
	struct fixture *f = ctx;

	if (!ring) {
		f->n_damaged++;
		return;
	}
	timer_ring_free(f->found);
	f->found = ring;
	f->n_found++;
}

static void look(struct fixture *f, uint64_t now_ns)
{
	timer_claims_look(&f->claims, &f->directory, now_ns, note, f);
}

static bool claim(struct fixture *f, struct ring *ring, pid_t pid)
{
	return ring_claim(ring, f->control, f->directory.control_fd, pid);
}

static size_t n_claimed(const struct fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < WIRE_SAMPLER_N_RINGS_MAX; i++)
		n += f->control->claims[i] != 0;
	return n;
}

/* The pid of a process that has been. */
static pid_t dead(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* A process that claims a ring and is killed before or after it is ready. */
static void die_with_a_ring(struct fixture *f, bool is_ready)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct ring ring;

		if (!claim(f, &ring, getpid()))
			_exit(1);
		ring_write(&ring, WIRE_SAMPLER_START, &(struct wire_sampler_start){ 0 },
			   sizeof(struct wire_sampler_start), "/bin/x", 6);
		ring.header->magic = is_ready ? WIRE_SAMPLER_MAGIC : 0;
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(n_claimed(f), 1);
}

static void count(void *ctx, const struct timer_record *record)
{
	(void)record;
	++*(unsigned *)ctx;
}

static void who_is_killed_before_its_ring_is_ready_leaves_it_to_others(void **state)
{
	struct fixture *f = *state;
	struct ring mine;
	unsigned n = 0;

	f->control->n_rings = 1;
	die_with_a_ring(f, false);
	look(f, SECOND);
	assert_int_equal(n_claimed(f), 1); /* it may be one of another namespace */
	look(f, 2 * SECOND);
	assert_int_equal(n_claimed(f), 0);

	/* What it wrote is not taken for the next owner's. */
	assert_true(claim(f, &mine, getpid()));
	mine.header->magic = WIRE_SAMPLER_MAGIC;
	look(f, 3 * SECOND);
	assert_int_equal(f->n_found, 1);
	mine.header->head += 56;
	assert_int_equal(timer_ring_drain(f->found, 0, true, count, &n, NULL), 0);
	assert_int_equal(n, 0);
	ring_unmap(&mine);
}

static void who_is_still_there_may_take_its_time(void **state)
{
	struct fixture *f = *state;
	struct ring mine;

	assert_true(claim(f, &mine, getpid()));
	for (uint64_t t = 1; t < 10; t++)
		look(f, t * SECOND);
	assert_int_equal(n_claimed(f), 1);
	assert_int_equal(f->n_found, 0);
	mine.header->magic = WIRE_SAMPLER_MAGIC;
	look(f, 10 * SECOND);
	look(f, 11 * SECOND);
	assert_int_equal(f->n_found, 1);
	ring_unmap(&mine);
}

static void what_a_killed_process_wrote_is_read_before_its_ring_is_free(void **state)
{
	struct fixture *f = *state;
	unsigned n = 0;

	die_with_a_ring(f, true);
	for (uint64_t t = 1; t < 10; t++)
		look(f, t * SECOND);
	assert_int_equal(f->n_found, 1);
	assert_int_equal(n_claimed(f), 1); /* until its reader says so */
	assert_int_equal(timer_ring_drain(f->found, 0, true, count, &n, NULL), 0);
	assert_int_equal(n, 1);
	timer_claims_give_back(&f->claims, f->found);
	assert_int_equal(n_claimed(f), 0);
}

/* Only then is it known that it has written everything. */
static void who_has_gone_before_the_look_is_told_from_who_goes_during_it(void **state)
{
	struct fixture *f = *state;
	struct ring mine;

	f->control->n_rings = 1;
	timer_claims_look_for_gone(&f->claims, &f->directory);
	die_with_a_ring(f, true);
	look(f, SECOND);
	assert_int_equal(f->n_found, 1);
	assert_false(timer_claims_was_gone(&f->claims, f->found));
	timer_claims_give_back(&f->claims, f->found);

	die_with_a_ring(f, true);
	timer_claims_look_for_gone(&f->claims, &f->directory);
	look(f, SECOND);
	assert_int_equal(f->n_found, 2);
	assert_true(timer_claims_was_gone(&f->claims, f->found));
	timer_claims_give_back(&f->claims, f->found);

	assert_true(claim(f, &mine, getpid()));
	mine.header->magic = WIRE_SAMPLER_MAGIC;
	timer_claims_look_for_gone(&f->claims, &f->directory);
	look(f, SECOND);
	assert_int_equal(f->n_found, 3);
	assert_false(timer_claims_was_gone(&f->claims, f->found));
	ring_unmap(&mine);
}

static void a_ring_that_is_none_is_told_once_and_freed_with_its_process(void **state)
{
	struct fixture *f = *state;
	struct ring ring;

	assert_true(claim(f, &ring, getpid()));
	ring.header->magic = 1;
	look(f, SECOND);
	look(f, 3 * SECOND);
	assert_int_equal(f->n_damaged, 1);
	assert_int_equal(n_claimed(f), 1);
	ring_unmap(&ring);
	for (size_t i = 0; i < WIRE_SAMPLER_N_RINGS_MAX; i++)
		if (f->control->claims[i])
			f->control->claims[i] = (uint32_t)dead();
	look(f, 4 * SECOND);
	look(f, 6 * SECOND);
	assert_int_equal(n_claimed(f), 0);
}

static void there_are_always_as_many_rings_free_as_taken_up_to_a_limit(void **state)
{
	struct fixture *f = *state;
	struct ring ring;
	unsigned n = 0;

	assert_int_equal(f->control->n_rings, N_FIRST);
	look(f, SECOND);
	assert_int_equal(f->control->n_rings, N_FIRST);
	for (; claim(f, &ring, getpid()); n++) {
		/* All of it is there: touching it must not fail. */
		memset(ring.data, 0xff, BYTES);
		ring_unmap(&ring);
		look(f, SECOND);
	}
	assert_int_equal(n, WIRE_SAMPLER_N_RINGS_MAX);
	assert_int_equal(f->control->n_rings, WIRE_SAMPLER_N_RINGS_MAX);
	assert_int_equal(f->directory.n_rings, WIRE_SAMPLER_N_RINGS_MAX);
	assert_int_equal(f->n_found, 0);
}

/* The memory of rings is that of a file. */
static void without_memory_for_more_it_goes_on_with_what_there_is(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, no_more;
	struct ring ring;
	struct stat st;

	assert_int_equal(fstat(f->directory.control_fd, &st), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	no_more = (struct rlimit){ (rlim_t)st.st_size, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &no_more), 0);
	for (unsigned i = 0; i < N_FIRST; i++) {
		assert_true(claim(f, &ring, getpid()));
		ring_unmap(&ring);
		look(f, SECOND);
	}
	assert_false(claim(f, &ring, getpid()));
	assert_int_equal(f->control->n_rings, N_FIRST);
	setrlimit(RLIMIT_FSIZE, &old);
	look(f, SECOND);
	assert_int_equal(f->control->n_rings, 2 * N_FIRST);
	assert_true(claim(f, &ring, getpid()));
	ring_unmap(&ring);
}

int main(void)
{
#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(who_is_killed_before_its_ring_is_ready_leaves_it_to_others),
		IN_DIRECTORY(who_is_still_there_may_take_its_time),
		IN_DIRECTORY(what_a_killed_process_wrote_is_read_before_its_ring_is_free),
		IN_DIRECTORY(
			who_has_gone_before_the_look_is_told_from_who_goes_during_it),
		IN_DIRECTORY(a_ring_that_is_none_is_told_once_and_freed_with_its_process),
		IN_DIRECTORY(there_are_always_as_many_rings_free_as_taken_up_to_a_limit),
		IN_DIRECTORY(without_memory_for_more_it_goes_on_with_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
