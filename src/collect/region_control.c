/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_control.h"

#include <string.h>
#include <unistd.h>

#include "collect/source.h"
#include "host/procfs.h"
#include "wire/regions.h"

/* The kernel's own clock is made of the counter that programs can read: it has found it
 * the same on all CPUs, and steady. */
static bool is_tsc_clock(void)
{
	static const char *const steady[] = { "tsc\n", "arch_sys_counter\n" };
	char name[64];

	if (procfs_read_text("/sys/devices/system/clocksource/clocksource0/"
			     "current_clocksource",
			     name, sizeof(name), NULL) < 0)
		return false;
	for (size_t i = 0; i < sizeof(steady) / sizeof(steady[0]); i++)
		if (strcmp(name, steady[i]) == 0)
			return true;
	return false;
}

int region_control_write(int control_fd, const struct source_context *c, struct err *e)
{
	struct wire_regions_control r = {
		.quantity = WIRE_REGIONS_TIME,
		.is_tsc_clock = is_tsc_clock(),
	};

	(void)c;
	if (pwrite(control_fd, &r, sizeof(r), WIRE_REGIONS_CONTROL_AT) != sizeof(r))
		return err_os(e, "cannot tell programs of regions");
	return 0;
}
