/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_events.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/cpu_watch.h"
#include "collect/system_fit.h"
#include "collect/system_period.h"
#include "collect/system_pins.h"
#include "collect/system_rate.h"
#include "host/clock.h"

/* Setting a period begins it anew, which loses half of one on average: one in two
 * thousand samples. */
#define SAMPLES_PER_PERIOD 1000
#define TRY_PERIOD_NS	   100000
/* A CPU that comes is not observed for up to that. */
#define LOOK_NS UINT64_C(1000000000)

/* When periods were set for a rate. */
struct tuned {
	struct system_event_reading reading;
	uint64_t samples;
};

/* The events of a CPU, by their numbers. */
struct cpu_events {
	uint32_t cpu;
	uint64_t samples[SYSTEM_EVENTS_MAX]; /* when their periods were drawn */
	struct system_period periods[SYSTEM_EVENTS_MAX];
	struct tuned tuned[SYSTEM_EVENTS_MAX];
	int fds[SYSTEM_EVENTS_MAX];
	struct bpf_link *links[SYSTEM_EVENTS_MAX];
};

struct system_events {
	const struct cpus *cpus;
	struct system_event events[SYSTEM_EVENTS_MAX];
	size_t n_events;
	bool is_fixed, is_started, is_paused;
	uint32_t n_at_once;
	struct bpf_program *program;
	const struct system_pins *pins; /* NULL: they end with us */
	uint32_t pins_turn;
	bool is_limited; /* the kernel ends one whose program returns 1 */
	VEC(struct cpu_events) open;
	struct cpu_watch watch;
	uint64_t seed;
	/* Whose turn it is: each group's once in a cycle, in an order drawn anew. */
	uint8_t group_of[SYSTEM_EVENTS_MAX];
	uint8_t order[SYSTEM_EVENTS_MAX];
	size_t n_groups, turn;
	/* When periods were set for rates, and what was counted until then. */
	uint64_t tuned_ns, counted[SYSTEM_EVENTS_MAX];
	/* Of CPUs that are gone. */
	struct system_event_reading past[SYSTEM_EVENTS_MAX];
};

/* Setting up. */

int system_events_new(const struct system_events_settings *settings,
		      struct system_events **ret, struct err *e)
{
	own(system_events_freep) struct system_events *s = xcalloc(1, sizeof(*s));

	s->cpus = settings->cpus;
	s->is_fixed = settings->is_fixed;
	s->n_at_once = settings->n_at_once;
	s->n_events = settings->n_events;
	if (s->n_events > SYSTEM_EVENTS_MAX)
		return err_set(e, ERR_USAGE, "at most %d events", SYSTEM_EVENTS_MAX);
	for (size_t i = 0; i < s->n_events; i++)
		s->events[i] = settings->events[i];
	if (!s->n_events)
		s->events[s->n_events++] = system_event_clock(settings->period_ns);
	s->seed = s->events[0].period;
	*ret = steal(&s);
	return 0;
}

void system_events_free(struct system_events *s)
{
	if (!s)
		return;
	system_events_stop(s);
	vec_fini(&s->open);
	cpu_watch_fini(&s->watch);
	free(s);
}

void system_events_freep(struct system_events **s)
{
	system_events_free(*s);
}

/* The program runs at that event from now on; the descriptor is the link's. */
static int open_event(struct bpf_program *program, const struct system_event *ev,
		      const struct system_event_how *how, uint64_t number,
		      struct bpf_link **ret, int *ret_fd, struct err *e)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = number);
	own(closep) int fd = system_event_open(ev, how, e);

	if (fd < 0)
		return fd;
	*ret = bpf_program__attach_perf_event_opts(program, fd, &options);
	if (!*ret)
		return err_os(e, "cannot attach a BPF program");
	*ret_fd = steal_fd(&fd);
	return 0;
}

static uint64_t thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int system_events_try(struct bpf_program *program, uint64_t ns, struct err *e)
{
	const struct system_event ev = system_event_clock(TRY_PERIOD_NS);
	const struct system_event_how own_thread = { .tid = 0, .cpu = -1 };
	uint64_t begin_ns = thread_cpu_ns();
	struct bpf_link *link = NULL;
	int fd, rc = open_event(program, &ev, &own_thread, 0, &link, &fd, e);

	if (rc < 0)
		return rc;
	while (thread_cpu_ns() - begin_ns < ns)
		;
	bpf_link__destroy(link);
	return 0;
}

/* Turns. */

bool system_events_take_turns(const struct system_events *s)
{
	bool has_hardware = false;

	for (size_t i = 0; i < s->n_events; i++)
		has_hardware |= system_event_is_hardware(&s->events[i]);
	/* Others may use its registers, too. */
	return s->n_groups > 1 || has_hardware;
}

static void draw_order(struct system_events *s)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		size_t j = hash_u64(++s->seed) % (i + 1);

		s->order[i] = s->order[j];
		s->order[j] = (uint8_t)i;
	}
}

static void part(struct system_events *s, int cpu)
{
	struct system_event_how where = { .tid = -1, .cpu = cpu };

	s->n_groups = system_fit(s->events, s->n_events, s->n_at_once, system_fit_try,
				 &where, s->group_of);
	s->turn = 0;
	draw_order(s);
}

static bool is_its_turn(const struct system_events *s, size_t event)
{
	return s->group_of[event] == SYSTEM_FIT_ALWAYS ||
	       s->group_of[event] == s->order[s->turn];
}

static void set_on(const struct cpu_events *c, size_t event, bool is_on)
{
	ioctl(c->fds[event], is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* What is on until now, and what is to be. */
static void hand_over(const struct system_events *s, const bool was_on[SYSTEM_EVENTS_MAX])
{
	vec_each(c, &s->open) {
		/* What goes makes room for what comes. */
		for (size_t i = 0; i < s->n_events; i++)
			if (was_on[i] && !is_its_turn(s, i))
				set_on(c, i, false);
		for (size_t i = 0; i < s->n_events; i++)
			if (!was_on[i] && is_its_turn(s, i))
				set_on(c, i, true);
	}
}

static void take_turns(struct system_events *s)
{
	bool was_on[SYSTEM_EVENTS_MAX];

	if (s->n_groups < 2 || s->is_paused)
		return;
	for (size_t i = 0; i < s->n_events; i++)
		was_on[i] = is_its_turn(s, i);
	if (++s->turn == s->n_groups) {
		s->turn = 0;
		draw_order(s);
	}
	hand_over(s, was_on);
}

/* CPUs. */

static struct cpu_events *find_cpu(struct system_events *s, uint32_t cpu)
{
	vec_each(c, &s->open)
		if (c->cpu == cpu)
			return c;
	return NULL;
}

static void add_reading(struct system_event_reading *to, int fd)
{
	struct system_event_reading r;

	if (!system_event_read(fd, &r))
		return;
	to->counted += r.counted;
	to->enabled_ns += r.enabled_ns;
	to->on_ns += r.on_ns;
}

/* Pins. */

#define PIN_NAME 64

static void name_pin(const struct system_events *s, uint32_t cpu, size_t event,
		     char ret[PIN_NAME])
{
	snprintf(ret, PIN_NAME, SYSTEM_PINS_LINK "%u_cpu%u_event%zu", s->pins_turn, cpu,
		 event);
}

static int pin_cpu(struct system_events *s, const struct cpu_events *c, struct err *e)
{
	char name[PIN_NAME];
	int rc = 0;

	for (size_t i = 0; s->pins && rc == 0 && i < s->n_events; i++) {
		name_pin(s, c->cpu, i, name);
		rc = system_pins_put(s->pins, bpf_link__fd(c->links[i]), name, e);
	}
	return rc;
}

/* From now on: how often a program may return 1. */
static int limit_cpu(struct system_events *s, const struct cpu_events *c, struct err *e)
{
	for (size_t i = 0; s->is_limited && i < s->n_events; i++) {
		if (ioctl(c->fds[i], PERF_EVENT_IOC_REFRESH, 1) != 0)
			return err_os(e, "cannot limit an event");
		/* That has enabled it. */
		if (s->is_paused || !is_its_turn(s, i))
			set_on(c, i, false);
	}
	return 0;
}

static void unpin(struct system_events *s, uint32_t cpu, size_t event)
{
	char name[PIN_NAME];

	name_pin(s, cpu, event, name);
	if (s->pins)
		system_pins_remove(s->pins, name);
}

int system_events_keep(struct system_events *s, const struct system_pins *pins,
		       uint32_t turn, struct err *e)
{
	int rc = 0;

	s->pins = pins;
	s->pins_turn = turn;
	for (size_t i = 0; rc == 0 && i < s->open.n; i++)
		rc = pin_cpu(s, &s->open.at[i], e);
	return rc;
}

int system_events_limit(struct system_events *s, struct err *e)
{
	char ours[PIN_NAME];
	int rc = 0;

	s->is_limited = true;
	for (size_t i = 0; rc == 0 && i < s->open.n; i++)
		rc = limit_cpu(s, &s->open.at[i], e);
	snprintf(ours, sizeof(ours), SYSTEM_PINS_LINK "%u_", s->pins_turn);
	system_pins_remove_others(s->pins, SYSTEM_PINS_LINK, ours);
	return rc;
}

void system_events_forget_pins(struct system_events *s)
{
	s->pins = NULL;
	s->is_limited = false;
}

static void close_cpu(struct system_events *s, struct cpu_events *c)
{
	for (size_t i = 0; i < s->n_events; i++) {
		if (!c->links[i])
			continue;
		unpin(s, c->cpu, i);
		add_reading(&s->past[i], c->fds[i]);
		bpf_link__destroy(c->links[i]);
		c->links[i] = NULL;
	}
}

static int open_cpu(struct system_events *s, uint32_t cpu, struct err *e)
{
	const struct system_event_how how = { .tid = -1, .cpu = (int)cpu };
	struct cpu_events c = { .cpu = cpu };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n_events; i++) {
		rc = open_event(s->program, &s->events[i], &how, i, &c.links[i],
				&c.fds[i], e);
		/* Attaching has enabled it. */
		if (rc == 0 && (s->is_paused || !is_its_turn(s, i)))
			set_on(&c, i, false);
	}
	if (rc == 0)
		rc = pin_cpu(s, &c, e);
	if (rc == 0)
		rc = limit_cpu(s, &c, e);
	if (rc < 0)
		close_cpu(s, &c);
	else
		*vec_push(&s->open) = c;
	return rc;
}

int system_events_start(struct system_events *s, struct bpf_program *program,
			struct err *e)
{
	int rc = cpu_watch_begin(&s->watch, e);

	s->program = program;
	s->watch.every_ns = LOOK_NS;
	if (rc == 0)
		part(s, (int)s->watch.open.at[0].id);
	for (size_t i = 0; rc == 0 && i < s->watch.open.n; i++)
		if (cpus_has(s->cpus, s->watch.open.at[i].id))
			rc = open_cpu(s, s->watch.open.at[i].id, e);
	s->tuned_ns = clock_monotonic_ns();
	s->is_started = rc == 0;
	return rc;
}

static bool on_cpu_come(void *ctx, uint32_t cpu)
{
	struct system_events *s = ctx;

	return !cpus_has(s->cpus, cpu) || open_cpu(s, cpu, NULL) == 0;
}

/* Its events ended with it; what they have counted stays. */
static void on_cpu_gone(void *ctx, uint32_t cpu)
{
	struct system_events *s = ctx;
	struct cpu_events *c = find_cpu(s, cpu);

	if (!c)
		return;
	close_cpu(s, c);
	*c = s->open.at[--s->open.n];
}

void system_events_follow(struct system_events *s, uint64_t now_ns)
{
	const struct cpu_watch_user user = { .ctx = s,
					     .open = on_cpu_come,
					     .close = on_cpu_gone };

	if (s->is_started)
		cpu_watch_look(&s->watch, now_ns, &user);
}

/* Running. */

static void draw_period(struct system_events *s, struct cpu_events *c, size_t event,
			uint64_t n_samples)
{
	uint64_t mean = s->events[event].period;
	struct system_period *p = &c->periods[event];
	uint64_t before = p->now ? p->now : mean;
	uint64_t period = system_period_draw(p, mean, n_samples, hash_u64(++s->seed));

	if (period != before)
		ioctl(c->fds[event], PERF_EVENT_IOC_PERIOD, &period);
}

static uint64_t n_samples(const struct system_events *s,
			  const struct stack_record_stats *stats,
			  const struct cpu_events *c, size_t event)
{
	const struct stack_record_stats *st = &stats[c->cpu];

	return s->n_events > 1 ? st->of_events[event] : st->samples;
}

void system_events_jitter(struct system_events *s, const struct stack_record_stats *stats)
{
	take_turns(s);
	if (s->is_fixed)
		return;
	vec_each(c, &s->open) {
		for (size_t i = 0; i < s->n_events; i++) {
			uint64_t n = n_samples(s, stats, c, i);

			if (n - c->samples[i] < SAMPLES_PER_PERIOD)
				continue;
			draw_period(s, c, i, n - c->samples[i]);
			c->samples[i] = n;
		}
	}
}

/* Rates. */

/* How often it comes, while it is on. */
static double tune_cpu(struct system_events *s, struct cpu_events *c, size_t event,
		       const struct stack_record_stats *stats)
{
	struct tuned *t = &c->tuned[event];
	struct system_event_reading before = t->reading;

	t->samples = n_samples(s, stats, c, event);
	if (!system_event_read(c->fds[event], &t->reading))
		t->reading = before;
	s->counted[event] += t->reading.counted;
	if (t->reading.on_ns <= before.on_ns)
		return 0;
	return (double)(t->reading.counted - before.counted) * 1e9 /
	       (double)(t->reading.on_ns - before.on_ns);
}

static void set_mean(struct system_events *s, size_t event)
{
	uint64_t mean = s->events[event].period, period;

	vec_each(c, &s->open) {
		struct system_period *p = &c->periods[event];

		*p = (struct system_period){ 0 };
		period = s->is_fixed
				 ? mean
				 : system_period_draw(p, mean, 0, hash_u64(++s->seed));
		ioctl(c->fds[event], PERF_EVENT_IOC_PERIOD, &period);
		c->samples[event] = c->tuned[event].samples;
	}
}

/* The same period on all CPUs: then samples of all weigh the same. */
static void tune(struct system_events *s, size_t event,
		 const struct stack_record_stats *stats)
{
	struct system_event *ev = &s->events[event];
	uint64_t before = ev->period;
	double most = 0;

	s->counted[event] = s->past[event].counted;
	vec_each(c, &s->open) {
		double per_second = tune_cpu(s, c, event, stats);

		most = per_second > most ? per_second : most;
	}
	ev->period =
		system_rate_period(before, system_event_least_period(ev), ev->hz, most);
	if (ev->period != before)
		set_mean(s, event);
}

void system_events_tune(struct system_events *s, const struct stack_record_stats *stats)
{
	s->tuned_ns = clock_monotonic_ns();
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].hz)
			tune(s, i, stats);
}

bool system_events_exceed(const struct system_events *s,
			  const struct stack_record_stats *stats)
{
	uint64_t ns = clock_monotonic_ns() - s->tuned_ns;

	vec_each(c, &s->open)
		for (size_t i = 0; i < s->n_events; i++)
			if (s->events[i].hz &&
			    system_rate_is_exceeded(
				    s->events[i].hz,
				    n_samples(s, stats, c, i) - c->tuned[i].samples, ns))
				return true;
	return false;
}

uint64_t system_events_counted(const struct system_events *s, size_t event)
{
	return s->counted[event];
}

void system_events_pause(struct system_events *s, bool is_paused)
{
	s->is_paused = is_paused;
	vec_each(c, &s->open)
		for (size_t i = 0; i < s->n_events; i++)
			set_on(c, i, !is_paused && is_its_turn(s, i));
}

void system_events_stop(struct system_events *s)
{
	vec_each(c, &s->open)
		close_cpu(s, c);
	s->open.n = 0;
	s->is_started = false;
}

/* How long some group was on: one event of each tells. */
static uint64_t turns_ns(const struct system_events *s,
			 const struct system_event_reading *sums)
{
	uint64_t ns = 0;

	for (size_t g = 0; g < s->n_groups; g++)
		for (size_t i = 0; i < s->n_events; i++)
			if (s->group_of[i] == g) {
				ns += sums[i].enabled_ns;
				break;
			}
	return ns;
}

void system_events_shares(struct system_events *s,
			  struct system_events_share ret[SYSTEM_EVENTS_MAX])
{
	struct system_event_reading sums[SYSTEM_EVENTS_MAX];
	uint64_t all_ns;

	memcpy(sums, s->past, sizeof(sums));
	vec_each(c, &s->open)
		for (size_t i = 0; i < s->n_events; i++)
			add_reading(&sums[i], c->fds[i]);
	all_ns = turns_ns(s, sums);
	for (size_t i = 0; i < s->n_events; i++)
		ret[i] = (struct system_events_share){
			.on_ns = sums[i].on_ns,
			.of_ns = s->group_of[i] == SYSTEM_FIT_ALWAYS ? sums[i].enabled_ns
								     : all_ns,
			.counted = sums[i].counted,
		};
}
