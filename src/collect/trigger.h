/* SPDX-License-Identifier: Apache-2.0
 *
 * trigger - places of the user's choice, as experiments.
 *
 * "trigger:sched:sched_process_fork" counts a tracepoint of the kernel,
 * "trigger:block:block_rq_issue.bytes" sums a field of it, too.
 */
#ifndef DWELL_COLLECT_TRIGGER_H
#define DWELL_COLLECT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/experiment.h"
#include "host/tracepoint.h"

#define TRIGGER_MAX 8

/* Columns of a trigger: how often, and of a field its sum, and how often it was below
 * zero. */
enum { TRIGGER_COUNT = 0, TRIGGER_SUM = 1, TRIGGER_NEGATIVE = 2 };

struct trigger {
	char group[128], name[128], field[128]; /* field "": none */
	struct tracepoint_field place;
	struct experiment experiment;
};

/* What stands behind "trigger:"; the experiment lives for good.  NULL: text says what. */
must_use int trigger_parse(const char *text, struct experiment_choice *ret,
			   struct err *e);
/* Whose experiment it is. */
const struct trigger *trigger_of(const struct experiment *x);

#endif
