/* SPDX-License-Identifier: Apache-2.0
 *
 * counter_experiment - samples by what a counter counts, as an experiment.
 *
 * It has the counter's name and one column, which has that name, too.  The clock of the
 * CPU is what the experiments of CPU time sample.
 */
#ifndef DWELL_COLLECT_COUNTER_EXPERIMENT_H
#define DWELL_COLLECT_COUNTER_EXPERIMENT_H

#include <stdbool.h>

#include "collect/counter.h"
#include "collect/experiment.h"
#include "collect/system_event.h"

/* Lives for ever.  is_pc_only: without stacks. */
const struct experiment *counter_experiment(const struct counter *c, bool is_pc_only);

/* Of one that samples CPU time or a counter: what is sampled on whole CPUs. */
struct system_event counter_experiment_event(const struct experiment_choice *c);

#endif
