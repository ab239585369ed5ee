/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_stream - one kind of perf event that an experiment needs, opened many times.
 *
 * A stream is opened per CPU and, when attached, per thread; all of them report under
 * ids that perf_files_stream() leads back to it.
 */
#ifndef DWELL_COLLECT_PERF_STREAM_H
#define DWELL_COLLECT_PERF_STREAM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/source.h"

enum perf_stream_role {
	PERF_STREAM_SAMPLE,   /* each record weighs a period */
	PERF_STREAM_SWITCH,   /* the stack with which a thread leaves its CPU */
	PERF_STREAM_SIDEBAND, /* no samples: forks, execs, mappings, switches */
	PERF_STREAM_GRID,     /* whatever runs on a CPU, seldom (collect/perf_tails.h) */
	PERF_STREAM_DEEP,     /* samples of the others, with stacks (perf_deep) */
};

struct perf_stream_spec {
	enum experiment_trigger trigger;
	enum perf_stream_role role;
	unsigned column; /* of the experiment */
	uint64_t config; /* of PERF_TYPE_SOFTWARE */
	bool has_addr;
	const char *how;
};

#define PERF_STREAM_SPECS_MAX 16 /* of one experiment */

/* Those of an experiment: returns how many, at most max. */
size_t perf_stream_specs(const struct experiment *x, const struct perf_stream_spec **ret,
			 size_t max);

struct perf_stream {
	const struct perf_stream_spec *spec;
	const struct plan *plan; /* NULL: not of an experiment */
	struct perf_event_attr attr;
	uint32_t dump_bytes; /* of a stack, where perf_deep does not go on; 0: none */
	bool has_deep;	     /* it goes on */
	uint64_t hz;	     /* samples a second; 0: the period stays */
	uint64_t tuned_ns;   /* when it was set for that */
	/* Of the recording; what its counters had counted when that began. */
	uint64_t samples, counted_before;
	uint64_t counted_closed; /* by files that were closed */
};

struct perf_stream_settings {
	const struct scope *scope;
	bool no_kernel;	   /* the user may not observe it */
	bool has_switches; /* thread switches are wanted in the side band */
	bool starts_paused;
	bool has_deep; /* what is not copied comes from perf_deep */
	size_t ring_bytes;
};

/* Fill attr; the side band goes with the stream that is_tracking. */
void perf_stream_init(struct perf_stream *s, const struct perf_stream_spec *spec,
		      const struct plan *plan, bool is_tracking,
		      const struct perf_stream_settings *settings);
extern const struct perf_stream_spec perf_stream_sideband, perf_stream_grid,
	perf_stream_deep;

/* CPU time that a sample of the grid beside a clock with that interval stands for: a
 * whole number of intervals.  Its period is a little less, so one of weight / period
 * samples counts. */
uint64_t perf_stream_grid_weight(uint64_t interval_ns);

/* perf_event_open for a thread (-1: all) on a CPU.  Features that an older kernel does
 * not have are dropped from attr.  Returns the descriptor or a negative enum err_code. */
must_use int perf_stream_open(struct perf_stream *s, pid_t tid, int cpu, struct err *e);

#endif
