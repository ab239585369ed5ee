/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_rest - when rings are looked at now and then, instead of being waited for.
 *
 * For each thread that ends, the kernel wakes whoever polls an event that it inherited,
 * though there is nothing to read: a shell script had a recorder run once for each of its
 * processes.  While threads end more often than that, as long as no ring can overflow
 * meanwhile, a timer is waited for.
 */
#ifndef DWELL_COLLECT_PERF_REST_H
#define DWELL_COLLECT_PERF_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/perf_files.h"

struct perf_rest {
	int timer;		    /* -1: rings are always waited for */
	uint64_t ns;		    /* how long rings are left alone */
	uint64_t since_ns, n_ended; /* the window: its begin, threads that ended in it */
	bool is_worth_it; /* threads ended more often than that in the window before */
	bool is_on;	  /* now */
};

/* Between two looks at a ring that holds all that the streams may write meanwhile, if
 * what was written in the last late_ns stays in it; 0: rings are to be waited for. */
uint64_t perf_rest_ns(const struct perf_files *f, uint64_t late_ns);

/* After the streams are there. */
void perf_rest_begin(struct perf_rest *r, uint64_t rest_ns, uint64_t now_ns);
void perf_rest_fini(struct perf_rest *r);
/* The rings were looked at: so many threads have ended since that was done before.
 * is_pressed: they fill faster than was to be expected. */
void perf_rest_looked(struct perf_rest *r, uint64_t now_ns, uint64_t n_ended,
		      bool is_pressed);

#endif
