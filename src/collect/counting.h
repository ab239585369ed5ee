/* SPDX-License-Identifier: Apache-2.0
 *
 * counting - runs a program and counts events, without a profile.
 */
#ifndef DWELL_COLLECT_COUNTING_H
#define DWELL_COLLECT_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/counter.h"

#define COUNTING_MAX 64

struct counting_value {
	bool is_counted; /* else the counter could not be opened */
	uint64_t value;	 /* scaled when the counter was not always on */
	double on_share; /* of the time it was on */
};

struct counting_run {
	struct counting_value values[COUNTING_MAX];
	uint64_t wall_ns, user_ns, system_ns;
	int status; /* as from wait(2) */
	bool is_exec_failure;
	int exec_errno;
};

/* What was counted since the last call, every interval. */
typedef void counting_fn(void *ctx, uint64_t time_ns,
			 const struct counting_value *values);

struct counting_settings {
	char *const *argv;
	const struct counter *const *counters;
	size_t n_counters;
	uint64_t interval_ns; /* 0: no intervals */
	counting_fn *on_interval;
	void *ctx;
};

/* Runs the program once. */
must_use int counting_run(const struct counting_settings *s, struct counting_run *ret,
			  struct err *e);

#endif
