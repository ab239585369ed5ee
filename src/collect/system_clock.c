/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_clock.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/clock.h"

#define JITTER_PER_MILLE 100
#define TRY_PERIOD_NS	 100000
#define TRY_NS		 10000000

struct cpu_event {
	uint32_t cpu;
	int fd;
	struct bpf_link *link;
	uint64_t samples; /* when its period was drawn */
};

struct system_clock {
	const struct cpus *cpus;
	uint64_t period_ns;
	bool is_fixed, is_started, is_paused;
	struct bpf_program *program;
	VEC(struct cpu_event) events;
	uint64_t seed;
};

struct system_clock *system_clock_new(const struct cpus *cpus, uint64_t period_ns,
				      bool is_fixed)
{
	struct system_clock *c = xcalloc(1, sizeof(*c));

	c->cpus = cpus;
	c->period_ns = c->seed = period_ns;
	c->is_fixed = is_fixed;
	return c;
}

void system_clock_free(struct system_clock *c)
{
	if (!c)
		return;
	system_clock_stop(c);
	vec_fini(&c->events);
	free(c);
}

void system_clock_freep(struct system_clock **c)
{
	system_clock_free(*c);
}

static int open_event(struct bpf_program *program, pid_t tid, int cpu, uint64_t period_ns,
		      struct bpf_link **ret, int *ret_fd, struct err *e)
{
	/* Idle time is nobody's, and its samples do not always arrive. */
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = period_ns,
					.exclude_idle = 1 };
	own(closep) int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1,
					  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return err_os(e, "cannot open an event");
	*ret = bpf_program__attach_perf_event(program, fd);
	if (!*ret)
		return err_os(e, "cannot attach a BPF program");
	*ret_fd = steal_fd(&fd); /* the link's now */
	return 0;
}

static uint64_t thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int system_clock_try(struct bpf_program *program, struct err *e)
{
	uint64_t begin_ns = thread_cpu_ns();
	struct bpf_link *link = NULL;
	int fd, rc = open_event(program, 0, -1, TRY_PERIOD_NS, &link, &fd, e);

	if (rc < 0)
		return rc;
	while (thread_cpu_ns() - begin_ns < TRY_NS)
		;
	bpf_link__destroy(link);
	return 0;
}

static struct cpu_event *find_event(struct system_clock *c, uint32_t cpu)
{
	vec_each(ev, &c->events)
		if (ev->cpu == cpu)
			return ev;
	return NULL;
}

static int open_cpu(struct system_clock *c, uint32_t cpu, struct err *e)
{
	struct cpu_event ev = { .cpu = cpu };
	int rc = open_event(c->program, -1, (int)cpu, c->period_ns, &ev.link, &ev.fd, e);

	if (rc < 0)
		return rc;
	if (c->is_paused) /* attaching has enabled it */
		ioctl(ev.fd, PERF_EVENT_IOC_DISABLE, 0);
	*vec_push(&c->events) = ev;
	return rc;
}

int system_clock_start(struct system_clock *c, struct bpf_program *program, struct err *e)
{
	struct cpus online = { 0 };
	int rc = cpus_online(&online, e);

	c->program = program;
	for (size_t i = 0; rc == 0 && i < c->cpus->ids.n; i++)
		if (cpus_has(&online, c->cpus->ids.at[i]))
			rc = open_cpu(c, c->cpus->ids.at[i], e);
	cpus_fini(&online);
	c->is_started = rc == 0;
	return rc;
}

void system_clock_follow(struct system_clock *c)
{
	struct cpus online = { 0 };

	if (!c->is_started || cpus_online(&online, NULL) < 0)
		return;
	for (size_t i = 0; i < c->cpus->ids.n; i++) {
		uint32_t cpu = c->cpus->ids.at[i];
		struct cpu_event *ev = find_event(c, cpu);
		bool is_online = cpus_has(&online, cpu);

		if (ev && !is_online) { /* its event ended with it */
			bpf_link__destroy(ev->link);
			*ev = c->events.at[--c->events.n];
		} else if (!ev && is_online && open_cpu(c, cpu, NULL) < 0) {
			continue; /* the next time */
		}
	}
	cpus_fini(&online);
}

void system_clock_jitter(struct system_clock *c, const struct stack_record_stats *stats)
{
	uint64_t mean = c->period_ns;
	uint64_t span = mean * JITTER_PER_MILLE / 1000;

	if (c->is_fixed || !span)
		return;
	vec_each(ev, &c->events) {
		uint64_t samples = stats[ev->cpu].samples, period;

		if (samples == ev->samples)
			continue;
		ev->samples = samples;
		period = mean - span + hash_u64(++c->seed) % (2 * span + 1);
		ioctl(ev->fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void system_clock_pause(struct system_clock *c, bool is_paused)
{
	c->is_paused = is_paused;
	vec_each(ev, &c->events)
		ioctl(ev->fd, is_paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE,
		      0);
}

void system_clock_stop(struct system_clock *c)
{
	vec_each(ev, &c->events) {
		bpf_link__destroy(ev->link);
	}
	c->events.n = 0;
	c->is_started = false;
}
