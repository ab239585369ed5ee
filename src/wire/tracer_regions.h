/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_regions - what the tracer in the target says about regions, beyond
 * wire/tracer.h.
 *
 * Each thread has a tree of regions in their calling contexts, of which it tells what has
 * changed, now and then: a later value replaces the earlier.  Nodes and regions are named
 * by numbers of the process; a region's name is told before the number is used.
 *
 * Freestanding.  The recorder trusts nothing it reads here.
 */
#ifndef DWELL_WIRE_TRACER_REGIONS_H
#define DWELL_WIRE_TRACER_REGIONS_H

#include <stdint.h>

enum wire_regions_kind {
	WIRE_REGIONS_NAME = 56, /* struct wire_regions_name + its name */
	WIRE_REGIONS_NODES =
		57, /* struct wire_regions_nodes + struct wire_regions_node[] */
	WIRE_REGIONS_SLICES =
		58, /* struct wire_regions_nodes + struct wire_regions_slice[] */
	WIRE_REGIONS_MARK = 59,	  /* struct wire_regions_text + a name */
	WIRE_REGIONS_THREAD = 60, /* struct wire_regions_text + the thread's name */
	WIRE_REGIONS_LAST = 71,
};

/* What the numbers of regions are made of. */
#define WIRE_REGIONS_FUNCTION UINT32_C(0x80000000) /* it has an address, and no name */
#define WIRE_REGIONS_COUNTER  UINT32_C(0x40000000) /* the name's number with this bit */
#define WIRE_REGIONS_TEXT_MAX 1024

/* What passes in regions. */
enum wire_regions_quantity {
	WIRE_REGIONS_TIME = 0,
	WIRE_REGIONS_CPU = 1,	 /* time of the thread */
	WIRE_REGIONS_EVENTS = 2, /* of a counter of perf_event */
};

/* In the control file, there; by the recorder. */
#define WIRE_REGIONS_CONTROL_AT 2048

struct wire_regions_control {
	uint32_t quantity;     /* enum wire_regions_quantity */
	uint32_t is_tsc_clock; /* the CPU's counter runs as time does, on all CPUs */
	uint64_t slice_ns;     /* every so often a callstack is told; 0: never */
	uint64_t n_asked;      /* so many were asked for besides, the last */
	uint64_t asked_ns;     /* then */
	uint32_t event_type, is_user_only;
	uint64_t event_config;
};

struct wire_regions_name {
	uint32_t region, pad;
	uint64_t address; /* of a function */
};

/* Of a thread.  The quantity is in ticks, of which so many passed with the time since it
 * began; where both are 0 it is in its own unit. */
struct wire_regions_nodes {
	uint64_t time_ns;	  /* CLOCK_MONOTONIC */
	uint64_t since_ns, ticks; /* passed meanwhile */
	uint64_t passed;	  /* slices: before time_ns, in the same unit */
	uint32_t tid, tree; /* another tree: another thread, though with the same tid */
	uint32_t n;	    /* rows that follow */
	uint32_t top;	    /* nodes: the innermost active; slices: how many are active */
	uint32_t n_unmatched, n_cut, n_refused, is_over;
};

struct wire_regions_node {
	uint32_t node, parent, region, pad;
	uint64_t calls, exclusive;
};

/* Of an active region, the outermost first. */
struct wire_regions_slice {
	uint32_t node, region;
	uint64_t calls, subroutines, exclusive, inclusive;
	uint64_t instance_exclusive, instance_inclusive;
};

struct wire_regions_text {
	uint64_t time_ns;
	uint32_t tid, pad;
};

_Static_assert(sizeof(struct wire_regions_control) == 48, "layout");
_Static_assert(sizeof(struct wire_regions_name) == 16, "layout");
_Static_assert(sizeof(struct wire_regions_nodes) == 64, "layout");
_Static_assert(sizeof(struct wire_regions_node) == 32, "layout");
_Static_assert(sizeof(struct wire_regions_slice) == 56, "layout");
_Static_assert(sizeof(struct wire_regions_text) == 16, "layout");

#endif
