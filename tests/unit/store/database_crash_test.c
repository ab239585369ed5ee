/* SPDX-License-Identifier: Apache-2.0
 *
 * A writer that is killed at random moments, under a reader that checks everything all
 * the time.  DWELL_KILLS=N in the environment kills N times.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "host/clock.h"
#include "numbered_tally.h"
#include "scratch_directory.h"
#include "store/database_writer.h"

#define DEFAULT_KILLS 40
#define MAX_NUMBER    (1u << 20)
#define PER_EPOCH     64
#define LIFE_SEGMENTS 8 /* a long life, in times that the first segment took */
#define MIN_LIFE_NS   60000000
#define MAX_LIFE_NS   1000000000

/* What the processes tell each other. */
struct shared {
	uint32_t n_begun, n_done; /* numbers that are being added, that are on the disk */
	uint32_t n_merges, n_looks;
	bool is_over;
};

static void check(int rc, const struct err *e)
{
	if (rc == 0)
		return;
	fprintf(stderr, "# %s\n", e->text);
	_exit(1);
}

static void write_on(struct shared *s)
{
	own(database_writer_closep) struct database_writer *w = NULL;
	struct err e = { 0 };

	check(database_writer_open(scratch_directory_path, "ant", &w, &e), &e);
	s->n_begun = s->n_done; /* what was being added may be there or not */
	for (uint32_t i = s->n_begun + 1;; i++) {
		own(tally_freep) struct tally *t = numbered_tally(i);
		bool did = false;

		if (i % PER_EPOCH == 1 || !database_writer_continue(w))
			check(database_writer_begin(w, &(struct manifest){ .start_s = i },
						    &e),
			      &e);
		__atomic_store_n(&s->n_begun, i, __ATOMIC_SEQ_CST);
		check(database_writer_add(w, t, i, i + 1, &e), &e);
		__atomic_store_n(&s->n_done, i, __ATOMIC_SEQ_CST);
		if (i % 3 == 0)
			check(database_writer_merge(
				      w, &(struct database_merge){ .hour_s = 8 }, i, &did,
				      &e),
			      &e);
		s->n_merges += did;
	}
}

/* Everything that was done before the look is there once, what had not been begun after
 * it is not there; what a kill interrupted may be there, and again when it was repeated.
 */
static int look_once(struct shared *s, uint32_t *n, const uint8_t *torn, struct err *e)
{
	own(database_freep) struct database *d = NULL;
	uint32_t done = __atomic_load_n(&s->n_done, __ATOMIC_SEQ_CST);
	int rc = database_open(scratch_directory_path, &d, e);

	memset(n, 0, MAX_NUMBER * sizeof(*n));
	for (size_t i = 0; rc == 0 && i < d->epochs.n; i++) {
		if (!d->epochs.at[i].has_manifest)
			return err_set(e, ERR_FORMAT, "%s", d->epochs.at[i].problem);
		rc = numbered_tally_count(d, &d->epochs.at[i], n, MAX_NUMBER, e);
	}
	if (rc == ERR_OS && e->os == ENOENT)
		return 0; /* merged meanwhile */
	if (rc < 0)
		return rc;

	uint32_t begun = __atomic_load_n(&s->n_begun, __ATOMIC_SEQ_CST);

	for (uint32_t i = 1; i <= done; i++)
		if (n[i] < 1 || n[i] > 1u + torn[i])
			return err_set(e, ERR_FORMAT, "%u is there %u times", i, n[i]);
	for (uint32_t i = begun + 2; i < begun + 100; i++)
		if (n[i])
			return err_set(e, ERR_FORMAT, "%u is there before its time", i);
	__atomic_fetch_add(&s->n_looks, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void read_on(struct shared *s, const uint8_t *torn)
{
	own(freep) uint32_t *n = xcalloc(MAX_NUMBER, sizeof(*n));
	struct err e = { 0 };

	while (!__atomic_load_n(&s->is_over, __ATOMIC_SEQ_CST))
		check(look_once(s, n, torn, &e), &e);
}

static pid_t writer_start(struct shared *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		write_on(s);
		_exit(0);
	}
	return pid;
}

static void writer_kill(struct shared *s, uint8_t *torn, pid_t pid)
{
	int status = 0;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		fail_msg("the writer ended by itself: %d", status);
	torn[s->n_begun] += s->n_begun != s->n_done;
}

static void wait_for(const uint32_t *what, pid_t pid)
{
	siginfo_t info = { 0 };

	while (!__atomic_load_n(what, __ATOMIC_SEQ_CST) &&
	       waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0)
		usleep(1000);
}

/* A first life lasts to the first segment, and is what the others are measured by: an
 * emulated processor or a slow disk takes a hundred times as long as a fast one.
 */
static uint64_t long_life(struct shared *s, uint8_t *torn)
{
	uint64_t start = clock_monotonic_ns();
	pid_t pid = writer_start(s);

	wait_for(&s->n_done, pid);
	writer_kill(s, torn, pid);

	uint64_t life_ns = LIFE_SEGMENTS * (clock_monotonic_ns() - start);

	return life_ns < MIN_LIFE_NS   ? MIN_LIFE_NS
	       : life_ns < MAX_LIFE_NS ? life_ns
				       : MAX_LIFE_NS;
}

static void live_and_die(struct shared *s, uint8_t *torn, uint64_t life_ns)
{
	const struct timespec life = {
		.tv_sec = (time_t)(life_ns / 1000000000),
		.tv_nsec = (long)(life_ns % 1000000000),
	};
	pid_t pid = writer_start(s);

	nanosleep(&life, NULL);
	writer_kill(s, torn, pid);
}

static void kills_lose_nothing_and_count_nothing_twice(void **state)
{
	const char *word = getenv("DWELL_KILLS");
	unsigned n_kills = word ? (unsigned)atoi(word) : DEFAULT_KILLS;
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint8_t *torn = mmap(NULL, MAX_NUMBER, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	(void)state;
	assert_true(s != MAP_FAILED && torn != MAP_FAILED);

	pid_t reader = fork();

	if (reader == 0) {
		read_on(s, torn);
		_exit(0);
	}

	uint64_t long_ns = long_life(s, torn);

	for (unsigned i = 0; i < n_kills && waitpid(reader, &status, WNOHANG) == 0; i++)
		live_and_die(s, torn, hash_u64(i) % long_ns);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		wait_for(&s->n_looks, reader);
	__atomic_store_n(&s->is_over, true, __ATOMIC_SEQ_CST);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("the reader found something wrong");
	waitpid(reader, &status, 0);
	assert_int_equal(status, 0);
	print_message("# %u kills, %u segments, %u merges, %u looks\n", n_kills,
		      s->n_done, s->n_merges, s->n_looks);
	assert_true(s->n_done > 0 && s->n_looks > 0);
	munmap(torn, MAX_NUMBER);
	munmap(s, sizeof(*s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			kills_lose_nothing_and_count_nothing_twice,
			scratch_directory_make, scratch_directory_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
