/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the kernel's side, compiled for this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"

/* What it looks at of the kernel. */
#define DWELL_COLLECT_BPF_KERNEL_BPF_H

struct perf_event {
	struct {
		uint64_t sample_period;
		struct {
			struct {
				int64_t expires;
			} node;
		} hrtimer;
	} hw;
};

struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

struct rq {
	uint64_t clock, prev_steal_time_rq;
};

struct cfs_rq {
	struct rq *rq;
};

struct task_struct {
	struct {
		struct cfs_rq *cfs_rq;
	} se;
};

enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6 };

#define SEC(name)
#define __uint(name, value)	      int(*name)[value]
#define __type(name, type)	      type *name
#define KERNEL_READ(type, at, member) (((type *)(at))->member)
#define kernel_task(task)	      (task)
#define bpf_core_field_exists(member) (sizeof(member) > 0)

#include "collect/bpf/periods.bpf.h"

#define MS UINT64_C(1000000)

/* A CPU with a clock of a timer, as perf has it, and what came of it. */
struct clock {
	struct perf_event event;
	struct bpf_perf_event_data_kern context;
	struct rq rq;
	struct periods p;
	uint64_t first_ns; /* when the first was due */
	uint64_t taken, missed, granted, stolen;
};

static void begin(struct clock *c)
{
	*c = (struct clock){ .event.hw.sample_period = MS, .first_ns = 1000 * MS };
	c->context.event = &c->event;
	c->event.hw.hrtimer.node.expires = (int64_t)c->first_ns;
}

/* The timer goes on with the first period that is not over. */
static void forward(struct clock *c, uint64_t now_ns)
{
	struct perf_event *e = &c->event;
	uint64_t due_ns = (uint64_t)e->hw.hrtimer.node.expires;

	due_ns += ((now_ns - due_ns) / e->hw.sample_period + 1) * e->hw.sample_period;
	e->hw.hrtimer.node.expires = (int64_t)due_ns;
}

static uint64_t due_ns(const struct clock *c)
{
	return (uint64_t)c->event.hw.hrtimer.node.expires;
}

/* As look_for_missed() of the program does. */
static void look_for_missed(struct clock *c)
{
	struct periods *p = &c->p;

	if (periods_are_told(p, &c->rq)) {
		uint64_t waited = p->waiting, n = periods_take(p, &c->rq);

		c->granted += n;
		c->stolen += waited - n;
	}
	if (p->missed)
		periods_wait(p, 7, 0, MS, &c->rq);
	periods_rest(p, &c->rq);
}

/* The interrupt comes so much later than it is due.  Returns how many periods the sample
 * stands for by itself. */
static uint64_t sample(struct clock *c, uint64_t late_ns)
{
	uint64_t now_ns = due_ns(c) + late_ns;
	uint64_t n = periods_since(&c->p, &c->context, 0, MS, now_ns);

	c->taken += n;
	c->missed += c->p.missed;
	if (n)
		look_for_missed(c);
	forward(c, now_ns);
	return n;
}

/* The idle task has it. */
static void idle(struct clock *c, uint64_t late_ns)
{
	forward(c, due_ns(c) + late_ns);
}

/* The scheduler looks at its clock, and is told what the hypervisor took. */
static void tick(struct clock *c, uint64_t stolen_ns)
{
	c->rq.clock++;
	c->rq.prev_steal_time_rq += stolen_ns;
}

/* All that passed from the period before the first sample is in samples, missed or owed.
 */
static void expect_all_is_told(const struct clock *c)
{
	const struct periods_event *of = &c->p.events[0];
	int64_t told = (int64_t)((c->taken + c->missed) * MS) + of->owed_ns;

	assert_int_equal(told, (int64_t)(of->last_ns - c->first_ns + MS));
	assert_int_equal(c->missed, c->granted + c->stolen + c->p.waiting);
}

static void what_is_late_by_periods_is_missed_and_all_the_time_is_told(void **state)
{
	static const struct {
		uint64_t late_ns, taken, missed;
	} t[] = {
		{ 0, 1, 0 },
		{ 0, 1, 0 },
		{ MS / 16, 1, 0 },
		{ 0, 1, 0 },
		{ MS / 2, 1, 0 }, /* after that the timer is in time again */
		{ 0, 1, 0 },
		{ MS, 1, 1 },
		{ 3 * MS + MS / 2, 1, 3 },
		{ 0, 1, 0 },
		{ 100 * MS - 1, 1, 99 },
		{ 0, 1, 0 },
		{ 0, 1, 0 },
	};
	struct clock c;
	uint64_t missed = 0;

	(void)state;
	begin(&c);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(sample(&c, t[i].late_ns), t[i].taken);
		missed += t[i].missed;
		assert_int_equal(c.missed, missed);
		expect_all_is_told(&c);
	}
	tick(&c, 0);
	sample(&c, 0);
	assert_int_equal(c.granted, missed);
	assert_int_equal(c.stolen, 0);
}

static void any_delays_leave_less_than_two_periods_owed(void **state)
{
	struct clock c;

	(void)state;
	begin(&c);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t h = hash_u64(i);

		sample(&c, h % 7 ? 0 : MS / 8 + 1 + (h >> 8) % (5 * MS));
		if (h % 3 == 0)
			tick(&c, 0);
		expect_all_is_told(&c);
		assert_in_range(c.p.events[0].owed_ns + (int64_t)(2 * MS), 1, 4 * MS - 1);
	}
	assert_int_equal(c.stolen, 0);
	assert_true(c.missed > 1000);
}

/* Who naps is not told more than ran: the idle task's periods are nobody's, and so is
 * what was missed while it had the CPU. */
static void a_sample_after_idling_stands_for_its_own_period(void **state)
{
	struct clock c;

	(void)state;
	begin(&c);
	sample(&c, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t n = hash_u64(i) % 9;

		for (uint64_t k = 0; k < n; k++)
			idle(&c, k % 2 ? 3 * MS / 2 : 0);
		assert_int_equal(sample(&c, 0), 1);
	}
	assert_int_equal(c.taken, 1001);
	assert_int_equal(c.missed, 0);
	assert_int_equal(c.p.events[0].owed_ns, 0);
}

/* By how late a sample in time was, what is late next may be told more: not by more. */
static void small_delays_are_told_twice_at_most(void **state)
{
	struct clock c;
	uint64_t in_time_ns = 0;

	(void)state;
	begin(&c);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t h = hash_u64(i), late_ns = (h >> 8) % (h % 7 ? MS / 50 : 5 * MS);
		const struct periods_event *of = &c.p.events[0];
		int64_t more;

		sample(&c, late_ns);
		if (h % 7)
			in_time_ns += late_ns;
		more = (int64_t)((c.taken + c.missed) * MS) + of->owed_ns -
		       (int64_t)(of->last_ns - c.first_ns + MS);
		assert_true(more >= 0 && (uint64_t)more <= in_time_ns);
	}
	assert_true(c.missed > 1000);
}

static void drawn_periods_make_up_for_each_other(void **state)
{
	struct clock c;
	int64_t owed = 0;

	(void)state;
	begin(&c);
	sample(&c, 0);
	for (uint64_t i = 0; i < 10000; i++) {
		/* Up to a tenth more or less; the timer was set when the last was taken.
		 */
		uint64_t drawn = MS - MS / 10 + hash_u64(i) % (MS / 5);

		c.event.hw.hrtimer.node.expires += (int64_t)(drawn - MS);
		sample(&c, 0);
		owed += (int64_t)(drawn - MS);
		assert_int_equal((int64_t)((c.taken - 1) * MS) + c.p.events[0].owed_ns,
				 (int64_t)((i + 1) * MS) + owed);
	}
	assert_int_equal(c.missed, 0);
}

static void what_was_stolen_in_pieces_of_less_than_a_period_takes_no_sample(void **state)
{
	struct clock c;

	(void)state;
	begin(&c);
	for (uint64_t i = 0; i < 1000; i++) {
		tick(&c, MS * 3 / 4);
		sample(&c, MS * 3 / 4);
		expect_all_is_told(&c);
	}
	assert_int_equal(c.missed, 0);
	assert_int_equal(c.stolen, 0);
	/* What was told while nothing waited is not of what is missed later. */
	sample(&c, 2 * MS);
	tick(&c, 0);
	sample(&c, 0);
	assert_int_equal(c.granted, 2);
}

/* A hypervisor takes the CPU again before the scheduler has asked: all waits together. */
static void all_that_was_missed_waits_for_what_was_stolen(void **state)
{
	struct clock c;

	(void)state;
	begin(&c);
	sample(&c, 0);
	sample(&c, 3 * MS);
	sample(&c, 0); /* nobody has asked yet */
	sample(&c, 4 * MS);
	assert_int_equal(c.p.waiting, 7);
	tick(&c, 7 * MS);
	sample(&c, 0);
	assert_int_equal(c.granted, 0);
	assert_int_equal(c.stolen, 7);
	assert_int_equal(c.p.waiting, 0);
	sample(&c, 2 * MS);
	tick(&c, 2 * MS);
	sample(&c, 5 * MS); /* late itself: what is told goes on to wait */
	assert_int_equal(c.p.waiting, 7);
	tick(&c, 3 * MS + MS / 2);
	sample(&c, 0);
	assert_int_equal(c.granted, 1); /* of 7, 5 and a half were stolen */
	assert_int_equal(c.stolen, 7 + 6);
	expect_all_is_told(&c);
}

/* Where nobody can be asked. */
static void without_the_schedulers_clock_nothing_is_stolen(void **state)
{
	struct task_struct task = { 0 };
	struct cfs_rq cfs = { 0 };
	struct clock c;

	(void)state;
	begin(&c);
	task.se.cfs_rq = &cfs;
	cfs.rq = &c.rq;
	assert_ptr_equal(periods_rq(&task), &c.rq);
	periods_since(&c.p, &c.context, 0, MS, due_ns(&c));
	periods_since(&c.p, &c.context, 0, MS, due_ns(&c) + 3 * MS);
	assert_int_equal(c.p.missed, 3);
	periods_wait(&c.p, 7, 2, MS, NULL);
	assert_false(periods_are_told(&c.p, NULL)); /* this one is late itself */
	c.p.missed = 0;
	assert_true(periods_are_told(&c.p, NULL));
	assert_int_equal(c.p.key, 7);
	assert_int_equal(c.p.event, 2);
	assert_int_equal(periods_take(&c.p, NULL), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_late_by_periods_is_missed_and_all_the_time_is_told),
		cmocka_unit_test(any_delays_leave_less_than_two_periods_owed),
		cmocka_unit_test(a_sample_after_idling_stands_for_its_own_period),
		cmocka_unit_test(small_delays_are_told_twice_at_most),
		cmocka_unit_test(drawn_periods_make_up_for_each_other),
		cmocka_unit_test(
			what_was_stolen_in_pieces_of_less_than_a_period_takes_no_sample),
		cmocka_unit_test(all_that_was_missed_waits_for_what_was_stolen),
		cmocka_unit_test(without_the_schedulers_clock_nothing_is_stolen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
