/* SPDX-License-Identifier: Apache-2.0
 *
 * counter_device - events of a device's own numbers, as the kernel describes them.
 *
 * Below /sys/bus/event_source/devices each device says which bits of perf_event_open()'s
 * words take which term ("format/umask": "config:8-15") and what its events are called
 * ("events/cpu_cycles": "event=0x0011").
 */
#ifndef DWELL_COLLECT_COUNTER_DEVICE_H
#define DWELL_COLLECT_COUNTER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define COUNTER_DEVICE_ROOT  "/sys/bus/event_source/devices"
#define COUNTER_DEVICE_WORDS 3

/* Where a term goes: its value's bits, the lowest first, into those of the mask. */
struct counter_device_field {
	unsigned word; /* config, config1, config2 */
	uint64_t mask;
};

/* "config1:0-7,32"; false: it is none. */
bool counter_device_parse_field(const char *text, struct counter_device_field *ret);
/* False: the value does not fit. */
bool counter_device_place(const struct counter_device_field *f, uint64_t value,
			  uint64_t words[COUNTER_DEVICE_WORDS]);

struct counter_device_event {
	uint32_t type;
	uint64_t words[COUNTER_DEVICE_WORDS];
};

/* "event=0x3c,umask=1", "cpu_cycles": terms of a device below root. */
must_use int counter_device_find(const char *root, const char *device, const char *terms,
				 struct counter_device_event *ret, struct err *e);

#endif
