/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter_experiment.h"

#include <string.h>

#include "base/mem.h"
#include "store/model.h"

#define PERIOD_MAX UINT64_C(1000000000000)
/* The kernel's timers take none that are shorter. */
#define CLOCK_MIN_NS 10000
#define CLOCK_MAX_NS UINT64_C(10000000000)

extern const struct experiment experiment_pcsamp, experiment_usertime;

static bool is_cpu_clock(const struct counter *c)
{
	return strcmp(c->name, "cpu-clock") == 0;
}

static void make(struct experiment *x, const struct counter *c, bool is_pc_only)
{
	bool is_clock = counter_is_clock(c);

	*x = (struct experiment){
		.name = c->name,
		.summary = c->description,
		.trigger = EXPERIMENT_COUNTER,
		.counter = c,
		.is_pc_only = is_pc_only,
		.unit = c->unit,
		.on = c->period,
		.hi = c->period > 10 ? c->period / 10 : 1,
		.lo = c->period * 10,
		.min = is_clock ? CLOCK_MIN_NS : 1,
		.max = is_clock ? CLOCK_MAX_NS : PERIOD_MAX,
		.n_events = 1,
		.events = { { .name = c->name,
			      .unit = c->unit,
			      .description = c->description,
			      .flags = EVENT_SAMPLED | (is_pc_only ? EVENT_PC_ONLY : 0),
			      .is_periodic = true } },
	};
}

/* One that was asked for. */
struct made {
	struct made *next;
	struct experiment experiment;
};

const struct experiment *counter_experiment(const struct counter *c, bool is_pc_only)
{
	static struct made *all;
	struct made *m = all;

	if (is_cpu_clock(c))
		return is_pc_only ? &experiment_pcsamp : &experiment_usertime;
	while (m &&
	       (m->experiment.counter != c || m->experiment.is_pc_only != is_pc_only))
		m = m->next;
	if (!m) {
		m = xcalloc(1, sizeof(*m));
		make(&m->experiment, c, is_pc_only);
		m->next = all;
		all = m;
	}
	return &m->experiment;
}

struct system_event counter_experiment_event(const struct experiment_choice *c)
{
	const struct counter *counter = c->experiment->counter;

	return (struct system_event){
		.counter = counter ? counter : counter_find("cpu-clock", NULL),
		.period = c->interval,
		.hz = c->hz,
	};
}
