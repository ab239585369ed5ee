/* SPDX-License-Identifier: Apache-2.0 */
#include "store/writer.h"

#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "store/recording.h"
#include "scratch_file.h"

#define N_KILLS 25

static const char *const path = scratch_file_path;

static struct writer *create(const struct writer_options *o)
{
	struct writer *w = NULL;

	if (writer_create(path, o, &w, NULL) < 0)
		_exit(9);
	writer_process(w, &(struct model_process){ .parent = MODEL_NONE,
						   .exec_of = MODEL_NONE,
						   .comm = writer_string(w, "x") });
	writer_thread(w, &(struct model_thread){ .tid = 1 });
	writer_event(w, &(struct model_event){ .name = writer_string(w, "cpu-time") });
	writer_image(w, &(struct model_image){ .path = writer_string(w, "/bin/x") });
	return w;
}

/* Nothing that could be compressed. */
static uint64_t weight_of(uint64_t i)
{
	return hash_u64(i) >> 32;
}

/* The i-th sample is known from i alone; every now and then its stack is a new one. */
static void add_sample(struct writer *w, uint64_t i)
{
	uint32_t stack = writer_stack(w, 0, writer_location(w, 0, i / 64, 0));

	stack = writer_stack(w, stack, writer_location(w, 0, i % 7, 0));
	writer_sample(w, &(struct model_sample){ .time_ns = i,
						 .weight = weight_of(i),
						 .stack = stack,
						 .count = 1 });
}

static void check_sample(const struct recording *r, const struct sample_block *b,
			 size_t k, uint64_t i)
{
	const struct model_stack *s = recording_stacks(r);
	const struct model_location *l = recording_locations(r);
	uint32_t inner = b->stack[k];

	if (b->time_ns[k] != i || b->weight[k] != weight_of(i) ||
	    l[s[inner].location].offset != i % 7 ||
	    l[s[s[inner].parent].location].offset != i / 64)
		fail_msg("sample %" PRIu64 " is another one", i);
}

/* The samples in the file are the first ones that were written; how many. */
static uint64_t check_samples(const struct recording *r)
{
	own(sample_block_fini) struct sample_block b = { 0 };
	uint64_t n = 0;

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++)
			check_sample(r, &b, k, n++);
	}
	return n;
}

static struct recording *open_it(void)
{
	struct recording *r = NULL;
	struct err e = { 0 };

	if (recording_open(path, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* Writes until it is killed, small blocks and large ones. */
static void write_for_ever(int ready)
{
	struct writer *w = create(NULL);

	if (write(ready, "x", 1) != 1)
		_exit(9);
	for (uint64_t i = 0;; i++) {
		add_sample(w, i);
		if (i % 1000 < i / 5000 && writer_flush(w, NULL) < 0)
			_exit(9);
	}
}

static void kill_a_writer_after(long ns)
{
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);

	pid_t pid = fork();

	if (pid == 0)
		write_for_ever(ready[1]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* How many samples are in the file of a writer killed after so long. */
static uint64_t samples_of_a_writer_killed_after(long ns)
{
	unlink(path);
	kill_a_writer_after(ns);

	own(recording_freep) struct recording *r = open_it();

	assert_false(recording_is_complete(r));
	assert_non_null(strstr(recording_damage(r), "unfinished"));
	return check_samples(r);
}

static void what_was_flushed_survives_sigkill(void **state)
{
	uint64_t total = 0;

	(void)state;
	for (long i = 0; i < N_KILLS; i++)
		total += samples_of_a_writer_killed_after(i * i * 20011 + i * 7919);
	/* An emulated or busy CPU may not have got that far in a few milliseconds. */
	for (long ms = 32; !total && ms < 20000; ms *= 2)
		total += samples_of_a_writer_killed_after(ms * 1000000);
	assert_true(total > 0);
}

/* In a child, as the limit stays: 0, or the number of the check that failed. */
static int fill_the_disk(rlim_t max)
{
	struct err e = { 0 };
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);

	struct writer *w = create(NULL);

	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){ max, max }) != 0)
		return 1;
	for (uint64_t i = 0; i < 400000; i++)
		add_sample(w, i);
	if (!writer_failed(w) || writer_lost_samples(w) == 0)
		return 2;
	if (stat(path, &st) != 0 || (uint64_t)st.st_size != writer_bytes(w))
		return 3;
	if (writer_flush(w, &e) != ERR_OS || !strstr(e.text, "cannot write"))
		return 4;
	if (writer_blob(w, &(struct model_blob){ .size_bytes = 1 }, "x", &e) != ERR_OS)
		return 5;
	e.code = 0;
	return writer_close(w, &e) == ERR_OS && e.code == ERR_OS ? 0 : 6;
}

static void a_full_disk_keeps_what_was_written(void **state)
{
	(void)state;
	for (rlim_t max = 200000; max < 1000000; max += 123456) {
		int status;

		unlink(path);

		pid_t pid = fork();

		if (pid == 0)
			_exit(fill_the_disk(max));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);

		own(recording_freep) struct recording *r = open_it();
		uint64_t lost = 0;
		uint64_t kept = check_samples(r);

		assert_true(recording_bytes(r) <= max);
		assert_true(kept < 400000);
		/* What was left of the disk was enough to say what is missing. */
		if (recording_is_complete(r)) {
			assert_true(recording_find_fact(r, FACT_LOSS, "unwritten-samples",
							MODEL_NONE, MODEL_NONE, &lost));
			assert_int_equal(kept + lost, 400000);
		} else {
			assert_non_null(recording_damage(r));
		}
	}
}

enum { CANNOT_MOUNT = 77 };

/* A file system of half a megabyte that nobody else sees. */
static int mount_small(void)
{
	if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return CANNOT_MOUNT;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/tmp", "tmpfs", 0, "size=512k") != 0 || chdir("/tmp") != 0)
		return CANNOT_MOUNT;
	return 0;
}

/* "x", which keeps room; NULL: it cannot be made. */
static struct writer *create_small(void)
{
	const struct writer_options options = { .keeps_room = true };
	struct writer *w = NULL;

	unlink("x");
	if (writer_create("x", &options, &w, NULL) < 0)
		return NULL;
	writer_process(w, &(struct model_process){ .parent = MODEL_NONE,
						   .exec_of = MODEL_NONE });
	writer_thread(w, &(struct model_thread){ .tid = 1 });
	writer_event(w, &(struct model_event){ .name = writer_string(w, "cpu-time") });
	writer_image(w, &(struct model_image){ .path = writer_string(w, "/bin/x") });
	return w;
}

/* What has not been written is all told, and the file is whole, at whatever byte the disk
 * was full. */
static int fill_a_small_disk(uint64_t n_each)
{
	own(recording_freep) struct recording *r = NULL;
	struct writer *w = create_small();
	uint64_t lost = 0, n = 0;
	struct statvfs room;

	if (!w)
		return 2;
	while (!writer_failed(w) && n < 10000000) {
		add_sample(w, n++);
		if (n % n_each == 0)
			(void)!writer_flush(w, NULL);
	}
	writer_info(w, "why", "it is full");
	for (uint64_t i = 0; i < 1000; i++)
		add_sample(w, n++);
	if (writer_close(w, NULL) != ERR_OS || recording_open("x", &r, NULL) < 0)
		return 3;
	if (!recording_is_complete(r) || recording_damage(r) || !recording_info(r, "why"))
		return 4;
	if (!recording_find_fact(r, FACT_LOSS, "unwritten-samples", MODEL_NONE,
				 MODEL_NONE, &lost) ||
	    check_samples(r) + lost != n)
		return 5;
	/* What was kept and not used is free again. */
	return statvfs(".", &room) == 0 && room.f_bfree > 0 ? 0 : 6;
}

/* False: the disk is full. */
static bool add_byte(int fd)
{
	return write(fd, "x", 1) == 1;
}

/* More than a page, however it is packed. */
static const char *long_story(void)
{
	static char story[16384];

	for (size_t i = 0; i + 1 < sizeof(story); i++)
		story[i] = (char)('!' + rand() % 90);
	return story;
}

/* What is only known at the end, behind all samples, uses what was kept. */
static int end_on_a_full_disk(uint64_t n)
{
	own(recording_freep) struct recording *r = NULL;
	own(closep) int filler = open("filler", O_WRONLY | O_CREAT, 0600);
	struct writer *w = create_small();
	uint64_t value = 0;

	if (filler < 0 || !w)
		return 2;
	for (uint64_t i = 0; i < n; i++)
		add_sample(w, i);
	if (writer_flush(w, NULL) < 0)
		return 3;
	while (add_byte(filler))
		;
	writer_info(w, "why", long_story());
	writer_fact(w, &(struct model_fact){ .kind = FACT_TARGET,
					     .name = writer_string(w, "cpu-time"),
					     .unit = writer_string(w, "ns"),
					     .event = MODEL_NONE,
					     .process = MODEL_NONE,
					     .value = 7 });
	if (writer_close(w, NULL) != 0 || recording_open("x", &r, NULL) < 0)
		return 4;
	return recording_is_complete(r) && recording_info(r, "why") &&
			       recording_find_fact(r, FACT_TARGET, "cpu-time", MODEL_NONE,
						   MODEL_NONE, &value) &&
			       value == 7 && check_samples(r) == n
		       ? 0
		       : 5;
}

static void on_a_small_disk(int (*act)(uint64_t n), uint64_t n)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int rc = mount_small();

		_exit(rc ? rc : act(n));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == CANNOT_MOUNT)
		skip();
	assert_int_equal(status, 0);
}

static void a_full_disk_has_room_to_say_what_is_missing(void **state)
{
	(void)state;
	for (uint64_t n_each = 1000; n_each < 1700; n_each += 97)
		on_a_small_disk(fill_a_small_disk, n_each);
}

static void a_full_disk_has_room_for_the_end(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 3000; n += 1000)
		on_a_small_disk(end_on_a_full_disk, n);
}

static void the_largest_size_is_kept_and_the_rest_is_a_stated_loss(void **state)
{
	const struct writer_options o = { .max_bytes = 300000 };
	struct writer *w = create(&o);
	uint64_t lost = 0;

	(void)state;
	for (uint64_t i = 0; i < 300000; i++) {
		add_sample(w, i);
		if (i % 5000 == 0)
			assert_int_equal(writer_flush(w, NULL), 0);
	}
	assert_null(writer_failed(w));
	assert_true(writer_lost_samples(w) > 0);
	assert_int_equal(
		writer_blob(w, &(struct model_blob){ .size_bytes = 1 }, "x", NULL),
		ERR_LIMIT);
	assert_int_equal(writer_close(w, NULL), 0);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_true(recording_bytes(r) <= o.max_bytes);
	assert_true(recording_find_fact(r, FACT_LOSS, "unwritten-samples", MODEL_NONE,
					MODEL_NONE, &lost));
	assert_int_equal(check_samples(r) + lost, 300000);
}

static void new_stacks_do_not_exceed_the_largest_size(void **state)
{
	const struct writer_options o = { .max_bytes = 300000 };
	struct writer *w = create(&o);

	(void)state;
	add_sample(w, 0);
	assert_int_equal(writer_flush(w, NULL), 0);
	for (uint32_t i = 1; i < 500000; i++)
		writer_stack(w, hash_u64(i) % i % 9,
			     writer_location(w, 0, hash_u64(i), 0));
	add_sample(w, 1);
	assert_int_equal(writer_close(w, NULL), 0);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_true(recording_bytes(r) <= o.max_bytes);
	assert_int_equal(check_samples(r), 1);
}

static void a_tick_writes_what_waited_for_a_second(void **state)
{
	struct writer *w = create(NULL);
	uint64_t before;

	(void)state;
	assert_int_equal(writer_flush(w, NULL), 0);
	before = writer_bytes(w);
	assert_int_equal(writer_tick(w, 5000000000, NULL), 0);
	add_sample(w, 0);
	assert_int_equal(writer_tick(w, 9000000000, NULL), 0);
	assert_int_equal(writer_tick(w, 9999999999, NULL), 0);
	assert_int_equal(writer_bytes(w), before);
	assert_int_equal(writer_tick(w, 10000000000, NULL), 0);
	assert_true(writer_bytes(w) > before);

	own(recording_freep) struct recording *r = open_it();

	assert_int_equal(check_samples(r), 1);
	assert_int_equal(writer_close(w, NULL), 0);
}

static void sums_wait_as_long_as_what_they_are_of(void **state)
{
	struct writer *w = create(NULL);
	uint64_t before;

	(void)state;
	assert_int_equal(writer_flush(w, NULL), 0);
	before = writer_bytes(w);
	/* Of nothing. */
	writer_date(w, 1000000000);
	add_sample(w, 0);
	assert_int_equal(writer_tick(w, 9000000000, NULL), 0);
	assert_int_equal(writer_bytes(w), before);
	add_sample(w, 1);
	writer_date(w, 8500000000);
	writer_date(w, 8800000000);
	assert_int_equal(writer_tick(w, 9499999999, NULL), 0);
	assert_int_equal(writer_bytes(w), before);
	assert_int_equal(writer_tick(w, 9500000000, NULL), 0);
	assert_true(writer_bytes(w) > before);
	assert_int_equal(writer_close(w, NULL), 0);
}

static void the_first_data_does_not_wait_that_long(void **state)
{
	struct writer *w = create(NULL);
	uint64_t before = writer_bytes(w);

	(void)state;
	add_sample(w, 0);
	assert_int_equal(writer_tick(w, 5000000000, NULL), 0);
	assert_int_equal(writer_bytes(w), before);
	assert_int_equal(writer_tick(w, 5200000000, NULL), 0);
	assert_true(writer_bytes(w) > before);
	assert_int_equal(writer_close(w, NULL), 0);
}

static void the_owner_is_who_called(void **state)
{
	const struct writer_options o = { .has_owner = true,
					  .uid = getuid() ? getuid() : 12345,
					  .gid = getgid() ? getgid() : 12345 };
	struct stat st;

	(void)state;
	assert_int_equal(writer_close(create(&o), NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, o.uid);
	assert_int_equal(st.st_gid, o.gid);
}

static void continue_it(void)
{
	struct writer *w = NULL;
	struct err e = { 0 };

	if (writer_continue(path, &w, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(writer_string(w, "cpu-time"), 2);
	for (uint64_t i = 5000; i < 9000; i++)
		add_sample(w, i);
	writer_info(w, "comment", "again");
	assert_int_equal(writer_blob(w,
				     &(struct model_blob){ .image = 0, .size_bytes = 5 },
				     "bytes", NULL),
			 0);
	assert_int_equal(writer_close(w, NULL), 0);

	own(recording_freep) struct recording *r = open_it();

	assert_null(recording_damage(r));
	assert_int_equal(check_samples(r), 9000);
	assert_int_equal(recording_n_events(r), 1);
	assert_int_equal(recording_n_images(r), 1);
	assert_int_equal(recording_n_blobs(r), 1);
	assert_string_equal(recording_info(r, "comment"), "again");
}

static void more_can_be_added_to_a_closed_recording(void **state)
{
	struct writer *w = create(NULL);

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		add_sample(w, i);
	assert_int_equal(writer_close(w, NULL), 0);
	continue_it();
}

static void more_can_be_added_to_an_unfinished_recording(void **state)
{
	struct writer *w = create(NULL);
	struct stat st;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		add_sample(w, i);
	assert_int_equal(writer_flush(w, NULL), 0);
	writer_info(w, "half", "a block");
	assert_int_equal(writer_flush(w, NULL), 0);
	writer_free(w);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 3), 0);
	continue_it();
}

static void nothing_is_added_to_what_is_damaged_or_foreign(void **state)
{
	struct writer *w = NULL;
	struct err e = { 0 };
	FILE *f;

	(void)state;
	assert_int_equal(writer_close(create(NULL), NULL), 0);
	f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 50, SEEK_SET);
	fputs("damage", f);
	fclose(f);
	assert_int_equal(writer_continue(path, &w, &e), ERR_FORMAT);
	assert_non_null(strstr(e.text, "damaged at byte"));
	assert_int_equal(writer_continue("/dev/null", &w, &e), ERR_FORMAT);
	assert_null(w);
}

int main(void)
{
#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_file_make, scratch_file_remove)
	const struct CMUnitTest tests[] = {
		TEST(what_was_flushed_survives_sigkill),
		TEST(a_full_disk_keeps_what_was_written),
		TEST(a_full_disk_has_room_to_say_what_is_missing),
		TEST(a_full_disk_has_room_for_the_end),
		TEST(the_largest_size_is_kept_and_the_rest_is_a_stated_loss),
		TEST(new_stacks_do_not_exceed_the_largest_size),
		TEST(a_tick_writes_what_waited_for_a_second),
		TEST(sums_wait_as_long_as_what_they_are_of),
		TEST(the_first_data_does_not_wait_that_long),
		TEST(the_owner_is_who_called),
		TEST(more_can_be_added_to_a_closed_recording),
		TEST(more_can_be_added_to_an_unfinished_recording),
		TEST(nothing_is_added_to_what_is_damaged_or_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
