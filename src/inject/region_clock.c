/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_clock.h"

#include <linux/perf_event.h>

#include "bare/sys.h"
#include "inject/trace_regions.h"
#include "inject/vdso.h"

struct region_clock region_clock;

/* Out of the way of the numbers that a program gets itself. */
#define HIGH_FD 900

void region_clock_init(void)
{
	const struct wire_regions_control *c = trace_regions_control();
	static const enum region_clock_kind kinds[] = {
		[WIRE_REGIONS_TIME] = REGION_CLOCK_NS,
		[WIRE_REGIONS_CPU] = REGION_CLOCK_CPU,
		[WIRE_REGIONS_EVENTS] = REGION_CLOCK_EVENTS,
	};

	if (c->quantity <= WIRE_REGIONS_EVENTS)
		region_clock.kind = kinds[c->quantity];
	if (c->quantity == WIRE_REGIONS_TIME && c->is_tsc_clock)
		region_clock.kind = REGION_CLOCK_TICKS;
	region_clock.ns = vdso_now_ns();
	region_clock.ticks = region_clock_ticks();
}

struct region_rate region_clock_rate(void)
{
	if (region_clock.kind != REGION_CLOCK_TICKS)
		return region_rate_of(1, 1);
	return region_rate_of(vdso_now_ns() - region_clock.ns,
			      region_clock_ticks() - region_clock.ticks);
}

int region_clock_open(void)
{
	const struct wire_regions_control *c = trace_regions_control();
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = c->event_type,
		.config = c->event_config,
		.exclude_kernel = c->is_user_only,
		.exclude_hv = 1,
	};

	int fd, high;

	if (region_clock.kind != REGION_CLOCK_EVENTS)
		return -1;
	fd = (int)sys_call(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC,
			   0);
	if (fd < 0)
		return -1;
	high = (int)sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD, 0, 0, 0);
	if (high < 0)
		return fd;
	sys_close(fd);
	return high;
}

uint64_t region_clock_read(int counter)
{
	uint64_t n = 0;

	switch (region_clock.kind) {
	case REGION_CLOCK_CPU:
		return sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	case REGION_CLOCK_EVENTS:
		if (counter >= 0)
			sys_read(counter, &n, sizeof(n));
		return n;
	default:
		return vdso_now_ns();
	}
}
