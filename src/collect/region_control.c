/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_control.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "collect/region_quantity.h"
#include "collect/source.h"
#include "host/procfs.h"
#include "wire/tracer_regions.h"

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
		.is_tsc_clock = is_tsc_clock(),
	};

	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].choice.experiment->trigger == EXPERIMENT_REGIONS) {
			r.slice_ns = c->plans[i].callstack_ns;
			region_quantity_tell(c->plans[i].choice.experiment, &r);
		}
	if (pwrite(control_fd, &r, sizeof(r), WIRE_REGIONS_CONTROL_AT) != sizeof(r))
		return err_os(e, "cannot tell programs of regions");
	return 0;
}

/* Programs compare the number, and then read the time.  One whose control file is cut is
 * not asked. */
void region_control_ask(int control_fd, uint64_t n_asked, uint64_t now_ns)
{
	const off_t at = WIRE_REGIONS_CONTROL_AT;

	if (pwrite(control_fd, &now_ns, sizeof(now_ns),
		   at + (off_t)offsetof(struct wire_regions_control, asked_ns)) < 0 ||
	    pwrite(control_fd, &n_asked, sizeof(n_asked),
		   at + (off_t)offsetof(struct wire_regions_control, n_asked)) < 0)
		return;
}
