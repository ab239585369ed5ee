/* SPDX-License-Identifier: Apache-2.0
 *
 * probes_recorder - system calls and triggers, into one recording after the other.
 *
 * A recorder (collect/recorder.h) of their plans; of processes only, when its settings
 * have a scope.
 */
#ifndef DWELL_COLLECT_PROBES_RECORDER_H
#define DWELL_COLLECT_PROBES_RECORDER_H

#include "base/err.h"
#include "base/own.h"
#include "collect/summing.h"

/* Its programs. */
extern const struct summing_kind probes_recorder_kind;

#endif
