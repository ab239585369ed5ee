/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "numbered_tally.h"
#include "scratch_directory.h"
#include "store/database_writer.h"

#define MAX   1000
#define HOUR  3600
#define START (INT64_C(490000) * HOUR)

static struct database_writer *open_writer(const char *host)
{
	struct database_writer *w = NULL;
	struct err e = { 0 };

	if (database_writer_open(scratch_directory_path, host, &w, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static void begin(struct database_writer *w, int64_t start_s, const char *label)
{
	struct manifest m = { .start_s = start_s };
	struct err e = { 0 };

	manifest_set(m.label, label);
	if (database_writer_begin(w, &m, &e) < 0)
		fail_msg("%s", e.text);
}

static void add(struct database_writer *w, uint32_t number, int64_t from_s)
{
	own(tally_freep) struct tally *t = numbered_tally(number);
	struct err e = { 0 };

	if (database_writer_add(w, t, from_s, from_s + 600, &e) < 0)
		fail_msg("%s", e.text);
}

static struct database *look(void)
{
	struct database *d = NULL;
	struct err e = { 0 };

	if (database_open(scratch_directory_path, &d, &e) < 0)
		fail_msg("%s", e.text);
	return d;
}

static unsigned merge_all(struct database_writer *w, int64_t now_s)
{
	struct err e = { 0 };
	bool did = true;
	unsigned n = 0;

	for (; did && n < 100; n += did)
		if (database_writer_merge(w, NULL, now_s, &did, &e) < 0)
			fail_msg("%s", e.text);
	return n;
}

/* Each of the numbers from first to last is there once. */
static void assert_each_once(size_t epoch, uint32_t first, uint32_t last)
{
	own(database_freep) struct database *d = look();
	uint32_t n[MAX] = { 0 };
	struct err e = { 0 };

	if (numbered_tally_count(d, &d->epochs.at[epoch], n, MAX, &e) < 0)
		fail_msg("%s", e.text);
	for (uint32_t i = 0; i < MAX; i++)
		if (n[i] != (i >= first && i <= last))
			fail_msg("%u is there %u times", i, n[i]);
}

static void what_is_added_is_listed_with_its_range(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");

	(void)state;
	assert_false(database_writer_continue(w));
	begin(w, START, "first");
	add(w, 1, START);
	add(w, 2, START + 600);
	begin(w, START + 1200, "");
	add(w, 3, START + 1200);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->epochs.n, 2);
	assert_int_equal(d->segments.n, 3);
	assert_string_equal(d->hosts.at[0], "ant");
	assert_string_equal(d->epochs.at[0].manifest.label, "first");
	assert_int_equal(d->epochs.at[0].manifest.end_s, START + 1200);
	assert_int_equal(d->epochs.at[0].n_segments, 2);
	assert_int_equal(d->epochs.at[0].from_s, START);
	assert_int_equal(d->epochs.at[0].to_s, START + 1200);
	assert_int_equal(d->epochs.at[1].manifest.end_s, 0);
	assert_int_equal(d->epochs.at[1].number, 2);
	assert_true(database_bytes(d) > 0);
	assert_each_once(0, 1, 2);
	assert_each_once(1, 3, 3);
}

static void an_epoch_goes_on_where_it_was_left(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		own(database_writer_closep) struct database_writer *w =
			open_writer("ant");

		if (i == 1)
			begin(w, START, "");
		else
			assert_true(database_writer_continue(w));
		add(w, i, START + 600 * i);
		assert_int_equal(database_writer_label(w, "all", NULL), 0);
	}
	assert_each_once(0, 1, 3);

	own(database_freep) struct database *d = look();

	assert_string_equal(d->epochs.at[0].manifest.label, "all");
}

static void a_second_writer_of_a_host_is_refused(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	struct database_writer *second = NULL;
	struct err e = { 0 };
	char pid[32];

	(void)state;
	snprintf(pid, sizeof(pid), "written by pid %d on", (int)getpid());
	assert_int_equal(database_writer_open(scratch_directory_path, "ant", &second, &e),
			 ERR_OS);
	assert_non_null(strstr(e.text, pid));
	assert_null(second);
	database_writer_close(open_writer("bee"));
	database_writer_close(steal(&w));
	database_writer_close(open_writer("ant"));
}

static void the_lock_goes_with_its_holder(void **state)
{
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);

	pid_t pid = fork();

	if (pid == 0) {
		struct database_writer *w = NULL;

		if (database_writer_open(scratch_directory_path, "ant", &w, NULL) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);

	struct database_writer *w = NULL;

	assert_int_equal(database_writer_open(scratch_directory_path, "ant", &w, NULL),
			 ERR_OS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	database_writer_close(open_writer("ant"));
	close(ready[0]);
	close(ready[1]);
}

/* It holds the lock for a moment longer than the one that signed it. */
static pid_t start_holder_with_child(int ready)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct database_writer *w = NULL;

		if (database_writer_open(scratch_directory_path, "ant", &w, NULL) < 0 ||
		    write(ready, "x", 1) != 1)
			_exit(1);
		if (fork() == 0) {
			usleep(300000);
			_exit(0);
		}
		for (;;)
			pause();
	}
	return pid;
}

static void a_writer_waits_for_a_child_of_one_that_was_killed(void **state)
{
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = start_holder_with_child(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	usleep(50000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	database_writer_close(open_writer("ant"));
	close(ready[0]);
	close(ready[1]);
}

static void add_of_recording(struct database_writer *w, uint32_t number, const char *name)
{
	own(tally_freep) struct tally *t = numbered_tally(number);
	struct err e = { 0 };

	tally_info(t, DATABASE_WRITER_RECORDING, name);
	if (database_writer_add(w, t, START, START + 600, &e) < 0)
		fail_msg("%s", e.text);
}

static void a_recording_that_was_added_already_counts_once(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	struct database_writer *other = NULL;

	(void)state;
	begin(w, START, "");
	add_of_recording(w, 1, "one");
	add_of_recording(w, 2, "two");
	assert_int_equal(database_writer_open_locked(scratch_directory_path, "ant",
						     dup(database_writer_lock(w)), &other,
						     NULL),
			 0);
	assert_true(database_writer_continue(other));
	add_of_recording(other, 2, "two");
	add_of_recording(other, 3, "three");
	database_writer_close(other);
	assert_each_once(0, 1, 3);
}

static void hours_that_have_passed_are_merged(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");

	(void)state;
	begin(w, START, "");
	for (uint32_t i = 1; i <= 14; i++)
		add(w, i, START + 600 * (i - 1));
	assert_int_equal(merge_all(w, START + 14 * 600), 2);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->segments.n, 4);
	assert_int_equal(d->segments.at[0].name.last, 6);
	assert_int_equal(d->segments.at[0].name.to_s, START + HOUR);
	assert_int_equal(d->leftovers.n, 0);
	assert_each_once(0, 1, 14);
	/* A day later it is one, and so are the two that were too young. */
	assert_true(merge_all(w, START + 3 * 24 * HOUR) > 0);
	assert_each_once(0, 1, 14);
}

static void an_epoch_that_has_ended_becomes_one_file(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");

	(void)state;
	begin(w, START, "");
	for (uint32_t i = 1; i <= 20; i++)
		add(w, i, START + 600 * i);
	assert_int_equal(merge_all(w, START), 0);
	assert_int_equal(database_writer_end(w, START + 21 * 600, NULL), 0);
	assert_int_equal(merge_all(w, START + 21 * 600), 1);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->segments.n, 1);
	assert_int_equal(d->segments.at[0].name.first, 1);
	assert_int_equal(d->segments.at[0].name.last, 20);
	assert_each_once(0, 1, 20);
}

/* The inputs of a merge are there until the writer looks again. */
static void inputs_and_result_count_once(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	bool did = false;

	(void)state;
	begin(w, START, "");
	for (uint32_t i = 1; i <= 3; i++)
		add(w, i, START + 600 * i);
	assert_int_equal(database_writer_end(w, START + 2400, NULL), 0);
	assert_int_equal(database_writer_merge(w, NULL, START, &did, NULL), 0);
	assert_true(did);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->segments.n, 1);
	assert_int_equal(d->leftovers.n, 3);
	assert_each_once(0, 1, 3);
}

static void damage(const char *path)
{
	own(closep) int fd = open(path, O_RDWR);
	char byte = 0x55;

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, 60), 1);
}

static void a_damaged_segment_stays_and_is_merged_around(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");

	(void)state;
	begin(w, START, "");
	for (uint32_t i = 1; i <= 5; i++)
		add(w, i, START + 600 * i);
	assert_int_equal(database_writer_end(w, START + 3600, NULL), 0);

	own(database_freep) struct database *d = look();

	damage(d->segments.at[2].path);
	merge_all(w, START + 3600);

	own(database_freep) struct database *after = look();

	assert_int_equal(after->segments.n, 3);
	assert_int_equal(after->segments.at[0].name.last, 2);
	assert_string_equal(after->segments.at[1].path, d->segments.at[2].path);
	assert_int_equal(after->segments.at[2].name.last, 5);
}

static void foreign_files_are_passed_over(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	own(freep) char *file =
		xasprintf("%s/ant/0001/notes.txt", scratch_directory_path);
	own(freep) char *folder = xasprintf("%s/ant/1", scratch_directory_path);
	own(freep) char *half =
		xasprintf("%s/ant/0001/.new-x.dwell", scratch_directory_path);

	(void)state;
	begin(w, START, "");
	add(w, 1, START);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	close(open(half, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(mkdir(folder, 0700), 0);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->segments.n, 1);
	assert_int_equal(d->epochs.n, 1);
	assert_int_equal(d->n_foreign, 2);
	assert_int_equal(d->leftovers.n, 1);
	/* What was half done goes when the next writer begins, the rest is not its. */
	database_writer_close(steal(&w));
	database_writer_close(open_writer("ant"));
	assert_int_not_equal(access(half, F_OK), 0);
	assert_int_equal(access(file, F_OK), 0);
}

static void a_damaged_manifest_is_named_and_the_segments_are_read(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	own(freep) char *path = xasprintf("%s/ant/0001/MANIFEST", scratch_directory_path);

	(void)state;
	begin(w, START, "");
	add(w, 1, START);
	damage(path);

	own(database_freep) struct database *d = look();

	assert_false(d->epochs.at[0].has_manifest);
	assert_non_null(strstr(d->epochs.at[0].problem, "MANIFEST"));
	assert_int_equal(d->epochs.at[0].from_s, START);
	assert_each_once(0, 1, 1);
	/* Nobody goes on with it; a new one begins behind it. */
	database_writer_close(steal(&w));
	w = open_writer("ant");
	assert_false(database_writer_continue(w));
	begin(w, START + 600, "");
	assert_int_equal(database_writer_epoch(w)->epoch, 2);
}

static void the_oldest_goes_first(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	uint64_t n = 0;

	(void)state;
	for (uint32_t i = 1; i <= 6; i++) {
		if (i % 2)
			begin(w, START + 600 * i, "");
		add(w, i, START + 600 * i);
	}

	struct database_retention r = { .max_age_s = 3 * 600 };

	assert_int_equal(database_writer_retain(w, &r, START + 600 * 7 + 1, &n, NULL), 0);
	assert_int_equal(n, 3);

	own(database_freep) struct database *d = look();

	assert_int_equal(d->epochs.n, 2);
	assert_each_once(0, 4, 4);
	assert_each_once(1, 5, 6);
	r = (struct database_retention){ .max_bytes = 1 };
	assert_int_equal(database_writer_retain(w, &r, START, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_each_once(0, 6, 6); /* never the newest */
}

static void a_full_disk_costs_nothing_that_was_there(void **state)
{
	own(database_writer_closep) struct database_writer *w = open_writer("ant");
	own(tally_freep) struct tally *t = numbered_tally(2);
	struct rlimit was, tiny;
	struct err e = { 0 };

	(void)state;
	begin(w, START, "");
	add(w, 1, START);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	tiny = was;
	for (tiny.rlim_cur = 0; tiny.rlim_cur < 600; tiny.rlim_cur += 97) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);

		int rc = database_writer_add(w, t, START + 600, START + 1200, &e);

		assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
		assert_int_equal(rc, ERR_OS);
		assert_non_null(strstr(e.text, scratch_directory_path));
		assert_each_once(0, 1, 1);
	}
	assert_int_equal(database_writer_add(w, t, START + 600, START + 1200, &e), 0);
	assert_each_once(0, 1, 2);
}

static void a_directory_that_cannot_be_written_is_told(void **state)
{
	struct database_writer *w = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(database_writer_open("/proc/dwell", "ant", &w, &e), ERR_OS);
	assert_non_null(strstr(e.text, "/proc/dwell"));
	assert_int_equal(database_writer_open("/dev/null", "ant", &w, &e), ERR_OS);
	assert_non_null(strstr(e.text, "not a directory"));
}

static void a_hosts_name_cannot_leave_the_database(void **state)
{
	own(freep) char *dots = database_host_name("../../etc");
	own(freep) char *empty = database_host_name("");
	own(freep) char *plain = database_host_name("web-1.example.org");

	(void)state;
	assert_string_equal(dots, "_._.._etc");
	assert_string_equal(empty, "unknown");
	assert_string_equal(plain, "web-1.example.org");
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_directory_make,                    \
					scratch_directory_remove)
	const struct CMUnitTest tests[] = {
		TEST(what_is_added_is_listed_with_its_range),
		TEST(an_epoch_goes_on_where_it_was_left),
		TEST(a_second_writer_of_a_host_is_refused),
		TEST(the_lock_goes_with_its_holder),
		TEST(a_writer_waits_for_a_child_of_one_that_was_killed),
		TEST(a_recording_that_was_added_already_counts_once),
		TEST(hours_that_have_passed_are_merged),
		TEST(an_epoch_that_has_ended_becomes_one_file),
		TEST(inputs_and_result_count_once),
		TEST(a_damaged_segment_stays_and_is_merged_around),
		TEST(foreign_files_are_passed_over),
		TEST(a_damaged_manifest_is_named_and_the_segments_are_read),
		TEST(the_oldest_goes_first),
		TEST(a_full_disk_costs_nothing_that_was_there),
		TEST(a_directory_that_cannot_be_written_is_told),
		TEST(a_hosts_name_cannot_leave_the_database),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
