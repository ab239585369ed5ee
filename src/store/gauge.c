/* SPDX-License-Identifier: Apache-2.0 */
#include "store/gauge.h"

#include <stddef.h>

const char *const gauge_names[GAUGE_N_WHATS] = {
	[GAUGE_USER_NS] = "user-time",
	[GAUGE_SYSTEM_NS] = "system-time",
	[GAUGE_MINOR_FAULTS] = "minor-faults",
	[GAUGE_MAJOR_FAULTS] = "major-faults",
	[GAUGE_READ_BYTES] = "read-bytes",
	[GAUGE_WRITTEN_BYTES] = "written-bytes",
	[GAUGE_DISK_READ_BYTES] = "disk-read-bytes",
	[GAUGE_DISK_WRITTEN_BYTES] = "disk-written-bytes",
	[GAUGE_RESIDENT_BYTES] = "resident-bytes",
	[GAUGE_THREADS] = "threads",
	[GAUGE_READY_NS] = "ready-time",
	[GAUGE_TURNS] = "turns",
	[GAUGE_LOAD_HUNDREDTHS] = "load",
	[GAUGE_BUSY_NS] = "busy-time",
	[GAUGE_IDLE_NS] = "idle-time",
	[GAUGE_DISK_WAIT_NS] = "disk-wait-time",
	[GAUGE_STOLEN_NS] = "stolen-time",
	[GAUGE_AVAILABLE_BYTES] = "available-bytes",
	[GAUGE_CHILDREN_NS] = "children-time",
};

const char *gauge_name(uint32_t what)
{
	return what < GAUGE_N_WHATS ? gauge_names[what] : NULL;
}
