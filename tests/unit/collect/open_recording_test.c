/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/open_recording.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/recording.h"

#define SAMPLES_MAX 10000000

/* Takes nothing by itself. */
struct fake {
	struct recorder recorder;
	struct writer *writer;
	uint64_t n;
	bool is_behind;
	uint64_t recording;
};

static struct continuous_plans plans;
static char directory[32];
static struct fake fake;

static void fake_begin(struct recorder *r, struct writer *w, unused const struct plan *p)
{
	((struct fake *)r)->writer = w;
	writer_process(w, &(struct model_process){ .parent = MODEL_NONE,
						   .exec_of = MODEL_NONE });
	writer_thread(w, &(struct model_thread){ .tid = 1 });
	writer_event(w, &(struct model_event){ .name = writer_string(w, "cpu-time") });
	writer_image(w, &(struct model_image){ .path = writer_string(w, "/bin/x") });
}

static void fake_keep(struct recorder *r, uint64_t recording, bool is_behind)
{
	((struct fake *)r)->recording = recording;
	((struct fake *)r)->is_behind = is_behind;
}

static int fake_end(struct recorder *r, unused uint64_t now_ns, unused bool has_symbols,
		    unused struct err *e)
{
	((struct fake *)r)->writer = NULL;
	return 0;
}

static const struct recorder_ops fake_ops = { .begin = fake_begin,
					      .keep = fake_keep,
					      .end = fake_end };

static int make(unused void **state)
{
	signal(SIGXFSZ, SIG_IGN);
	strcpy(directory, "open_recording-XXXXXX");
	fake = (struct fake){ .recorder.ops = &fake_ops };
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_all(unused void **state)
{
	DIR *d = opendir(directory);

	for (const struct dirent *x; d && (x = readdir(d));)
		unlinkat(dirfd(d), x->d_name, 0);
	closedir(d);
	return rmdir(directory);
}

/* As if the disk were full, beyond the size of any file. */
static void fill(bool is_full)
{
	struct rlimit r;

	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = is_full ? 1 : r.rlim_max;
	setrlimit(RLIMIT_FSIZE, &r);
}

/* Each at another place, which nothing compresses. */
static void take(uint64_t n)
{
	for (uint64_t end = fake.n + n; fake.n < end; fake.n++) {
		uint32_t l = writer_location(fake.writer, 0, hash_u64(fake.n) >> 8, 0);

		writer_sample(
			fake.writer,
			&(struct model_sample){ .stack = writer_stack(fake.writer, 0, l),
						.weight = 1,
						.count = 1 });
	}
}

static uint64_t samples_of(const char *name)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);
	own(recording_freep) struct recording *r = NULL;
	own(sample_block_fini) struct sample_block b = { 0 };
	uint64_t n = 0;

	assert_int_equal(recording_open(path, &r, NULL), 0);
	assert_null(recording_damage(r));
	assert_true(recording_is_complete(r));
	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++)
			n += b.count[k];
	}
	return n;
}

/* What waits to become segments; how many are otherwise there. */
static uint64_t samples_that_wait(size_t *ret_n_open)
{
	DIR *d = opendir(directory);
	uint64_t n = 0;

	*ret_n_open = 0;
	for (const struct dirent *x; (x = readdir(d));) {
		if (strstr(x->d_name, ".closed.part"))
			n += samples_of(x->d_name);
		else if (x->d_name[0] != '.')
			++*ret_n_open;
	}
	closedir(d);
	return n;
}

static void what_cannot_be_written_is_there_when_there_is_room(unused void **state)
{
	struct open_recording *o = open_recording_new(directory, &plans);
	struct err e = { 0 };
	int rc[4] = { 0 };
	size_t n_open;

	rc[0] = open_recording_begin(o, &fake.recorder, &e);
	take(1000);
	fill(true);
	for (int i = 0; i < 3; i++) { /* segments are due meanwhile */
		take(1000);
		rc[1] += open_recording_end(o, &e);
		rc[2] += open_recording_begin(o, &fake.recorder, &e);
	}
	fill(false);
	assert_int_equal(rc[0], 0);
	assert_int_equal(rc[1], 3 * ERR_OS);
	assert_int_equal(rc[2], 0);
	assert_true(fake.is_behind);
	assert_non_null(open_recording_trouble(o));
	assert_true(open_recording_waiting(o) > 0);
	take(500);
	assert_int_equal(open_recording_settle(o, &e), 0);
	assert_null(open_recording_trouble(o));
	assert_int_equal(open_recording_waiting(o), 0);
	assert_true(!fake.is_behind && fake.recording);
	assert_int_equal(samples_that_wait(&n_open), 4000);
	assert_int_equal(n_open, 1);
	assert_int_equal(open_recording_end(o, &e), 0);
	assert_int_equal(samples_that_wait(&n_open), 4500);
	assert_int_equal(n_open, 0);
	open_recording_free(o);
}

static void no_more_waits_than_there_may(unused void **state)
{
	struct open_recording *o = open_recording_new(directory, &plans);
	struct err e = { 0 };
	int rc = open_recording_begin(o, &fake.recorder, &e);
	uint64_t most = 0;
	size_t n_open;

	fill(true);
	while (rc == 0 && fake.n < SAMPLES_MAX) {
		take(100000);
		(void)!open_recording_end(o, NULL);
		rc = open_recording_begin(o, &fake.recorder, &e);
		most = open_recording_waiting(o);
	}
	fill(false);
	assert_int_equal(rc, ERR_OS);
	assert_false(open_recording_is_there(o));
	assert_in_range(most, 8 << 20, 12 << 20);
	/* With room it goes on. */
	assert_int_equal(open_recording_settle(o, &e), 0);
	assert_int_equal(open_recording_begin(o, &fake.recorder, &e), 0);
	assert_int_equal(samples_that_wait(&n_open), fake.n);
	open_recording_free(o);
}

static void what_was_left_is_adopted_whatever_its_number(unused void **state)
{
	struct open_recording *o = open_recording_new(directory, &plans);
	struct err e = { 0 };

	assert_int_equal(open_recording_begin(o, &fake.recorder, &e), 0);
	take(10);
	assert_int_equal(open_recording_settle(o, &e), 0);
	open_recording_free(o);
	for (int i = 0; i < 2; i++) {
		own(freep) char *from = xasprintf("%s/open.dwell.part", directory);
		own(freep) char *to = xasprintf("%s/open.%d.dwell.part", directory, i);

		assert_int_equal(i ? rename(from, to) : link(from, to), 0);
	}
	o = open_recording_new(directory, &plans);
	assert_int_equal(open_recording_adopt(o, NULL, 1000000000, &e), 0);
	open_recording_free(o);

	DIR *d = opendir(directory);
	size_t n_closed = 0;

	for (const struct dirent *x; (x = readdir(d));) {
		assert_null(strstr(x->d_name, "open."));
		n_closed += strstr(x->d_name, ".closed.part") != NULL;
	}
	closedir(d);
	assert_int_equal(n_closed, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, remove_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_written_is_there_when_there_is_room),
		TEST(no_more_waits_than_there_may),
		TEST(what_was_left_is_adopted_whatever_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
