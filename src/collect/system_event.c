/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of its usual period that one of a register does not fall below when it is
 * rare: the CPU may count it ten thousand times as often the next moment. */
#define LEAST_PART 100

struct system_event system_event_clock(uint64_t period_ns)
{
	return (struct system_event){ .counter = counter_find("cpu-clock", NULL),
				      .period = period_ns };
}

bool system_event_is_hardware(const struct system_event *ev)
{
	return ev->counter->type != PERF_TYPE_SOFTWARE;
}

uint64_t system_event_least_period(const struct system_event *ev)
{
	uint64_t least = ev->counter->period / LEAST_PART;

	return system_event_is_hardware(ev) && least ? least : 1;
}

static struct perf_event_attr make_attr(const struct system_event *ev, bool is_pinned)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.sample_period = ev->period,
		.pinned = is_pinned,
		/* Idle time is nobody's, and its samples do not always arrive. */
		.exclude_idle = counter_is_clock(ev->counter),
		.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	counter_set(ev->counter, &a);
	return a;
}

int system_event_open(const struct system_event *ev, const struct system_event_how *how,
		      struct err *e)
{
	struct perf_event_attr attr = make_attr(ev, how->is_pinned);
	int fd = (int)syscall(SYS_perf_event_open, &attr, how->tid, how->cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: not offered by this CPU or virtual machine",
			       ev->counter->name);
	return err_os(e, "cannot open an event of %s", ev->counter->name);
}

int system_event_check(const struct counter *counter, struct err *e)
{
	const struct system_event ev = { .counter = counter, .period = counter->period };
	const struct system_event_how own_thread = { .tid = 0, .cpu = -1 };
	own(closep) int fd = system_event_open(&ev, &own_thread, e);

	return fd < 0 ? ERR_UNSUPPORTED : 0;
}

bool system_event_read(int fd, struct system_event_reading *ret)
{
	return read(fd, ret, sizeof(*ret)) == sizeof(*ret);
}
