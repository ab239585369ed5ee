/* SPDX-License-Identifier: Apache-2.0
 *
 * continuous_plans - what is recorded all the time, and by whom.
 *
 * Made once of what was asked for and of what is to be had here; lives as long as the
 * daemon.  One thread.
 */
#ifndef DWELL_COLLECT_CONTINUOUS_PLANS_H
#define DWELL_COLLECT_CONTINUOUS_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/recorder.h"

struct continuous_settings;

struct continuous_plans {
	struct plan all[SYSTEM_EVENTS_MAX];
	size_t n;
	const struct recorder_ops *recording; /* by whom; of states apart */
	char how[300];			      /* it is recorded */
	struct err refusal;		      /* of the best that would take them */
	char notice[400]; /* what is otherwise than asked for, or "" */
	bool is_assumed;  /* that what is best takes them: it was not tried */
};

/* is_assumed: if nothing but samples is asked for, they are counted in the kernel, and
 * who opens its recorder sees. */
must_use int continuous_plans_make(const struct continuous_settings *settings,
				   bool is_assumed, struct continuous_plans *ret,
				   struct err *e);
/* Is it so? */
must_use int continuous_plans_try(const struct continuous_plans *p, struct err *e);
/* What a sample stands for, where all stand for time alike; 0: several events, or other
 * ones, which say it each for itself. */
uint64_t continuous_plans_clock_ns(const struct continuous_plans *p);

/* Is a rate asked for of what does not measure time?  Then what a sample stands for is
 * known only to who has set the period. */
bool continuous_plans_has_rates(const struct continuous_plans *p);
/* Does that recorder take one of them?  And do all of those that do keep what they take
 * in the kernel? */
bool continuous_plans_have(const struct continuous_plans *p,
			   const struct recorder_ops *recorder);
bool continuous_plans_can_keep(const struct continuous_plans *p);

#endif
