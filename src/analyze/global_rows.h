/* SPDX-License-Identifier: Apache-2.0
 *
 * global_rows - what the gauges of a recording say of each of its intervals.
 *
 * Of the observed processes together and of the machine: what was counted between the
 * beginning of an interval and its end, and what is so at its end.
 */
#ifndef DWELL_ANALYZE_GLOBAL_ROWS_H
#define DWELL_ANALYZE_GLOBAL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/gauge.h"
#include "store/recording.h"

/* How the values of processes become one, by enum gauge_what. */
enum global_rows_kind {
	GLOBAL_ROWS_TREE,    /* counted, and taken over by who waits for a process */
	GLOBAL_ROWS_OWN,     /* counted of what each process is itself */
	GLOBAL_ROWS_NOW,     /* is so, added up */
	GLOBAL_ROWS_MACHINE, /* counted, of the machine */
	GLOBAL_ROWS_MACHINE_NOW,
};

enum global_rows_kind global_rows_kind_of(enum gauge_what what);

struct global_values {
	uint64_t of[GAUGE_N_WHATS];
	bool has[GAUGE_N_WHATS];
};

struct global_row {
	uint32_t interval; /* its id: number - 1 */
	uint64_t from_ns, to_ns;
	uint32_t pid; /* 0: all processes, and the machine */
	struct global_values values;
};

struct global_rows {
	VEC(struct global_row)
	rows; /* by interval; of one, who used most CPU time first */
	bool has_gauges;
};

must_use int global_rows_load(struct global_rows *g, const struct recording *r,
			      struct err *e);
/* A row for each process that is there when an interval ends. */
must_use int global_rows_load_processes(struct global_rows *g, const struct recording *r,
					struct err *e);
/* CPU time: of all processes together, or what a process has used itself. */
uint64_t global_rows_cpu_ns(const struct global_row *row);
void global_rows_fini(struct global_rows *g);

#endif
