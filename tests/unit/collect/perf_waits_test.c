/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_waits.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/recording.h"

#define PID 0x7ffffff0u
enum { BLOCKED, WAIT_CPU, N_EVENTS };

struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	struct perf_waits *waits;
};

static void begin(struct fixture *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/perf_waits_test.%d.dwell", getpid());
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->tracker = tracker_new(f->writer);
	for (unsigned i = 0; i < N_EVENTS; i++)
		assert_int_equal(writer_event(f->writer, &(struct model_event){ 0 }), i);
	f->waits = perf_waits_new(f->tracker, BLOCKED, WAIT_CPU);
	tracker_exec(f->tracker, 1, PID, PID, "prog");
}

/* Sum of the weights per event. */
static void finish(struct fixture *f, uint64_t sums[N_EVENTS])
{
	struct sample_block b = { 0 };
	struct recording *r;

	perf_waits_free(f->waits);
	tracker_free(f->tracker);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &r, NULL), 0);
	unlink(f->path);
	sums[BLOCKED] = sums[WAIT_CPU] = 0;
	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		assert_int_equal(recording_read_samples(r, i, SAMPLE_ALL, &b, NULL), 0);
		for (size_t k = 0; k < b.n; k++)
			sums[b.event[k]] += b.weight[k];
	}
	sample_block_fini(&b);
	recording_free(r);
}

static void a_wait_lasts_from_leaving_to_coming_back(void **state)
{
	struct fixture f;
	uint64_t sums[N_EVENTS];

	(void)state;
	begin(&f);
	perf_waits_out(f.waits, 100, PID, PID, 0, false);
	perf_waits_in(f.waits, 150, PID);
	perf_waits_out(f.waits, 200, PID, PID, 0, true);
	perf_waits_in(f.waits, 207, PID);
	perf_waits_in(f.waits, 300, PID); /* it ran: nothing to charge */
	assert_int_equal(perf_waits_count(f.waits), 2);
	finish(&f, sums);
	assert_int_equal(sums[BLOCKED], 50);
	assert_int_equal(sums[WAIT_CPU], 7);
}

static void what_has_not_ended_is_charged_at_the_end(void **state)
{
	struct fixture f;
	uint64_t sums[N_EVENTS];

	(void)state;
	begin(&f);
	perf_waits_fork(f.waits, 10, PID, PID + 1);
	perf_waits_in(f.waits, 15, PID + 1);
	perf_waits_out(f.waits, 20, PID, PID + 1, 0, false);
	perf_waits_out(f.waits, 30, PID, PID, 0, false);
	perf_waits_exit(f.waits, 40, PID + 1);
	perf_waits_finish(f.waits, 100);
	finish(&f, sums);
	assert_int_equal(sums[WAIT_CPU], 5);
	assert_int_equal(sums[BLOCKED], 20 + 70);
}

static void a_pause_is_cut_out_of_a_wait(void **state)
{
	struct fixture f;
	uint64_t sums[N_EVENTS];

	(void)state;
	begin(&f);
	perf_waits_out(f.waits, 100, PID, PID, 0, false);
	perf_waits_pause(f.waits, 110, true);
	perf_waits_pause(f.waits, 150, false);
	perf_waits_in(f.waits, 155, PID);
	finish(&f, sums);
	assert_int_equal(sums[BLOCKED], 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_lasts_from_leaving_to_coming_back),
		cmocka_unit_test(what_has_not_ended_is_charged_at_the_end),
		cmocka_unit_test(a_pause_is_cut_out_of_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
