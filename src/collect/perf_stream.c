/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/branch_stack.h"
#include "collect/counter.h"
#include "collect/perf_deep.h"
#include "collect/perf_record.h"
#include "collect/perf_regs.h"
#include "host/clock.h"

/* Bytes of user stack in a sample.  The kernel copies what there is but takes the whole
 * size out of the ring, so a small ring cannot have large samples.  The most that fits a
 * record's 16-bit size is what is left of 64 KB after registers and kernel frames. */
#define DUMP_FULL   63488
#define DUMP_SMALL  16384
#define DUMP_SWITCH 8192  /* blocked stacks are shallow, and there are many */
#define DUMP_FAULT  32768 /* a starting program makes thousands in a few ms */
#define RING_FULL   (4u << 20)
/* Waking up costs some microseconds, waking up late costs samples. */
#define WAKE_UP_BYTES (2u << 20)

/* The grid runs also while others do, so it is slow. */
#define GRID_MIN_NS 10000000
/* Somewhat faster than its samples weigh, and some are left out for it: what is done
 * every few milliseconds, the scheduler's ticks first of all, must not keep in step with
 * it. 9.528 ms are 2.382 ticks of 4 ms, as far from every simple ratio as can be. */
#define GRID_PART    9528
#define GRID_PART_OF 10000

#define CPU_CLOCK_HOW "perf cpu-clock"

static const struct perf_stream_spec specs[] = {
	{ EXPERIMENT_CPU_TIME, PERF_STREAM_SAMPLE, EXPERIMENT_CPU,
	  PERF_COUNT_SW_CPU_CLOCK, false, CPU_CLOCK_HOW },
	{ EXPERIMENT_THREAD_TIME, PERF_STREAM_SAMPLE, EXPERIMENT_CPU,
	  PERF_COUNT_SW_CPU_CLOCK, false, CPU_CLOCK_HOW },
	{ EXPERIMENT_THREAD_TIME, PERF_STREAM_SWITCH, EXPERIMENT_BLOCKED,
	  PERF_COUNT_SW_CONTEXT_SWITCHES, false, "perf context-switches" },
	{ EXPERIMENT_FAULTS, PERF_STREAM_SAMPLE, EXPERIMENT_MINOR_FAULTS,
	  PERF_COUNT_SW_PAGE_FAULTS_MIN, true, "perf minor-faults" },
	{ EXPERIMENT_FAULTS, PERF_STREAM_SAMPLE, EXPERIMENT_MAJOR_FAULTS,
	  PERF_COUNT_SW_PAGE_FAULTS_MAJ, true, "perf major-faults" },
	/* The counter says what it is. */
	{ EXPERIMENT_COUNTER, PERF_STREAM_SAMPLE, 0, PERF_COUNT_SW_DUMMY, false,
	  "perf counter" },
};

const struct perf_stream_spec perf_stream_sideband = {
	.role = PERF_STREAM_SIDEBAND,
	.config = PERF_COUNT_SW_DUMMY,
	.how = "perf dummy",
};

const struct perf_stream_spec perf_stream_grid = {
	.role = PERF_STREAM_GRID,
	.column = EXPERIMENT_CPU,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.how = "perf cpu-clock per CPU",
};

uint64_t perf_stream_grid_weight(uint64_t interval_ns)
{
	return (GRID_MIN_NS + interval_ns - 1) / interval_ns * interval_ns;
}

const struct perf_stream_spec perf_stream_deep = {
	.role = PERF_STREAM_DEEP,
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.how = "perf bpf-output",
};

size_t perf_stream_specs(const struct experiment *x, const struct perf_stream_spec **ret,
			 size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		if (specs[i].trigger == x->trigger && n < max)
			ret[n++] = &specs[i];
	return n;
}

static uint32_t dump_size(const struct perf_stream_spec *spec,
			  const struct perf_stream_settings *settings)
{
	if (spec->role == PERF_STREAM_SWITCH)
		return DUMP_SWITCH;
	if (settings->ring_bytes < RING_FULL)
		return DUMP_SMALL;
	return spec->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ? DUMP_FAULT : DUMP_FULL;
}

static uint32_t wake_up_bytes(size_t ring_bytes)
{
	return ring_bytes / 4 < WAKE_UP_BYTES ? (uint32_t)(ring_bytes / 4)
					      : WAKE_UP_BYTES;
}

static void want_regs(struct perf_event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_REGS_USER;
	a->sample_regs_user = perf_regs_mask();
}

static void want_stack(struct perf_stream *s, uint32_t dump_bytes, bool has_deep)
{
	struct perf_event_attr *a = &s->attr;

	s->dump_bytes = dump_bytes;
	s->has_deep = has_deep;
	want_regs(a);
	a->sample_type |= PERF_RECORD_STACK;
	a->exclude_callchain_user = 1; /* the user part is unwound from the copy */
	a->sample_stack_user = has_deep ? PERF_DEEP_DUMP_BYTES : dump_bytes;
}

/* What perf_deep's program writes, and the kernel's part of the stack. */
static void want_written(struct perf_event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
	a->exclude_callchain_user = 1;
}

/* Clocks of the kernel's have none, and who has no such hardware is asked again without
 * it. */
static void want_branches(struct perf_event_attr *a)
{
	if (!branch_stack_is_possible() || a->type == PERF_TYPE_SOFTWARE)
		return;
	a->sample_type |= PERF_RECORD_BRANCHES;
	a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
}

static void want_sideband(struct perf_event_attr *a, bool has_switches)
{
	a->mmap = 1;
	a->mmap2 = 1;
	a->build_id = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->context_switch = has_switches;
}

static void set_machine(struct perf_event_attr *a, bool may_begin)
{
	a->disabled = !may_begin;
	/* Idle samples are neither reliable nor anybody's time.  Registers of some CPUs
	 * cannot tell. */
	a->exclude_idle = a->type == PERF_TYPE_SOFTWARE;
}

static void set_scope(struct perf_event_attr *a, const struct scope *scope,
		      bool may_begin)
{
	switch (scope->kind) {
	case SCOPE_LAUNCH:
		a->disabled = 1;
		a->enable_on_exec = may_begin;
		a->inherit = 1;
		a->inherit_thread = !scope->follow_children;
		break;
	case SCOPE_PROCESSES:
		a->disabled = !may_begin;
		a->inherit = 1;
		a->inherit_thread = !scope->follow_children;
		break;
	case SCOPE_THREADS:
		a->disabled = !may_begin;
		break;
	case SCOPE_CPUS:
		set_machine(a, may_begin);
		break;
	}
}

/* Of threads the kernel changes the period as often as it ticks; of CPUs we do it
 * (perf_rates), and it is told by nobody but what was counted. */
static void want_rate(struct perf_stream *s, uint64_t hz, bool is_machine)
{
	struct perf_event_attr *a = &s->attr;

	s->hz = hz;
	s->tuned_ns = clock_monotonic_ns();
	a->sample_type |= PERF_SAMPLE_READ;
	if (is_machine)
		return;
	a->sample_type |= PERF_SAMPLE_PERIOD;
	a->freq = 1;
	a->sample_freq = hz;
}

static uint64_t period_of(const struct perf_stream_spec *spec, const struct plan *plan)
{
	if (!plan)
		return 1;
	switch (spec->role) {
	case PERF_STREAM_SAMPLE:
		return plan->choice.interval;
	case PERF_STREAM_GRID:
		return perf_stream_grid_weight(plan->choice.interval) / GRID_PART_OF *
		       GRID_PART;
	default:
		return 1;
	}
}

void perf_stream_init(struct perf_stream *s, const struct perf_stream_spec *spec,
		      const struct plan *plan, bool is_tracking,
		      const struct perf_stream_settings *settings)
{
	struct perf_event_attr *a = &s->attr;
	bool may_begin = spec->role == PERF_STREAM_SIDEBAND || !settings->starts_paused;
	bool is_sample = plan != NULL;
	bool is_rated = is_sample && spec->role == PERF_STREAM_SAMPLE && plan->choice.hz;

	*s = (struct perf_stream){ .spec = spec, .plan = plan };
	a->size = sizeof(*a);
	a->exclude_hv = 1;
	if (is_sample && plan->choice.experiment->counter) {
		counter_set(plan->choice.experiment->counter, a);
	} else {
		a->type = PERF_TYPE_SOFTWARE;
		a->config = spec->config;
	}
	a->exclude_kernel |= settings->no_kernel;
	a->sample_period = period_of(spec, plan);
	a->sample_type = PERF_RECORD_BASE;
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->watermark = 1;
	a->wakeup_watermark = wake_up_bytes(settings->ring_bytes);
	if (is_sample && !plan->choice.experiment->is_pc_only)
		/* What perf_deep writes has no place for what was counted. */
		want_stack(s, dump_size(spec, settings), settings->has_deep && !is_rated);
	else if (is_sample && plan->insn)
		want_regs(a);
	if (is_sample && plan->insn && spec->role == PERF_STREAM_SAMPLE)
		want_branches(a);
	if (is_sample && spec->has_addr && plan->trace)
		a->sample_type |= PERF_RECORD_ADDR;
	if (is_rated)
		want_rate(s, plan->choice.hz, settings->scope->kind == SCOPE_CPUS);
	if (is_tracking)
		want_sideband(a, settings->has_switches);
	if (spec->role == PERF_STREAM_DEEP)
		want_written(a);
	else if (spec->role == PERF_STREAM_GRID)
		set_machine(a, may_begin);
	else
		set_scope(a, settings->scope, may_begin);
}

static int sys_perf_event_open(struct perf_event_attr *a, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_stream_open(struct perf_stream *s, pid_t tid, int cpu, struct err *e)
{
	int fd = sys_perf_event_open(&s->attr, tid, cpu);

	if (fd < 0 && s->attr.sample_type & PERF_RECORD_BRANCHES) {
		s->attr.sample_type &= ~(uint64_t)PERF_RECORD_BRANCHES;
		s->attr.branch_sample_type = 0;
		fd = sys_perf_event_open(&s->attr, tid, cpu);
	}
	if (fd < 0 && errno == EINVAL && s->attr.sample_type & PERF_SAMPLE_READ &&
	    s->attr.inherit) {
		s->attr.sample_type &=
			~(uint64_t)PERF_SAMPLE_READ; /* before Linux 6.13 */
		fd = sys_perf_event_open(&s->attr, tid, cpu);
	}
	if (fd < 0 && errno == EINVAL && s->attr.build_id) {
		s->attr.build_id = 0; /* before Linux 5.12 */
		fd = sys_perf_event_open(&s->attr, tid, cpu);
	}
	if (fd >= 0)
		return fd;
	if (errno == EMFILE)
		return err_os(e, "more threads and CPUs than this process may open "
				 "descriptors for (see 'ulimit -n')");
	return err_os(e, "cannot open %s for thread %d on CPU %d", s->spec->how, tid,
		      cpu);
}
