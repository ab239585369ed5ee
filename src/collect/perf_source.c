/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <string.h>

#include "base/mem.h"
#include "collect/counter_experiment.h"
#include "collect/facts.h"
#include "collect/perf_attach.h"
#include "collect/perf_feed.h"
#include "collect/perf_files.h"
#include "collect/perf_hotplug.h"
#include "collect/perf_probe.h"
#include "collect/perf_rates.h"
#include "collect/perf_rest.h"
#include "collect/system_fit.h"
#include "host/clock.h"
#include "host/privilege.h"

extern const struct source_ops perf_source;

/* From taking a record's time to its being visible: some instructions, but a virtual
 * CPU may stand still in between. */
#define LATE_NS 5000000
/* Of deep stacks: a sample's share per millisecond of its interval. */
#define DEEP_BYTES (256u << 10)
#define DEEP_MIN   (64u << 10)
#define DEEP_MAX   (1u << 20)

struct perf {
	struct source base;
	struct source_context context;
	struct perf_files files;
	struct perf_feed feed;
	struct perf_hotplug hotplug;
	struct perf_rates rates;
	struct perf_rest rest;
	bool is_paused, no_kernel, has_grid;
	uint64_t stopped_ns;
};

static void perf_range(const struct experiment *x, uint64_t *ret_min,
		       uint64_t *ret_resolution)
{
	bool is_time = !strcmp(x->unit, "ns");

	/* The kernel's hrtimer takes no shorter period than 10 us. */
	*ret_min = is_time ? 10000 : 1;
	*ret_resolution = is_time ? 1 : 0;
}

static const char *perf_how(const struct experiment *x, unsigned column)
{
	const struct perf_stream_spec *specs[PERF_STREAM_SPECS_MAX];
	size_t n = perf_stream_specs(x, specs, PERF_STREAM_SPECS_MAX);

	for (size_t i = 0; i < n; i++)
		if (specs[i]->column == column)
			return specs[i]->how;
	return x->trigger == EXPERIMENT_THREAD_TIME ? "perf context-switches" : "perf";
}

/* Setting up. */

static void perf_free(struct source *source)
{
	struct perf *s = (struct perf *)source;

	perf_files_fini(&s->files);
	perf_hotplug_fini(&s->hotplug);
	perf_rates_fini(&s->rates);
	perf_rest_fini(&s->rest);
	perf_waits_free(s->feed.waits);
	perf_feed_fini(&s->feed);
	free(s);
}

static void add_stream(struct perf *s, const struct perf_stream_spec *spec,
		       const struct plan *plan,
		       const struct perf_stream_settings *settings)
{
	bool is_first = s->files.streams.n == 0;

	perf_stream_init(vec_push(&s->files.streams), spec, plan, is_first, settings);
}

static bool is_cpu_time(const struct plan *plan)
{
	enum experiment_trigger t = plan->choice.experiment->trigger;

	return t == EXPERIMENT_CPU_TIME || t == EXPERIMENT_THREAD_TIME;
}

static void add_streams(struct perf *s, const struct perf_stream_settings *settings)
{
	const struct perf_stream_spec *specs[PERF_STREAM_SPECS_MAX];

	/* Records of the side band stop with their event: one that may be paused
	 * cannot carry it. */
	if (settings->scope->may_pause)
		add_stream(s, &perf_stream_sideband, NULL, settings);
	for (size_t i = 0; i < s->context.n_plans; i++) {
		const struct plan *plan = &s->context.plans[i];

		if (plan->source != &perf_source)
			continue;

		size_t n = perf_stream_specs(plan->choice.experiment, specs,
					     PERF_STREAM_SPECS_MAX);

		for (size_t j = 0; j < n; j++)
			add_stream(s, specs[j], plan, settings);
		if (s->has_grid && is_cpu_time(plan))
			add_stream(s, &perf_stream_grid, plan, settings);
	}
	if (s->files.deep)
		add_stream(s, &perf_stream_deep, NULL, settings);
}

/* How much of a stack each sample may take: what the recorder can read in time. */
static uint32_t deep_bytes(const struct source_context *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->n_plans; i++) {
		const struct experiment_choice *x = &c->plans[i].choice;
		uint64_t one = DEEP_BYTES;

		if (c->plans[i].source != &perf_source || x->experiment->is_pc_only)
			continue;
		if (!strcmp(x->experiment->unit, "ns"))
			one = x->interval * DEEP_BYTES / 1000000;
		if (!bytes || one < bytes)
			bytes = one;
	}
	if (bytes && bytes < DEEP_MIN)
		return DEEP_MIN;
	return bytes < DEEP_MAX ? (uint32_t)bytes : DEEP_MAX;
}

/* Which way branches go depends on memory, too. */
static bool wants_insn(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &perf_source && c->plans[i].insn)
			return true;
	return false;
}

static void init_feed(struct perf *s)
{
	struct perf_feed *f = &s->feed;

	f->tracker = s->context.tracker;
	f->writer = s->context.writer;
	f->files = &s->files;
	for (size_t i = 0; i < s->context.n_plans; i++) {
		const struct plan *p = &s->context.plans[i];

		if (p->source != &perf_source || !is_cpu_time(p))
			continue;
		if (!f->cpu_plan)
			f->cpu_plan = p;
		if (!f->waits && p->choice.experiment->trigger == EXPERIMENT_THREAD_TIME)
			f->waits =
				perf_waits_new(f->tracker, p->events[EXPERIMENT_BLOCKED],
					       p->events[EXPERIMENT_WAIT_CPU]);
	}
	if (f->cpu_plan && s->context.scope->kind != SCOPE_CPUS)
		perf_feed_follow_clocks(f);
}

static int choose_cpus(const struct scope *scope, struct cpus *cpus, struct err *e)
{
	if (scope->kind != SCOPE_CPUS || !scope->n_cpus)
		return cpus_present(cpus, e);
	for (size_t i = 0; i < scope->n_cpus; i++)
		*vec_push(&cpus->ids) = scope->cpus[i];
	return 0;
}

/* Page faults with their stacks: a program makes most of them while it starts. */
static bool has_bursts(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &perf_source &&
		    c->plans[i].choice.experiment->trigger == EXPERIMENT_FAULTS)
			return true;
	return false;
}

/* Do the threads come and go? */
static bool wants_grid(const struct scope *scope)
{
	return scope->kind == SCOPE_LAUNCH || scope->kind == SCOPE_PROCESSES;
}

/* There may be holes between them. */
static uint32_t n_cpu_ids(void)
{
	struct cpus present = { 0 };
	uint32_t n = 1;

	if (cpus_present(&present, NULL) == 0)
		n = cpus_end(&present);
	cpus_fini(&present);
	return n;
}

/* Where a thread's counters took turns its samples would stand for too little.  Who may
 * not observe the kernel cannot try. */
static int check_fit(const struct source_context *c, struct err *e)
{
	struct system_event_how own_thread = { .tid = 0, .cpu = -1 };
	struct system_event events[SYSTEM_EVENTS_MAX];
	uint8_t groups[SYSTEM_EVENTS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < c->n_plans && n < SYSTEM_EVENTS_MAX; i++) {
		const struct plan *p = &c->plans[i];

		if (p->source == &perf_source && p->choice.experiment->counter)
			events[n++] = counter_experiment_event(&p->choice);
	}
	if (counter_is_user_only() ||
	    system_fit(events, n, 0, system_fit_try, &own_thread, groups) < 2)
		return 0;
	return err_set(
		e, ERR_UNSUPPORTED,
		"this CPU has too few counters for all of these at once: take "
		"fewer, or whole CPUs where BPF counts, which lets them take turns "
		"('dwell attach -a --source system')");
}

/* The kernel sets the periods of a program's events, as those of threads to come cannot
 * be had otherwise; what it does for those of registers leads to the rate. */
static int check_rates(const struct source_context *c, struct err *e)
{
	for (size_t i = 0; i < c->n_plans; i++) {
		const struct experiment_choice *x = &c->plans[i].choice;
		struct system_event ev = { .counter = x->experiment->counter };

		if (c->plans[i].source != &perf_source || !x->hz ||
		    c->scope->kind == SCOPE_CPUS || system_event_is_hardware(&ev))
			continue;
		return err_set(
			e, ERR_UNSUPPORTED,
			"%s has a rate on whole CPUs only ('dwell attach -a'): of a "
			"program say of how many one is a sample, like %s:%llu",
			x->name, x->name, (unsigned long long)x->experiment->on);
	}
	return 0;
}

static int perf_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct cpus cpus = { 0 };
	struct privilege privilege;
	int rc = check_fit(c, e);

	if (rc == 0)
		rc = check_rates(c, e);
	if (rc == 0)
		rc = choose_cpus(c->scope, &cpus, e);

	if (rc < 0) {
		cpus_fini(&cpus);
		return rc;
	}

	struct perf *s = xcalloc(1, sizeof(*s));
	uint32_t deep = deep_bytes(c);

	s->base.ops = &perf_source;
	s->rest.timer = -1;
	s->context = *c;
	privilege_read(&privilege);
	s->no_kernel = privilege_check(&privilege, PRIVILEGE_OWN_KERNEL, NULL) < 0;
	perf_files_init(&s->files, &cpus,
			perf_files_ring_bytes(cpus.ids.n, has_bursts(c)));
	/* Not everybody may: then what perf copies must do. */
	if (deep &&
	    perf_deep_new(n_cpu_ids(), deep, wants_insn(c), &s->files.deep, NULL) < 0)
		s->files.deep = NULL;
	init_feed(s);
	s->has_grid = s->feed.tails && wants_grid(c->scope) &&
		      privilege_check(&privilege, PRIVILEGE_MACHINE, NULL) == 0;
	cpus_fini(&cpus);
	*ret = &s->base;
	return 0;
}

/* Starting: a program that we launch, or what runs already. */

static int open_streams(struct perf *s, struct err *e)
{
	struct perf_stream_settings settings = {
		.scope = s->context.scope,
		.no_kernel = s->no_kernel,
		.has_switches = s->feed.waits != NULL,
		.starts_paused = s->is_paused,
		.has_deep = s->files.deep != NULL,
		.ring_bytes = s->files.ring_bytes,
	};

	add_streams(s, &settings);
	if (s->files.streams.n)
		return 0;
	return err_set(e, ERR_USAGE, "no experiment for perf");
}

static int start_scope(struct perf *s, pid_t pid, struct err *e)
{
	if (s->context.scope->kind == SCOPE_LAUNCH)
		return perf_files_open(&s->files, pid, e);
	return perf_attach(&s->feed, s->context.scope, !s->no_kernel, e);
}

static int perf_start(struct source *source, pid_t pid, struct err *e)
{
	struct perf *s = (struct perf *)source;
	int rc = open_streams(s, e);

	if (rc == 0)
		rc = perf_hotplug_begin(&s->hotplug, e);
	if (rc == 0)
		rc = start_scope(s, pid, e);
	/* Better without short threads than without the recording. */
	if (rc == 0 && s->has_grid && perf_files_open_grid(&s->files, NULL) < 0)
		s->has_grid = false;
	if (rc == 0)
		perf_rest_begin(&s->rest, perf_rest_ns(&s->files, LATE_NS),
				clock_monotonic_ns());
	return rc;
}

/* Running. */

static size_t perf_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct perf *s = (const struct perf *)source;

	if (!s->rest.is_on || !max)
		return perf_files_poll(&s->files, fds, max);
	fds[0] = (struct pollfd){ .fd = s->rest.timer, .events = POLLIN };
	return 1;
}

static int perf_drain(struct source *source, bool is_final, struct err *e)
{
	struct perf *s = (struct perf *)source;
	uint64_t now_ns = clock_monotonic_ns();

	(void)e;
	/* Better a record out of order than one lost. */
	bool is_pressed = perf_files_is_pressed(&s->files);

	perf_feed_drain(&s->feed, is_final || is_pressed ? UINT64_MAX : now_ns - LATE_NS);
	perf_rest_looked(&s->rest, now_ns, s->feed.n_ended, is_pressed);
	s->feed.n_ended = 0;
	perf_files_check_hang_ups(&s->files);
	if (!is_final && perf_hotplug_check(&s->hotplug, now_ns, &s->files,
					    s->context.scope->kind == SCOPE_CPUS))
		perf_files_enable(&s->files, !s->is_paused);
	perf_rates_tune(&s->rates, &s->files, now_ns);
	if (is_final && s->feed.waits)
		perf_waits_finish(s->feed.waits, s->stopped_ns);
	if (is_final && s->feed.tails)
		perf_tails_finish(s->feed.tails);
	return 0;
}

static void perf_stats(const struct source *source, struct source_stats *ret)
{
	*ret = ((const struct perf *)source)->feed.stats;
}

static void perf_pause(struct source *source, bool is_paused)
{
	struct perf *s = (struct perf *)source;

	s->is_paused = is_paused;
	if (!s->files.files.n)
		return; /* not started */
	perf_files_enable(&s->files, !is_paused);
	if (s->feed.waits) {
		perf_feed_drain(&s->feed, UINT64_MAX);
		perf_waits_pause(s->feed.waits, clock_monotonic_ns(), is_paused);
	}
}

static void perf_turn(struct source *source, struct tracker *tracker,
		      struct writer *writer)
{
	struct perf *s = (struct perf *)source;

	s->context.tracker = tracker;
	s->context.writer = writer;
	perf_feed_turn(&s->feed, tracker, writer);
	vec_each(x, &s->files.streams)
		x->samples = 0;
	s->hotplug.watch.n_changes = 0;
}

static void perf_stop(struct source *source)
{
	struct perf *s = (struct perf *)source;

	perf_files_disable_all(&s->files);
	s->stopped_ns = clock_monotonic_ns();
}

static void finish_stream(struct perf *s, uint32_t i)
{
	struct perf_stream *x = &s->files.streams.at[i];
	struct writer *w = s->context.writer;

	if (x->spec->role != PERF_STREAM_SAMPLE)
		return;

	uint32_t event = x->plan->events[x->spec->column];
	uint64_t now = perf_files_count(&s->files, i), counted = now - x->counted_before;
	bool is_machine = s->context.scope->kind == SCOPE_CPUS;

	if (x->hz)
		facts_add_for(w, event, FACT_RATE, "requested-rate", "count", x->hz);
	else
		facts_add_for(w, event, FACT_RATE, "requested-period",
			      x->plan->choice.experiment->unit, x->attr.sample_period);
	facts_add_for(w, event, FACT_RATE, "delivered", "count", x->samples);
	x->counted_before = now;
	/* The clock of a CPU goes on while it idles, and no sample is due then. */
	if (is_machine && is_cpu_time(x->plan))
		return;
	facts_add_for(w, event, FACT_RATE, "counted", x->plan->choice.experiment->unit,
		      counted);
	if (x->plan == s->feed.cpu_plan)
		s->feed.stats.counted_cpu_ns = counted;
}

static void finish_losses(const struct perf *s)
{
	const struct source_stats *stats = &s->feed.stats;
	size_t n_shallow = perf_files_n_shallow(&s->files);
	struct writer *w = s->context.writer;

	facts_loss(w, "lost-samples", stats->lost);
	facts_loss(w, "throttled", stats->throttled);
	if (s->no_kernel)
		facts_loss(w, "kernel-not-observed", 1);
	if (s->feed.tails && !s->has_grid)
		facts_loss(w, "unsampled-threads", s->feed.n_unsampled);
	if (n_shallow)
		facts_loss(w, "shallow-cpus", n_shallow);
	if (s->hotplug.watch.n_changes)
		facts_loss(w, "cpu-changes", s->hotplug.watch.n_changes);
}

static void perf_finish(struct source *source, struct source_stats *ret)
{
	struct perf *s = (struct perf *)source;
	struct source_stats *stats = &s->feed.stats;

	for (uint32_t i = 0; i < s->files.streams.n; i++)
		finish_stream(s, i);
	finish_losses(s);
	stats->is_user_only = s->no_kernel;
	if (s->feed.waits)
		stats->samples += perf_waits_count(s->feed.waits);
	*ret = *stats;
}

const struct source_ops perf_source = {
	.name = "perf",
	.summary = "perf_event: the kernel samples, nothing runs in the program",
	.probe = perf_probe,
	.range = perf_range,
	.how = perf_how,
	.open = perf_open,
	.start = perf_start,
	.fds = perf_fds,
	.drain = perf_drain,
	.stats = perf_stats,
	.pause = perf_pause,
	.turn = perf_turn,
	.stop = perf_stop,
	.finish = perf_finish,
	.free = perf_free,
};
