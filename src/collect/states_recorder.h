/* SPDX-License-Identifier: Apache-2.0
 *
 * states_recorder - the states of threads, into one recording after the other.
 *
 * A recorder (collect/recorder.h) of one plan; of processes only, when its settings have
 * a scope.
 */
#ifndef DWELL_COLLECT_STATES_RECORDER_H
#define DWELL_COLLECT_STATES_RECORDER_H

#include "base/err.h"
#include "base/own.h"
#include "collect/summing.h"

/* Its programs. */
extern const struct summing_kind states_recorder_kind;

#endif
