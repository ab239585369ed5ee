/* SPDX-License-Identifier: Apache-2.0
 *
 * experiment - the menu of measurements, one const struct per kind.
 *
 * An experiment says what is observed and what columns come of it; how it is observed
 * is a source's business (collect/source.h).  The names that a user may give are the
 * struct's name and, where it has a faster and a slower variant, "f" and "s" + name.
 */
#ifndef DWELL_COLLECT_EXPERIMENT_H
#define DWELL_COLLECT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

/* What makes a sample. */
enum experiment_trigger {
	EXPERIMENT_CPU_TIME,	/* every interval of CPU time of a thread */
	EXPERIMENT_THREAD_TIME, /* the same, and every wait of a thread from end to end */
	EXPERIMENT_FAULTS,	/* every Nth page fault */
	EXPERIMENT_STATES,	/* every change of a thread's state */
	EXPERIMENT_SYSCALLS,	/* every system call */
	EXPERIMENT_IO,		/* every one that reads or writes, by file */
	EXPERIMENT_TRIGGER,	/* every time a place of the user's choice is met */
	EXPERIMENT_BASIC_BLOCKS, /* every entry into a basic block */
	EXPERIMENT_COUNTER,	 /* every so many of what a counter counts */
	EXPERIMENT_HEAP,	 /* every allocation and release of memory */
	EXPERIMENT_FPE,		 /* every floating-point exception */
	EXPERIMENT_REGIONS,	 /* every block that the program marks */
	EXPERIMENT_SYNC,	 /* every wait of a thread for another */
	EXPERIMENT_ANCHORS,	 /* as often as may cost that much: the interval */
};

#define EXPERIMENT_EVENTS_MAX 20

/* One column that an experiment fills. */
struct experiment_event {
	const char *name, *unit, *description;
	uint32_t flags;	  /* enum event_flag, besides EVENT_EXACT of interval 1 */
	bool is_periodic; /* one count weighs an interval */
};

/* Roles of the columns: indices into experiment.events. */
enum { EXPERIMENT_CPU = 0, EXPERIMENT_BLOCKED = 1, EXPERIMENT_WAIT_CPU = 2 };
enum { EXPERIMENT_MINOR_FAULTS = 0, EXPERIMENT_MAJOR_FAULTS = 1 };
enum { EXPERIMENT_CALL_TIME = 0, EXPERIMENT_CALLS = 1, EXPERIMENT_CALL_ERRORS = 2 };
enum {
	EXPERIMENT_HEAP_LEFT_BYTES = 0,
	EXPERIMENT_HEAP_LEFT = 1,
	EXPERIMENT_HEAP_PEAK_BYTES = 2,
	EXPERIMENT_HEAP_PEAK_BLOCKS = 3,
	EXPERIMENT_HEAP_BYTES = 4,
	EXPERIMENT_HEAP_CALLS = 5,
	EXPERIMENT_HEAP_TEMPORARY = 6,
	EXPERIMENT_HEAP_LIFETIME = 7,
	/* Those before are estimates where blocks are sampled. */
	EXPERIMENT_HEAP_MAP_LEFT_BYTES = 8,
	EXPERIMENT_HEAP_MAP_PEAK_BYTES = 9,
	EXPERIMENT_HEAP_MAP_BYTES = 10,
	EXPERIMENT_HEAP_MAP_CALLS = 11,
	/* Bytes and blocks of each enum heap_reach_state but the last. */
	EXPERIMENT_HEAP_LOST = 12,
};
/* The first, then the types of wire/tracer.h in their order. */
enum { EXPERIMENT_FPE_ALL = 0, EXPERIMENT_FPE_TYPES = 1 };
enum {
	EXPERIMENT_SYNC_LOCK_TIME,
	EXPERIMENT_SYNC_LOCK_WAITS,
	EXPERIMENT_SYNC_TIME,
	EXPERIMENT_SYNC_WAITS,
	EXPERIMENT_SYNC_HOLDERS,
	EXPERIMENT_SYNC_DURATIONS,
	EXPERIMENT_SYNC_UNFINISHED,
	EXPERIMENT_SYNC_EACH_LOCK,
	EXPERIMENT_SYNC_EACH,
	EXPERIMENT_SYNC_N_EVENTS,
};
enum {
	EXPERIMENT_IO_TIME,
	EXPERIMENT_IO_CALLS,
	EXPERIMENT_IO_READ,
	EXPERIMENT_IO_WRITTEN,
	EXPERIMENT_IO_ASKED,
	EXPERIMENT_IO_ERRORS,
	EXPERIMENT_IO_SIZES,
	EXPERIMENT_IO_TIMES,
	EXPERIMENT_IO_UNFINISHED,
	EXPERIMENT_IO_EACH,
	EXPERIMENT_IO_EACH_REQUEST,
	EXPERIMENT_IO_N_EVENTS,
};

enum {
	EXPERIMENT_REGIONS_TIME,
	EXPERIMENT_REGIONS_CALLS,
	EXPERIMENT_REGIONS_COUNTED,
	EXPERIMENT_REGIONS_N_EVENTS,
};

struct counter;
struct experiment_choice;

struct experiment {
	const char *name, *summary;
	enum experiment_trigger trigger;
	const char *only_source; /* that feeds it and nothing else; NULL: any may */
	const char *beside; /* another one, of what that does not see: beside it where it
			     * may be, instead of it where that cannot; or NULL */
	const struct counter *counter; /* of EXPERIMENT_COUNTER, else NULL */
	const char *alone_because; /* no other experiment beside it, and why; or NULL */
	/* Take what is asked for behind the name and a colon; NULL: an interval. */
	int (*choose)(const char *text, struct experiment_choice *c, struct err *e);
	uint32_t types; /* that it observes unless others are chosen, or 0 */
	bool is_pc_only;
	bool has_variants; /* f… and s… */
	const char *unit;  /* of the interval: "ns", "count", or "%" of CPU time */
	/* Intervals named on, hi and lo; hi is also that of f…, lo that of s…. */
	uint64_t on, hi, lo;
	uint64_t min, max;
	struct experiment_event events[EXPERIMENT_EVENTS_MAX];
	unsigned n_events;
};

/* All of them, by name; NULL-terminated. */
extern const struct experiment *const experiments[];

#define EXPERIMENT_NAME_MAX 128

/* What a user asked for: an experiment and the interval its name implies. */
struct experiment_choice {
	const struct experiment *experiment;
	char name[EXPERIMENT_NAME_MAX]; /* as asked for: "fusertime" */
	uint64_t interval;		/* in experiment->unit */
	uint64_t hz; /* samples a second, of what does not measure time: the interval is
		      * the first, and changes; 0: it stays */
	bool has_own_interval; /* it was asked for of this one */
	bool is_supposed;      /* nobody asked for it: where it can be */
	uint32_t types;	       /* that are observed: enum wire_tracer_fpe_type */
};

/* "fusertime" → usertime at its hi interval.  An unknown name is ERR_USAGE and the
 * text names the nearest one. */
must_use int experiment_find(const char *name, struct experiment_choice *ret,
			     struct err *e);
/* -i: "on", "hi", "lo", "500us", a bare number of milliseconds, or of counts. */
must_use int experiment_set_interval(struct experiment_choice *c, const char *text,
				     struct err *e);
/* -F: per second of CPU time, or of a counter per second on each CPU. */
must_use int experiment_set_frequency(struct experiment_choice *c, uint64_t hz,
				      struct err *e);

#endif
