/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_clock.h"

#include <linux/perf_event.h>

#include "bare/sys.h"
#include "inject/sandbox.h"
#include "inject/trace_regions.h"
#include "inject/vdso.h"

struct region_clock region_clock;

/* Out of the way of the numbers that a program gets itself. */
#define HIGH_FD	 900
#define CHECK_NS 100000

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

static int open_counter(void)
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

static bool has_id(int fd, uint64_t *ret)
{
	return sys_call(SYS_ioctl, fd, PERF_EVENT_IOC_ID, ret, 0, 0, 0) == 0;
}

void region_clock_open(struct region_counter *ret)
{
	*ret = (struct region_counter){ .fd = -1 };
	if (region_clock.kind != REGION_CLOCK_EVENTS)
		return;
	ret->fd = open_counter();
	if (ret->fd >= 0 && !has_id(ret->fd, &ret->id))
		region_clock_close(ret);
}

static bool is_ours(const struct region_counter *c)
{
	uint64_t id;

	return !c->id || (has_id(c->fd, &id) && id == c->id);
}

void region_clock_close(struct region_counter *c)
{
	if (c->fd >= 0 && !sandbox_is_on() && is_ours(c))
		sys_close(c->fd);
	c->fd = -1;
}

/* Asking each time which file that is would cost as much as to read it. */
static void check(struct region_counter *c)
{
	uint64_t now = vdso_now_ns();

	if (now - c->checked_ns < CHECK_NS)
		return;
	c->checked_ns = now;
	if (!is_ours(c))
		c->fd = -1;
}

static uint64_t read_counter(struct region_counter *c)
{
	uint64_t n = 0;

	if (c->fd >= 0)
		check(c);
	if (c->fd >= 0 && sys_read(c->fd, &n, sizeof(n)) != sizeof(n))
		c->fd = -1;
	return n;
}

/* Where no system calls are to be made nothing passes any more. */
uint64_t region_clock_read(struct region_counter *counter)
{
	if (region_clock.kind == REGION_CLOCK_NS)
		return vdso_now_ns();
	if (sandbox_is_on())
		return 0;
	return region_clock.kind == REGION_CLOCK_CPU
		       ? sys_clock_ns(CLOCK_THREAD_CPUTIME_ID)
		       : read_counter(counter);
}
