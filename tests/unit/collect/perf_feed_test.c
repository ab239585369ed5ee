/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/map.h"
#include "collect/counter_experiment.h"
#include "store/recording.h"

/* No running process has it. */
#define PID 0x7ffffff0u
#define MS  1000000u

/* Streams, by the ids of their events. */
enum { ID_PCSAMP = 40, ID_OTHER, ID_SWITCH, ID_GRID, N_STREAMS = 4 };
enum { CPU_TIME, OTHER_TIME, BLOCKED, WAIT_CPU, N_EVENTS };

struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	struct perf_files files;
	struct plan plans[2];
	struct perf_feed feed;
	struct buf record;
};

static void add_stream(struct fixture *f, const struct perf_stream_spec *spec,
		       const struct plan *plan)
{
	struct scope scope = { .kind = SCOPE_LAUNCH };
	struct perf_stream_settings settings = { .scope = &scope };
	uint64_t n = f->files.streams.n;

	perf_stream_init(vec_push(&f->files.streams), spec, plan, n == 0, &settings);
	*map_slot(&f->files.ids, ID_PCSAMP + n, NULL) = n;
}

/* A thread's CPU time by two experiments, its waits, and the grid.  No stacks are copied,
 * for what becomes of them is the tracker's. */
static void add_streams(struct fixture *f)
{
	const struct perf_stream_spec *specs[4];
	struct experiment_choice waits;

	assert_int_equal(experiment_find("fpcsamp", &f->plans[0].choice, NULL), 0);
	assert_int_equal(experiment_find("pcsamp", &f->plans[1].choice, NULL), 0);
	f->plans[0].events[EXPERIMENT_CPU] = CPU_TIME;
	f->plans[1].events[EXPERIMENT_CPU] = OTHER_TIME;
	assert_int_equal(f->plans[0].choice.interval, MS);
	perf_stream_specs(f->plans[0].choice.experiment, specs, 4);
	add_stream(f, specs[0], &f->plans[0]);
	add_stream(f, specs[0], &f->plans[1]);
	assert_int_equal(experiment_find("totaltime", &waits, NULL), 0);
	assert_int_equal(perf_stream_specs(waits.experiment, specs, 4), 2);
	add_stream(f, specs[1], &f->plans[0]);
	add_stream(f, &perf_stream_grid, &f->plans[0]);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "/tmp/perf_feed_test.%d.dwell", getpid());
	if (writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL) < 0)
		return -1;
	f->tracker = tracker_new(f->writer);
	for (unsigned i = 0; i < N_EVENTS; i++)
		writer_event(f->writer, &(struct model_event){ .flags = EVENT_SAMPLED });
	add_streams(f);
	f->feed.tracker = f->tracker;
	f->feed.writer = f->writer;
	f->feed.files = &f->files;
	f->feed.cpu_plan = &f->plans[0];
	f->feed.waits = perf_waits_new(f->tracker, BLOCKED, WAIT_CPU);
	perf_feed_follow_clocks(&f->feed);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	perf_waits_free(f->feed.waits);
	perf_feed_fini(&f->feed);
	perf_files_fini(&f->files);
	tracker_free(f->tracker);
	writer_free(f->writer);
	buf_fini(&f->record);
	unlink(f->path);
	free(f);
	return 0;
}

/* Records as the kernel lays them out: a header, a body, and who and when. */

static void begin(struct fixture *f, uint32_t type, uint16_t misc)
{
	buf_clear(&f->record);
	buf_u32le(&f->record, type);
	buf_u16le(&f->record, misc);
	buf_u16le(&f->record, 0);
}

static void give(struct fixture *f)
{
	struct buf *b = &f->record;

	b->data[6] = (uint8_t)b->size;
	b->data[7] = (uint8_t)(b->size >> 8);
	perf_feed_take(&f->feed, b->data, b->size);
}

static void give_with_trailer(struct fixture *f, uint64_t time_ns, uint32_t tid)
{
	struct buf *b = &f->record;

	buf_u32le(b, PID);
	buf_u32le(b, tid);
	buf_u64le(b, time_ns);
	buf_u32le(b, 0); /* CPU */
	buf_u32le(b, 0);
	buf_u64le(b, ID_PCSAMP);
	give(f);
}

static void exec(struct fixture *f, uint64_t time_ns, const char *name)
{
	char padded[16] = { 0 };

	begin(f, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	buf_u32le(&f->record, PID);
	buf_u32le(&f->record, PID);
	strcpy(padded, name);
	buf_add(&f->record, padded, sizeof(padded));
	give_with_trailer(f, time_ns, PID);
}

static void task(struct fixture *f, uint32_t type, uint64_t time_ns, uint32_t tid)
{
	begin(f, type, 0);
	buf_u32le(&f->record, PID);
	buf_u32le(&f->record, PID); /* the parent's */
	buf_u32le(&f->record, tid);
	buf_u32le(&f->record, PID);
	buf_u64le(&f->record, time_ns);
	give_with_trailer(f, time_ns, PID);
}

static void map_code(struct fixture *f, uint64_t time_ns)
{
	begin(f, PERF_RECORD_MMAP2, 0);
	buf_u32le(&f->record, PID);
	buf_u32le(&f->record, PID);
	buf_u64le(&f->record, 0x1000);
	buf_u64le(&f->record, 0x1000);
	buf_u64le(&f->record, 0);
	for (int i = 0; i < 3; i++) /* device, inode */
		buf_u64le(&f->record, 1);
	buf_u32le(&f->record, 5);
	buf_u32le(&f->record, 2);
	buf_add(&f->record, "/no/such/x\0\0\0\0\0", 16);
	give_with_trailer(f, time_ns, PID);
}

static void switch_at(struct fixture *f, uint64_t time_ns, uint16_t misc)
{
	begin(f, PERF_RECORD_SWITCH, misc);
	give_with_trailer(f, time_ns, PID);
}

static void put_sample(struct fixture *f, uint64_t id, uint64_t time_ns, uint32_t tid,
		       uint16_t mode)
{
	struct buf *b = &f->record;

	begin(f, PERF_RECORD_SAMPLE, mode);
	buf_u64le(b, id);
	buf_u64le(b, 0x1010); /* ip */
	buf_u32le(b, PID);
	buf_u32le(b, tid);
	buf_u64le(b, time_ns);
	buf_u32le(b, 0); /* CPU */
	buf_u32le(b, 0);
}

static void sample(struct fixture *f, uint64_t id, uint64_t time_ns, uint32_t tid)
{
	put_sample(f, id, time_ns, tid, PERF_RECORD_MISC_USER);
	give(f);
}

static struct recording *finish(struct fixture *f)
{
	struct recording *r;

	assert_int_equal(tracker_finish(f->tracker, true, NULL), 0);
	assert_int_equal(writer_close(steal(&f->writer), NULL), 0);
	assert_int_equal(recording_open(f->path, &r, NULL), 0);
	return r;
}

static void sum_weights(const struct recording *r, uint64_t sums[N_EVENTS])
{
	struct sample_block b = { 0 };

	memset(sums, 0, N_EVENTS * sizeof(*sums));
	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++)
			sums[b.event[k]] += b.weight[k];
	}
	sample_block_fini(&b);
}

static void a_program_has_its_name_its_code_and_its_samples(void **state)
{
	struct fixture *f = *state;
	struct recording *r;
	uint64_t sums[N_EVENTS];

	exec(f, 1, "prog");
	map_code(f, 2);
	sample(f, ID_PCSAMP, 10, PID);
	sample(f, ID_OTHER, 11, PID);
	sample(f, 99, 12, PID); /* not one of ours */
	task(f, PERF_RECORD_EXIT, 20, PID);
	r = finish(f);
	assert_int_equal(recording_n_processes(r), 1);

	const struct model_process *p = recording_process(r, 0);
	const struct model_location *l =
		&recording_locations(r)[recording_stacks(r)[1].location];

	assert_string_equal(recording_string(r, p->comm), "prog");
	assert_int_equal(p->end_ns, 20);
	assert_string_equal(recording_string(r, recording_image(r, l->image)->path),
			    "/no/such/x");
	assert_int_equal(l->offset, 0x10);
	sum_weights(r, sums);
	assert_int_equal(sums[CPU_TIME], MS);
	assert_int_equal(sums[OTHER_TIME], 10 * MS);
	recording_free(r);
}

static void cpu_time_is_added_up_once_with_its_parts(void **state)
{
	struct fixture *f = *state;

	exec(f, 1, "prog");
	for (uint64_t t = 10; t < 13; t++)
		sample(f, ID_PCSAMP, t, PID);
	put_sample(f, ID_PCSAMP, 13, PID, PERF_RECORD_MISC_KERNEL);
	give(f);
	sample(f, ID_OTHER, 14, PID);
	assert_int_equal(f->feed.stats.samples, 5);
	assert_int_equal(f->feed.stats.cpu_ns, 4 * MS);
	assert_int_equal(f->feed.stats.user_ns, 3 * MS);
	assert_int_equal(f->feed.stats.system_ns, MS);
	assert_int_equal(f->files.streams.at[0].samples, 4);
	assert_int_equal(f->files.streams.at[1].samples, 1);
}

/* A stream of page faults of which so many samples a second were asked for. */
static void add_rate(struct fixture *f, struct plan *plan, enum scope_kind kind,
		     uint64_t id)
{
	const struct perf_stream_spec *spec;
	struct scope scope = { .kind = kind };
	struct perf_stream_settings settings = { .scope = &scope };

	plan->choice.experiment =
		counter_experiment(counter_find("page-faults", NULL), true);
	plan->choice.hz = 50;
	plan->choice.interval = 101;
	plan->events[0] = OTHER_TIME;
	assert_int_equal(perf_stream_specs(plan->choice.experiment, &spec, 1), 1);
	*map_slot(&f->files.ids, id, NULL) = f->files.streams.n;
	perf_stream_init(vec_push(&f->files.streams), spec, plan, false, &settings);
}

static void rated(struct fixture *f, uint64_t id, uint64_t time_ns, uint32_t tid,
		  uint64_t counted)
{
	put_sample(f, id, time_ns, tid, PERF_RECORD_MISC_USER);
	if (perf_files_stream(&f->files, id)->attr.sample_type & PERF_SAMPLE_PERIOD)
		buf_u64le(&f->record, 7); /* which is not believed */
	buf_u64le(&f->record, counted);
	give(f);
}

static void a_sample_with_a_rate_stands_for_what_was_counted_since_the_last(void **state)
{
	enum { OF_CPU = 77, OF_THREADS };
	struct fixture *f = *state;
	struct plan plans[2] = { 0 };
	struct recording *r;
	uint64_t sums[N_EVENTS];

	add_rate(f, &plans[0], SCOPE_CPUS, OF_CPU);
	add_rate(f, &plans[1], SCOPE_LAUNCH, OF_THREADS);
	exec(f, 1, "prog");
	rated(f, OF_CPU, 2, PID, 100);
	rated(f, OF_CPU, 3, PID + 1, 150); /* of whoever runs there */
	rated(f, OF_THREADS, 4, PID, 1000);
	rated(f, OF_THREADS, 5, PID + 1, 2000); /* each by itself */
	rated(f, OF_THREADS, 6, PID, 1500);
	task(f, PERF_RECORD_EXIT, 7, PID + 1);
	rated(f, OF_THREADS, 8, PID + 1, 2500); /* another of that number */
	r = finish(f);
	sum_weights(r, sums);
	assert_int_equal(sums[OTHER_TIME], 150 + 1500 + 2000 + 2500);
	recording_free(r);
}

static void what_the_kernel_lost_is_counted(void **state)
{
	struct fixture *f = *state;

	begin(f, PERF_RECORD_LOST, 0);
	buf_u64le(&f->record, ID_PCSAMP);
	buf_u64le(&f->record, 5);
	give_with_trailer(f, 10, PID);
	begin(f, PERF_RECORD_LOST_SAMPLES, 0);
	buf_u64le(&f->record, 7);
	give_with_trailer(f, 11, PID);
	begin(f, PERF_RECORD_THROTTLE, 0);
	for (int i = 0; i < 3; i++) /* time, id, stream */
		buf_u64le(&f->record, 1);
	give_with_trailer(f, 12, PID);
	assert_int_equal(f->feed.stats.lost, 12);
	assert_int_equal(f->feed.stats.throttled, 1);
	assert_int_equal(f->feed.stats.samples, 0);
}

static void a_record_that_is_cut_short_says_nothing(void **state)
{
	struct fixture *f = *state;

	exec(f, 1, "prog");
	put_sample(f, ID_PCSAMP, 10, PID, PERF_RECORD_MISC_USER);
	for (size_t n = 0; n < f->record.size; n++)
		perf_feed_take(&f->feed, f->record.data, n);
	assert_int_equal(f->feed.stats.samples, 0);
	give(f);
	assert_int_equal(f->feed.stats.samples, 1);
}

static void threads_that_end_without_a_sample_are_counted(void **state)
{
	struct fixture *f = *state;

	exec(f, 1, "prog");
	for (uint32_t tid = PID + 1; tid <= PID + 3; tid++)
		task(f, PERF_RECORD_FORK, 5, tid);
	sample(f, ID_PCSAMP, 10, PID + 1);
	task(f, PERF_RECORD_EXIT, 20, PID + 1);
	task(f, PERF_RECORD_EXIT, 20, PID + 2);
	assert_int_equal(f->feed.n_unsampled, 1);
	task(f, PERF_RECORD_EXIT, 20, PID + 9); /* of whom nobody told */
	assert_int_equal(f->feed.n_unsampled, 1);
}

/* The grid is faster than its samples weigh: the first time from t on that counts. */
static uint64_t time_that_counts(const struct fixture *f, uint64_t t)
{
	const struct perf_event_attr *a = &f->files.streams.at[ID_GRID - ID_PCSAMP].attr;

	while (hash_u64(t) % (10 * MS) >= a->sample_period)
		t++;
	return t;
}

static void the_grid_stands_for_threads_without_own_samples(void **state)
{
	struct fixture *f = *state;

	exec(f, 1, "prog");
	for (uint32_t tid = PID + 1; tid <= PID + 2; tid++)
		task(f, PERF_RECORD_FORK, 5, tid);
	sample(f, ID_GRID, time_that_counts(f, 10), PID + 1);
	sample(f, ID_GRID, time_that_counts(f, 20), PID + 2);
	assert_int_equal(f->feed.stats.cpu_ns, 0); /* until they have ended */
	sample(f, ID_PCSAMP, 30, PID + 2);
	task(f, PERF_RECORD_EXIT, 40, PID + 1);
	task(f, PERF_RECORD_EXIT, 40, PID + 2);
	assert_int_equal(f->feed.stats.cpu_ns, 10 * MS + MS);
	assert_int_equal(f->feed.stats.samples, 10 + 1);
	assert_int_equal(f->files.streams.at[0].samples, 10 + 1);
	assert_int_equal(f->feed.n_unsampled, 0);
}

static void the_grid_says_nothing_of_strangers(void **state)
{
	struct fixture *f = *state;

	sample(f, ID_GRID, time_that_counts(f, 10), PID);
	perf_tails_finish(f->feed.tails);
	assert_int_equal(f->feed.stats.samples, 0);
}

static void switches_make_waits(void **state)
{
	struct fixture *f = *state;
	struct recording *r;
	uint64_t sums[N_EVENTS];

	exec(f, 1, "prog");
	switch_at(f, 100, PERF_RECORD_MISC_SWITCH_OUT);
	switch_at(f, 150, 0);
	switch_at(f, 200,
		  PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	sample(f, ID_SWITCH, 200, PID);
	switch_at(f, 207, 0);
	assert_int_equal(perf_waits_count(f->feed.waits), 2);
	assert_int_equal(f->files.streams.at[ID_SWITCH - ID_PCSAMP].samples, 1);
	assert_int_equal(f->feed.stats.samples, 0); /* of CPU time */
	perf_waits_free(steal(&f->feed.waits));
	r = finish(f);
	sum_weights(r, sums);
	assert_int_equal(sums[BLOCKED], 50);
	assert_int_equal(sums[WAIT_CPU], 7);
	recording_free(r);
}

static void new_threads_are_noted_while_somebody_asks(void **state)
{
	struct fixture *f = *state;
	struct map forked = { 0 };

	task(f, PERF_RECORD_FORK, 5, PID + 1);
	f->feed.forked = &forked;
	task(f, PERF_RECORD_FORK, 6, PID + 2);
	assert_int_equal(forked.n, 1);
	assert_non_null(map_find(&forked, PID + 2));
	map_fini(&forked);
}

int main(void)
{
#define FED(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FED(a_program_has_its_name_its_code_and_its_samples),
		FED(cpu_time_is_added_up_once_with_its_parts),
		FED(a_sample_with_a_rate_stands_for_what_was_counted_since_the_last),
		FED(what_the_kernel_lost_is_counted),
		FED(a_record_that_is_cut_short_says_nothing),
		FED(threads_that_end_without_a_sample_are_counted),
		FED(the_grid_stands_for_threads_without_own_samples),
		FED(the_grid_says_nothing_of_strangers),
		FED(switches_make_waits),
		FED(new_threads_are_noted_while_somebody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
