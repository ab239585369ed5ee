/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/anchor_budget.h"
#include "collect/anchor_heirs.h"
#include "collect/anchor_watch.h"
#include "counted_program.h"
#include "store/recording.h"

#define N	   COUNTED_PROGRAM_N
#define PROCESSES  3 /* at most */
#define WINDOWS	   4
#define OLD_NS	   10
#define NEW_NS	   1000
#define BEFORE_NS  500
#define BEHIND_NS  2000
#define NEXT_NS	   3000
#define NATIVE_NS  1 /* nothing is so rare that it would be watched */
#define WORK_NS	   2000000
#define COUNTED_NS 1000

/* This process as one that is counted, and what is told of it. */
struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	struct anchor_budget budget;
	struct anchor_heirs heirs;
	struct anchor_watch_cost watch_cost;
	struct anchor_process_setting setting;
	struct anchor_process *p;
	unsigned n_blocks[PROCESSES][WINDOWS];
	uint64_t told_ns, counted_ns;
};

static void execute(struct fixture *f, uint64_t time_ns, const char *comm)
{
	tracker_exec(f->tracker, time_ns, (uint32_t)getpid(), (uint32_t)getpid(), comm);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .budget = anchor_budget_of(0.01) };
	snprintf(f->path, sizeof(f->path), "/tmp/anchor_process_test.%d.dwell", getpid());
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->tracker = tracker_new(f->writer);
	f->setting = (struct anchor_process_setting){ .tracker = f->tracker,
						      .writer = f->writer,
						      .budget = &f->budget,
						      .heirs = &f->heirs,
						      .counter_ns = 1,
						      .watch_cost = &f->watch_cost };
	assert_int_equal(anchor_process_new(&f->setting, getpid(), &f->p, NULL), 0);
	execute(f, OLD_NS, "old");
	assert_true(anchor_process_look(f->p, 0));
	f->p->told_ns = f->p->cpu_ns;
	counted_program_make(1);
}

static int take_anchor(void *ctx, const struct model_anchor *x, struct err *e)
{
	struct fixture *f = ctx;

	(void)e;
	assert_true(x->process < PROCESSES && x->window < WINDOWS);
	if (x->size_bytes)
		f->n_blocks[x->process][x->window]++;
	if (x->size_bytes)
		f->counted_ns += x->cpu_ns;
	if (x->location == MODEL_NONE)
		f->told_ns += x->cpu_ns;
	return 0;
}

static void finish(struct fixture *f)
{
	own(recording_freep) struct recording *r = NULL;

	anchor_process_free(f->p);
	anchor_heirs_fini(&f->heirs);
	assert_int_equal(tracker_finish(f->tracker, true, NULL), 0);
	tracker_free(f->tracker);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &r, NULL), 0);
	unlink(f->path);
	assert_int_equal(recording_each_anchor(r, take_anchor, f, NULL), 0);
}

/* An engine that came then has counted this process. */
static void take_file(struct fixture *f, uint32_t window, uint64_t began_ns)
{
	static const struct count_file_base none;
	struct count_file_header h;
	struct count_window w;

	counted_program_walk(N - 1, N);

	own(closep) int fd = counted_program_file(&none, 0, N);

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	h.pid = (uint32_t)getpid();
	h.id.time_ns = began_ns;
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	count_window_over(&fd, &w);
	anchor_process_take(f->p, window, &w, false);
}

static void take(struct fixture *f, uint32_t window, uint64_t began_ns)
{
	anchor_record_begin(&f->p->record);
	take_file(f, window, began_ns);
}

static void end(struct fixture *f, uint32_t window)
{
	f->p->told_ns = f->p->cpu_ns;
	anchor_process_end(f->p, window, NATIVE_NS);
}

static void work(struct fixture *f, uint32_t next)
{
	uint64_t from_ns = f->p->cpu_ns;

	while (f->p->cpu_ns < from_ns + WORK_NS)
		assert_true(anchor_process_look(f->p, next));
}

/* Counts would be of code that the new program has not, and its time would begin in what
 * is no native time. */
static void what_is_executed_in_a_window_is_not_what_was_counted(void **state unused)
{
	struct fixture f;

	begin(&f);
	anchor_process_begin(f.p, 0);
	execute(&f, NEW_NS, "new");
	work(&f, 0);
	take(&f, 0, BEFORE_NS);
	assert_int_not_equal(f.p->record.blocks.n, 0);
	end(&f, 0);
	/* Nothing of that is there to be watched. */
	assert_int_equal(f.p->record.blocks.n, 0);
	assert_int_equal(f.p->record.process, 1);
	anchor_process_begin(f.p, 1);
	take(&f, 1, BEHIND_NS);
	end(&f, 1);
	assert_int_not_equal(f.p->record.blocks.n, 0);
	finish(&f);
	assert_int_not_equal(f.n_blocks[0][0], 0);
	assert_int_equal(f.n_blocks[0][1], 0);
	assert_int_equal(f.n_blocks[1][0], 0);
	assert_int_equal(f.n_blocks[1][1], f.n_blocks[0][0]);
	assert_int_equal(f.told_ns, 0);
}

/* It was executed right before the window, as is told in it; and so is what it executed
 * later on. */
static void what_was_counted_is_of_what_the_engine_came_to(void **state unused)
{
	struct fixture f;

	for (uint32_t has_next = 0; has_next < 2; has_next++) {
		begin(&f);
		anchor_process_begin(f.p, 0);
		execute(&f, NEW_NS, "new");
		if (has_next)
			execute(&f, NEXT_NS, "next");
		take(&f, 0, BEHIND_NS);
		assert_int_not_equal(f.p->record.blocks.n, 0);
		end(&f, 0);
		assert_int_equal(f.p->record.process, 1 + has_next);
		assert_int_equal(!f.p->record.blocks.n, has_next);
		finish(&f);
		assert_int_equal(f.n_blocks[0][0] + f.n_blocks[2][0], 0);
		assert_int_not_equal(f.n_blocks[1][0], 0);
	}
}

/* Nor does a window that there was none of keep anybody from being what he is. */
static void who_could_not_be_counted_becomes_another_at_once(void **state unused)
{
	struct fixture f;

	begin(&f);
	anchor_process_begin(f.p, 0);
	anchor_process_refuse(f.p);
	execute(&f, NEW_NS, "new");
	work(&f, 0);
	assert_int_equal(f.p->record.process, 1);
	assert_int_equal(f.p->n_refused, 0);
	finish(&f);
	assert_int_not_equal(f.told_ns, 0);
}

/* Before counters tell, windows are supposed to be half as fast. */
static void what_a_window_cost_is_mended_when_it_is_known(void **state unused)
{
	uint64_t supposed_ns, spent_ns = WORK_NS;
	struct fixture f;

	begin(&f);
	f.budget.spent_ns = spent_ns;
	anchor_process_begin(f.p, 0);
	take(&f, 0, BEFORE_NS);
	f.p->stood_ns[COUNT_MOMENT_TRANSLATED] = WORK_NS;
	f.p->stood_ns[COUNT_MOMENT_AWAY] = WORK_NS + COUNTED_NS;
	supposed_ns = anchor_process_native_ns(f.p);
	assert_in_range(supposed_ns, 1, COUNTED_NS / 2);
	assert_int_equal(f.budget.spent_ns, spent_ns);
	/* It was as fast as natively, nearly. */
	anchor_speed_add(&f.p->speed, anchor_record_insns(&f.p->record), COUNTED_NS - 1);
	assert_int_equal(anchor_process_native_ns(f.p), COUNTED_NS - 1);
	assert_int_equal(f.budget.spent_ns, spent_ns - (COUNTED_NS - 1 - supposed_ns));
	anchor_process_native_ns(f.p);
	assert_int_equal(f.budget.spent_ns, spent_ns - (COUNTED_NS - 1 - supposed_ns));
	end(&f, 0);
	finish(&f);
}

/* Where code changes counting may go on in another file. */
static void a_windows_time_is_told_once(void **state unused)
{
	struct fixture f;

	begin(&f);
	anchor_process_begin(f.p, 0);
	f.p->stood_ns[COUNT_MOMENT_TRANSLATED] = WORK_NS;
	f.p->stood_ns[COUNT_MOMENT_AWAY] = WORK_NS + COUNTED_NS;
	take(&f, 0, BEFORE_NS);
	take_file(&f, 0, BEFORE_NS);
	end(&f, 0);
	finish(&f);
	assert_int_equal(f.counted_ns, COUNTED_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_executed_in_a_window_is_not_what_was_counted),
		cmocka_unit_test(what_was_counted_is_of_what_the_engine_came_to),
		cmocka_unit_test(who_could_not_be_counted_becomes_another_at_once),
		cmocka_unit_test(a_windows_time_is_told_once),
		cmocka_unit_test(what_a_window_cost_is_mended_when_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
