/* SPDX-License-Identifier: Apache-2.0
 *
 * futex_recorder - waits that go through the kernel, into one recording after the other.
 *
 * A recorder (collect/recorder.h) of the plan of the experiment sync.  Each sample's
 * stack ends in how the thread waits and for what; inside of these are who woke it, and
 * how long it took.
 */
#ifndef DWELL_COLLECT_FUTEX_RECORDER_H
#define DWELL_COLLECT_FUTEX_RECORDER_H

#include "base/err.h"
#include "base/own.h"
#include "collect/summing.h"

/* Its programs. */
extern const struct summing_kind futex_recorder_kind;

#endif
